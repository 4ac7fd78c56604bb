"""Files as other programs write them: the right request with at most three clicks after the drop."""

import json
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from openpyxl import Workbook
from PySide6.QtCore import Qt

from cfbatch_gui.core.inputs.input_values import Kind
from tests.ui.inputs.conftest import DraftDriver

Until = Callable[..., Awaitable[None]]
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


async def dropped(driver: DraftDriver, path: Path) -> None:
    driver.new_draft()
    driver.page.open_path(path)


def sent(driver: DraftDriver) -> list[tuple[str, str, str]]:
    """What would be sent: query, id and text of each item."""
    with driver.program.folder(driver.job.id).open(read_only=True) as database:
        return database.execute(
            "SELECT coalesce(q.text, ''), t.text_id, t.text FROM items i JOIN texts t USING(text_no)"
            " LEFT JOIN queries q USING(query_no) ORDER BY i.item_no"
        ).fetchall()


async def test_a_german_spreadsheet_is_read_without_a_word_about_its_encoding(
    driver: DraftDriver, tmp_path: Path, until: Until
) -> None:
    path = tmp_path / "Kundenfragen.csv"
    rows = (
        "Frage;Antwort;Nr;Preis\r\nWie ändere ich das?;Über „Konto“;007;12,90 €\r\nWo ist es?;Im Lager;008;8,00 €\r\n"
    )
    path.write_bytes(rows.encode("cp1252"))
    await dropped(driver, path)
    await until(driver.is_ready)
    assert [(query, text) for query, _, text in sent(driver)] == [
        ("Wie ändere ich das?", "Über „Konto“"),
        ("Wo ist es?", "Im Lager"),
    ]


async def test_a_google_sheet_with_title_and_description_is_joined_in_two_clicks(
    driver: DraftDriver, tmp_path: Path, until: Until
) -> None:
    path = tmp_path / "Untitled spreadsheet - Sheet1.csv"
    path.write_bytes(
        b"SKU,Title,Description\r\n"
        + "".join(f'0{n},"Lamp, {n}","Brass, warm.\nNo. {n}"\r\n' for n in range(1, 9)).encode()
    )
    await dropped(driver, path)
    await until(driver.is_ready)
    header = driver.page.data.first.table.roles
    driver.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=header.chip(2).center())
    driver.pick(lambda action: action.text().startswith("Join several columns"))
    await until(lambda: driver.is_ready() and sent(driver)[0] == ("", "01", "Lamp, 1. Brass, warm.\nNo. 1"))


def workbook(folder: Path) -> Path:
    book = Workbook()
    assert book.active is not None
    book.active.append(["id", "text"])
    for number in range(3):
        book.active.append([f"00{number}", f"A chair, number {number}"])
    book.save(folder / "Catalogue.xlsx")
    return folder / "Catalogue.xlsx"


def json_lines(folder: Path) -> Path:
    path = folder / "messages.jsonl"
    path.write_text("".join(json.dumps({"id": f"00{n}", "text": f"A chair, number {n}"}) + "\n" for n in range(3)))
    return path


def parquet(folder: Path) -> Path:
    core, arro = pytest.importorskip("arro3.core"), pytest.importorskip("arro3.io")
    columns = {
        "id": core.Array([f"00{n}" for n in range(3)], core.DataType.utf8()),
        "text": core.Array([f"A chair, number {n}" for n in range(3)], core.DataType.utf8()),
    }
    arro.write_parquet(core.Table.from_pydict(columns), str(folder / "chairs.parquet"))
    return folder / "chairs.parquet"


def wide(folder: Path) -> Path:
    path = folder / "wide.csv"
    path.write_text("query_id,query,context_1,context_2\nq1,what is it,a lamp,a chair\nq2,where is it,here,there\n")
    return path


def judged(folder: Path) -> Path:
    path = folder / "reranking.jsonl"
    lists = [("what is it", ["a lamp"], ["a chair"]), ("where is it", ["here"], ["there"])]
    path.write_text("".join(json.dumps({"query": q, "positive": p, "negative": n}) + "\n" for q, p, n in lists))
    return path


def collection(folder: Path) -> Path:
    """As BEIR's data sets come."""
    path = folder / "scifact"
    (path / "qrels").mkdir(parents=True)
    documents = {"d1": "a lamp", "d2": "a chair", "d3": "here", "d4": "there"}
    (path / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": name, "title": "", "text": text}) + "\n" for name, text in documents.items())
    )
    (path / "queries.jsonl").write_text('{"_id": "q1", "text": "what is it"}\n{"_id": "q2", "text": "where is it"}\n')
    (path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td3\t1\nq2\td4\t0\n")
    return path


@pytest.mark.parametrize("write", [workbook, json_lines, parquet])
async def test_texts_without_a_click(
    driver: DraftDriver, tmp_path: Path, until: Until, write: Callable[[Path], Path]
) -> None:
    await dropped(driver, write(tmp_path))
    await until(driver.is_ready)
    assert driver.job.kind is Kind.EMBED
    assert sent(driver) == [("", f"00{number}", f"A chair, number {number}") for number in range(3)]


@pytest.mark.parametrize("write", [wide, judged, collection])
async def test_rankings_without_a_click(
    driver: DraftDriver, tmp_path: Path, until: Until, write: Callable[[Path], Path]
) -> None:
    await dropped(driver, write(tmp_path))
    await until(driver.is_ready)
    assert driver.job.kind is Kind.RANK
    assert [(query, text.strip()) for query, _, text in sent(driver)] == [
        ("what is it", "a lamp"),
        ("what is it", "a chair"),
        ("where is it", "here"),
        ("where is it", "there"),
    ]


async def test_a_document_and_a_note_without_a_click(driver: DraftDriver, tmp_path: Path, until: Until) -> None:
    document, note = tmp_path / "Terms.docx", tmp_path / "notes.txt"
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in ("We deliver.", "You return."))
    with zipfile.ZipFile(document, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>')
    note.write_bytes("“Warm” light\r\n明るいですか\r\n".encode("utf-16"))
    for path, texts in ((document, ["We deliver.", "You return."]), (note, ["“Warm” light", "明るいですか"])):
        await dropped(driver, path)
        await until(driver.is_ready)
        assert [text for _, _, text in sent(driver)] == texts
