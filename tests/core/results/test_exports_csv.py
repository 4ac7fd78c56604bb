"""CSV files, byte for byte and as read by CSV readers."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import TARGETS, ExportOptions, export, target_for
from cfbatch_gui.core.results.nearest import keep_asked
from tests.core.results.folders import FAILED, NASTY, THERE, Outcome, Pair, Table, unit_vectors
from tests.interop import libreoffice

MIXED = """\
query_id,query,rank,doc_id,text,score,tie_group,initial_rank,rank_change,\
label,external_reference,request_id,status,error,rank (original)
,how do I reset,1,B,second,0.5,,2,1,0,reference-1,request-1,done,,=1+1
,how do I reset,2,D,"third
line",0.25,1,3,1,,reference-1,request-1,done,,-3
,how do I reset,2,007,first,0.25,1,1,-1,1,reference-1,request-1,done,,x
,how do I reset,4,H,seventh,0.125,,7,3,,reference-1,request-1,done,,h
,how do I reset,,E,fourth,,,4,,,reference-3,request-2,failed,The service could not do this one.,e
,how do I reset,,F,fifth,,,5,,,,,left out,The text is longer than the model reads.,f
,how do I reset,,G,sixth,,,6,,,reference-4,request-1,waiting,,g
,パスワードを忘れた,1,C,メール,0.125,,1,0,,reference-2,request-1,done,,
,lonely,,I,,,,,,,,,skipped,Row 10: There is no text in “article”.,i
"""


def read(path: Path, separator: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, delimiter=separator, strict=True))


def manifest(path: Path) -> dict[str, Any]:
    beside = path.with_name(path.name + ".manifest.json")
    kept = path.parent / "job" / "exports" / beside.name  # of a file for people
    found: dict[str, Any] = json.loads((beside if beside.exists() else kept).read_text("utf-8"))
    return found


def test_scores_for_programs_byte_for_byte(mixed: Table, tmp_path: Path) -> None:
    path = tmp_path / "ranked.csv"
    exported = mixed.export(path)
    assert path.read_bytes() == MIXED.encode()
    assert (exported.format, exported.rows, exported.counts.is_complete) == ("csv", 9, False)
    assert exported.files == (path,)


def test_scores_for_excel_byte_for_byte(mixed: Table, tmp_path: Path) -> None:
    path = tmp_path / "ranked.csv"
    options = ExportOptions(separator=";")
    mixed.export(path, "csv-excel", options=options)
    data = path.read_bytes()
    header = b"\xef\xbb\xbfquestion;Rank (CF Batch);Score;article;number;stars;rank;Reason\r\n"
    assert data.startswith(header + b"how do I reset;1;0,5;second;B;0;'=1+1;\r\n")
    assert data.count(b"\r\n") == 10
    assert b';"third\nline";' in data
    assert b";-3;\r\n" in data  # a negative number is not marked as a formula
    said = manifest(path)["export"]
    assert said["formulas_made_harmless"]["cells"] == 1
    assert said["formulas_made_harmless"]["columns"] == ["rank"]


@pytest.mark.parametrize(
    ("form", "separator", "columns"), [("csv", ",", (5, 1, 3, 4, 9, 14)), ("csv-excel", ";", (2, 0, 3, 4, 5, 6))]
)
def test_every_text_survives_in_both_forms(
    table: Table, tmp_path: Path, form: str, separator: str, columns: tuple[int, ...]
) -> None:
    table.rank(
        [Pair(text, text, 0.1 + index / 7, id=text, label=text, kept=(text,)) for index, text in enumerate(NASTY)]
    )
    path = tmp_path / "nasty.csv"
    exported = table.export(path, form, options=ExportOptions(separator))
    assert exported.counts.is_complete
    rows = read(path, separator)[1:]
    assert len(rows) == len(NASTY)
    for index, (text, row) in enumerate(zip(NASTY, rows, strict=True)):
        assert number(row[columns[0]], separator) == 0.1 + index / 7
        for column in columns[1:]:
            if form == "csv":
                assert row[column] == text
            else:
                assert row[column] in (text, "'" + text)
                assert row[column][0] not in "=+@\t\r"
                assert row[column] == text or text.lstrip("'")[0] in "=+-@\t\r"


def number(text: str, separator: str) -> float:
    """The number as a spreadsheet reads it with this list separator."""
    return float(text.replace(".", "x").replace(",", ".") if separator == ";" else text)


def test_vectors_in_columns(embedded: Table, tmp_path: Path) -> None:
    path = tmp_path / "vectors.csv"
    exported = embedded.export(path)
    header, *rows = read(path)
    own = ["id", "text", "dim_3 (original)", "id (original)"]
    assert header == [*own, *(f"dim_{index}" for index in range(16))]
    assert (exported.format, exported.rows, exported.counts.is_complete) == ("csv", len(NASTY) - 2, False)
    assert [row[0] for row in rows] == [f"id {index} 東" for index in THERE]
    assert [row[3] for row in rows] == ["mine"] * len(THERE)
    assert [row[1] for row in rows] == [NASTY[index] for index in THERE]
    assert (
        np.array([row[4:] for row in rows], dtype=np.float32).tobytes() == unit_vectors(len(NASTY), 16)[THERE].tobytes()
    )


def test_without_ids_the_rows_numbers_stand_in(tmp_path: Path) -> None:
    vectors = np.array([[0.1, 0.2], [1e-9, -3.0]], dtype=np.float32)
    table = Table(tmp_path / "job").embed([("", "one", 1.0), ("", "two", 1.0)], vectors)
    path = tmp_path / "out.csv"
    table.export(path)
    assert path.read_bytes() == b"id,text,dim_0,dim_1\n2,one,0.1,0.2\n3,two,1e-9,-3.0\n"


_BODIES = (
    "1+1", "SUM(1,1)", "cmd|' /C calc'!A0", 'HYPERLINK("http://example.invalid","see")', 'WEBSERVICE("http://e.invalid")',
    'DDE("soffice","/etc/passwd","x")', "'file:///etc/passwd'#$passwd.A1", "A1", "@SUM(1)", "-2+3+cmd|' /C calc'!A0",
)  # fmt: skip
PAYLOADS = (
    *(sign + body for sign in "=+-@" for body in _BODIES),
    *(start + "1+1" for start in ("\t=", "\r=", "\n=", " =", "\u00a0=", "\ufeff=", "\u200b=", "'=", "''=", '"=', "==")),
    *(start + "=1+1" for start in (";", ",", "|", '";', '",', '"\r\n', "x\r\n", "x\n", "x\t", "/", "{", "(", "\\")),
)  # fmt: skip
OFFICE = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
NAMES = ("=1+1", "@SUM(1)")  # columns of the user's own
# All targets for spreadsheets, so that a new target is tested, too.
FORMS = [(each.kind, each.name) for each in TARGETS if each.is_for_people and each.suffixes != (".ris",)]
IDS = [f"{kind.value}-{form}" for kind, form in FORMS]


def written(folder: Path, kind: Kind, form: str) -> Path:
    """Export the payloads in every column of text: the user's own and their names, ids, labels, and service errors."""
    assert len(set(PAYLOADS)) == 64
    table = Table(folder / "job", kept=NAMES)
    outcomes: tuple[Outcome, ...] = (FAILED,) if form == "failed" else (0.5, FAILED)
    if kind is Kind.RANK:
        pairs = [
            Pair(f"{text}{number}" if number else text, text, outcome, id=text, label=text, kept=(text, text))
            for number, outcome in enumerate(outcomes)
            for text in PAYLOADS
        ]
        table.rank(pairs)
    else:
        rows = [(payload, payload, outcome) for outcome in outcomes for payload in PAYLOADS]
        vectors = unit_vectors(len(rows), 4)
        table.embed(rows, vectors, kept=[(payload, payload) for _, payload, _ in rows])
        keep_asked(table.folder, [(text, vectors[0].tobytes(), 1.0, True) for text in PAYLOADS])
    _spoil(table)
    target = target_for(folder / "out", kind, form)
    path = folder / f"out{target.suffixes[0]}"
    batches = tuple(replace(each, request_id="=1+1") for each in table.job().batches)
    job = replace(table.job(), name="=1+1", model="@SUM(1)", source_name="-1+1", batches=batches)
    job = replace(job, options=replace(job.options, screening=PAYLOADS[0]))
    export(table.folder, job, path, target, connection="+1+1")
    return path


