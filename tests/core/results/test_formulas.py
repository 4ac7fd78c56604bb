"""Texts that a spreadsheet could take for formulas, in every column of text and every file for spreadsheets."""

import csv
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import TARGETS, Preset, export, target_for
from cfbatch_gui.core.results.outcomes import JobMetadata
from tests.core.results.folders import FAILED, Outcome, Pair, Table, unit_vectors
from tests.interop import libreoffice

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
FORMS = [
    (target.kind, target.name) for target in TARGETS if target.preset is Preset.EXCEL or ".xlsx" in target.suffixes
]
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
        table.embed(rows, unit_vectors(len(rows), 4), kept=[(payload, payload) for _, payload, _ in rows])
    _spoil(table)
    target = target_for(folder / "out", kind, form)
    path = folder / f"out{target.suffixes[0]}"
    export(table.folder, _metadata(table, kind), path, target)
    return path


def _spoil(table: Table) -> None:
    """Put payloads also into the texts that are not from the user's file."""
    with closing(sqlite3.connect(table.folder.data)) as database, database:
        for statement in ("UPDATE queries SET query_id = ? WHERE query_no % 64 = ?",
                          "UPDATE requests SET reference = ? || request_no WHERE request_no % 64 = ?",
                          "UPDATE requests SET error = ? WHERE error <> '' AND request_no % 64 = ?"):  # fmt: skip
            database.executemany(statement, ((payload, index) for index, payload in enumerate(PAYLOADS)))


def _metadata(table: Table, kind: Kind) -> JobMetadata:
    return replace(
        table.metadata(kind),
        name="=1+1",
        model="@SUM(1)",
        connection="+1+1",
        source_name="-1+1",
        request_ids={1: "=1+1", 2: "@SUM(1)"},
    )


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
