"""Files that are unusual, and what the page makes of them."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.inputs.input_values import Kind, ProblemKind, Role
from cfbatch_gui.core.job_folder.row_problems import problems
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.inputs.check_section import CUT
from tests.ui.connections import choose_path, until
from tests.ui.inputs.conftest import DraftDriver

GERMAN = "frage;antwort\nWie ändere ich das?;Über „Konto“ für 5 €\nWo ist das Maß?;Im Zubehör\n"


def cell(driver: DraftDriver, row: int, column: int) -> str:
    model = driver.page.data.first.table.model()
    return str(model.index(row, column).data())


async def choose_encoding(driver: DraftDriver, codec: str, *, opens: bool = True) -> None:
    if opens:
        driver.click(driver.page.data.first.encoding)
    await until(QApplication.activePopupWidget)
    driver.pick(lambda action: action.data() == codec)


async def test_an_encoding_is_guessed_and_can_be_changed_with_a_preview(driver: DraftDriver, tmp_path: Path) -> None:
    path = tmp_path / "fragen.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    await driver.open(path)
    part = driver.page.data.first
    assert part.encoding.text() == "Windows-1252, our guess"
    assert cell(driver, 1, 0) == "Wo ist das Maß?"
    await choose_encoding(driver, "cp1251")
    await until(lambda: driver.is_ready() and part.encoding.text() == "Windows-1251")
    assert cell(driver, 0, 1).startswith("Ьber") and driver.counts() == (2, 2)


async def test_a_file_that_cannot_be_read_is_said_once_and_the_old_data_stays(
    driver: DraftDriver, questions: Path, tmp_path: Path
) -> None:
    await driver.open(questions)
    before = driver.counts()
    picture = tmp_path / "picture.csv"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    driver.page.drafts.open_paths([picture])
    await until(lambda: len(driver.notices.texts()) == 1)
    assert driver.notices.texts()[0].startswith("picture.csv is a picture")
    await until(driver.is_ready)
    assert driver.counts() == before and driver.page.data.first.name.whole_text() == "questions.csv"
    assert driver.notices.bars()[0].links()[0].text() == "Choose another file"


async def test_rows_that_are_left_out_are_shown_and_saved(driver: DraftDriver, questions: Path, tmp_path: Path) -> None:
    await driver.open(questions)
    assert driver.problems() == {ProblemKind.EMPTY_CONTEXT: 1, ProblemKind.EMPTY_QUERY: 1}
    show, save = driver.page.check.problem_bars.bars[ProblemKind.EMPTY_CONTEXT].links()
    driver.click(show)
    view = driver.page.check.problems
    await until(view.isVisible)
    assert [(row.row, row.cells[2]) for row in view.found.rows] == [(4, "A-3")]
    driver.click(show)
    assert not view.isVisible()
    driver.click(save)
    target = tmp_path / "left out.csv"
    await choose_path(driver.page, target)
    await until(lambda: driver.notices.texts() == ["Wrote 1 row to “left out.csv”."])
    assert target.read_text("utf-8-sig").splitlines() == [
        "question,answer,sku,relevance,Row,Reason",
        "how do I reset my password,,A-3,0,4,There is no text in “answer”.",
    ]


async def test_separator_and_header_answer_at_once(driver: DraftDriver, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("Berlin|Germany\nParis|France\nRome|Italy\nVienna|Austria\n")
    await driver.open(path)
    part = driver.page.data.first
    assert part.separator.text() == "one text per line" and part.facts.text() == "4 rows · 1 column"
    driver.click(part.separator)
    driver.pick(lambda action: action.text().startswith("Bar"))
    await until(lambda: part.facts.text() == "4 rows · 2 columns" and driver.is_ready())
    assert part.separator.text() == "separated by |" and part.header.text() == "first row looks like data"
    driver.click(part.header)
    await until(lambda: part.facts.text() == "3 rows · 2 columns")
    assert part.header.text() == "first row is a header" and cell(driver, 0, 1) == "France"
    await until(driver.is_ready)
    driver.click(part.header)
    await until(lambda: part.header.text() == "no header row")


async def test_a_text_that_is_too_long_is_cut_or_left_out(driver: DraftDriver, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(f"id,text\n1,short\n2,{'word ' * 12_000}\n")
    await driver.open(path)
    driver.press(CUT, 0)
    view = driver.page.check.problems
    await until(view.isVisible)
    assert [(row.row, row.reason) for row in view.found.rows] == [
        (3, "15,000 to 20,002 tokens; the model reads 8,192.")
    ]
    driver.press(CUT, 2)
    await until(lambda: driver.is_ready() and driver.problems() == {ProblemKind.TOO_LONG: 1})
    assert driver.counts()[1] == 1 and not view.isVisible()
    driver.press(ProblemKind.TOO_LONG, 1)
    await until(lambda: driver.is_ready() and driver.counts()[1] == 2)
    assert driver.job.options.truncate_inputs
    driver.press(CUT, 1)
    await until(lambda: driver.is_ready() and driver.counts()[1] == 4)
    assert not driver.page.check.problem_bars.bars
    assert driver.page.data.split.isVisible() and driver.page.data.split.tokens.value() == 7_680


async def test_a_draft_is_found_again_and_can_be_sent_without_its_file(
    program: Program, driver: DraftDriver, questions: Path, qtbot: object
) -> None:
    await driver.open(questions)
    driver.choose_role(3, Role.KEEP)
    await until(driver.is_ready)
    job, counts = driver.job, driver.counts()
    rows = problems(program.folder(job.id))
    driver.start_again()
    assert not driver.is_ready()
    await until(driver.is_ready)
    assert driver.counts() == counts and driver.page.data.first.table.role_of(3) is Role.KEEP
    questions.unlink()
    driver.start_again()
    await until(driver.is_ready)
    assert "questions.csv" in driver.page.data.missing.text()
    assert driver.page.data.missing.text().endswith("What was read from it before can still be sent.")
    assert driver.counts() == counts and problems(program.folder(job.id)) == rows
    driver.click(driver.page.check.send_button)
    await until(lambda: driver.sent == [job.id])


async def test_roles_are_chosen_by_the_keyboard(driver: DraftDriver, questions: Path) -> None:
    await driver.open(questions)
    header = driver.page.data.first.table.roles
    header.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(3):
        driver.qtbot.keyClick(header, Qt.Key.Key_Right)
    assert header.accessibleName() == "Column relevance: Label"
    driver.qtbot.keyClick(header, Qt.Key.Key_Space)
    driver.pick(lambda action: action.data() == Role.IGNORE)
    await until(driver.is_ready)
    assert driver.page.data.first.table.role_of(3) is Role.IGNORE


async def test_a_file_that_takes_the_place_of_another_is_undone(
    driver: DraftDriver, questions: Path, many: Path
) -> None:
    await driver.open(questions)
    driver.choose_role(3, Role.KEEP)
    await until(lambda: driver.is_ready() and driver.state.mapping is not None)
    mapping, counts = driver.state.mapping, driver.counts()
    driver.page.drafts.open_paths([many])
    await until(lambda: driver.is_ready() and driver.counts() == (200, 200))
    driver.notices.undos.undo()
    await until(lambda: driver.is_settled() and driver.is_ready() and driver.counts() == counts)
    assert driver.state.mapping == mapping and driver.job.source_name == questions.name
    job = driver.job
    questions.unlink()
    driver.start_again()
    await until(driver.is_ready)
    driver.page.drafts.open_paths([many])
    await until(lambda: driver.is_ready() and driver.counts() == (200, 200))
    (kept,) = (each for each in driver.program.ledger.jobs() if each.id != job.id)
    assert (kept.queries, kept.texts, kept.source_name) == (*counts, questions.name)
    driver.page.drafts.open_paths([many.rename(many.with_name("more.csv"))])
    await until(lambda: driver.is_settled() and driver.is_ready() and driver.notices.undos.latest() is not None)
    driver.click(driver.page.check.send_button)
    await until(lambda: driver.sent == [job.id])
    assert driver.notices.undos.latest() is None  # what was sent is not read from another file


@pytest.mark.parametrize(("codec", "name", "mark"), [("mac_roman", "Mac Roman", "…"), ("cp1252", "Windows-1252", "É")])
async def test_a_close_guess_is_asked_about_before_sending(
    driver: DraftDriver, tmp_path: Path, codec: str, name: str, mark: str
) -> None:
    path = tmp_path / "a.csv"  # two encodings have its only letter beyond ASCII
    path.write_bytes("mark;text\nÉ;one\na;two\nb;three\n".encode("cp1252"))
    await driver.open(path, kind=Kind.EMBED)
    driver.choose_role(1, Role.KEEP)
    driver.choose_role(0, Role.TEXT)
    await until(driver.is_ready)
    send = driver.page.check.send_button
    driver.click(send)
    await until(driver.notices.bars)
    driver.notices.dismiss(driver.notices.bars()[0])
    driver.click(send)  # the question was not answered
    await until(driver.notices.bars)
    (bar,) = driver.notices.bars()
    assert driver.sent == [] and "É" in bar.text()
    bar.links()[0].click()
    await choose_encoding(driver, codec, opens=False)
    await until(lambda: driver.is_ready() and driver.page.data.first.encoding.text() == name)
    assert (cell(driver, 0, 0), driver.sent) == (mark, [])  # to be looked at before it is sent
    driver.click(send)
    await until(lambda: len(driver.sent) == 1)