def _spoil(table: Table) -> None:
    """Put payloads also into the texts that are not from the user's file."""
    with table.folder.open() as database:
        for statement in ("UPDATE queries SET query_id = ? WHERE query_no % 64 = ?",
                          "UPDATE requests SET reference = ? || request_no WHERE request_no % 64 = ?",
                          "UPDATE requests SET error = ? WHERE error <> '' AND request_no % 64 = ?"):  # fmt: skip
            database.executemany(statement, ((payload, index) for index, payload in enumerate(PAYLOADS)))


@pytest.mark.parametrize(("kind", "form"), FORMS, ids=IDS)
def test_no_cell_is_a_formula_for_openpyxl(tmp_path: Path, kind: Kind, form: str) -> None:
    path = written(tmp_path, kind, form)
    if path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
    else:
        book = openpyxl.Workbook()
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.reader(file):
                book.active.append([cell.replace("\0", "") for cell in row])
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert len(cells) > 64 * 3
    assert [cell.value for cell in cells if cell.data_type == "f"] == []
    if path.suffix == ".csv":
        assert [
            cell.value for cell in cells if str(cell.value).startswith(tuple("=+-@\t\r")) and not is_number(cell.value)
        ] == []


def is_number(cell: object) -> bool:
    try:
        float(str(cell))
    except ValueError:
        return False
    return True


@pytest.mark.interop
@OFFICE
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("kind", "form"), FORMS, ids=IDS)
def test_no_cell_is_a_formula_for_libreoffice(tmp_path: Path, kind: Kind, form: str) -> None:
    path = written(tmp_path, kind, form)
    options = [libreoffice.CSV_AS_EXCEL_WRITES_IT] if path.suffix == ".csv" else []
    assert libreoffice.formulas(path, tmp_path / "office", *options) == []


@pytest.mark.interop
@OFFICE
@pytest.mark.timeout(240)
def test_libreoffice_would_have_found_one(tmp_path: Path) -> None:
    path = tmp_path / "live.csv"
    path.write_bytes(b"\xef\xbb\xbftext,more\r\n=1+1,x\r\n")
    assert libreoffice.formulas(path, tmp_path / "office", libreoffice.CSV_AS_EXCEL_WRITES_IT) == ["of:=1+1"]
