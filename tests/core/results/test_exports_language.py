"""Files for people speak their language; those for programs, and the user's own words, are the same in each."""

import csv
import io
from pathlib import Path

import openpyxl
import pytest
from babel.messages.catalog import Catalog as Source
from babel.messages.mofile import write_mo

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import ExportOptions, export, target_for
from cfbatch_gui.core.system.languages import Catalogue, CatalogueLanguage
from tests.core.results.folders import Table

GERMAN = {
    "Ranking": "Rangliste",
    "Problems": "Probleme",
    "Per query": "Je Anfrage",
    "About": "Über",
    "Rank": "Rang",
    "Score": "Wert",
    "Reason": "Grund",
    "Query": "Anfrage",
    "rank": "rang",
    "error": "fehler",
    "row_number": "zeile",
    "reason": "grund",
    "Row {number}: {reason}": "Zeile {number}: {reason}",
    "There is no text in {column}.": "In {column} steht kein Text.",
}


@pytest.fixture(scope="module")
def german() -> CatalogueLanguage:
    source = Source(locale="de")
    for text, translation in GERMAN.items():
        source.add(text, translation)
    stream = io.BytesIO()
    write_mo(stream, source)
    stream.seek(0)
    return CatalogueLanguage("de", "Deutsch", ",", ".", catalogue=Catalogue(stream))


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_a_workbook_has_sheets_headers_and_reasons_in_the_users_language(
    mixed: Table, tmp_path: Path, german: CatalogueLanguage
) -> None:
    export(mixed.folder, mixed.metadata(), tmp_path / "out.xlsx", say=german.said)
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert book.sheetnames == ["Rangliste", "Probleme", "Je Anfrage", "Über"]
    headers = [cell.value for cell in book["Rangliste"][1]]
    assert {"Rang", "Wert"} <= set(headers)
    assert book["Je Anfrage"]["A1"].value == "question", "the header of their own file"
    reasons = [row[-1] for row in book["Probleme"].iter_rows(values_only=True)]
    assert reasons[0] == "Grund"
    assert "Zeile 10: In “article” steht kein Text." in reasons


def test_csv_for_excel_too_and_csv_for_programs_not(mixed: Table, tmp_path: Path, german: CatalogueLanguage) -> None:
    for name in ("csv", "csv-excel"):
        target = target_for(tmp_path / "out.csv", Kind.RANK, name)
        export(mixed.folder, mixed.metadata(), tmp_path / f"{name}.csv", target, say=german.said)
    people, programs = rows_of(tmp_path / "csv-excel.csv"), rows_of(tmp_path / "csv.csv")
    assert (people[0][2], people[0][-2]) == ("rang", "fehler")
    assert people[-1][-2] == "Zeile 10: In “article” steht kein Text."
    assert (programs[0][2], programs[0][-2]) == ("rank", "error")
    assert programs[-1][-2] == "Row 10: There is no text in “article”."
    assert [row[:2] for row in people[1:]] == [row[:2] for row in programs[1:]]


def test_a_column_of_the_users_own_keeps_its_name(mixed: Table, tmp_path: Path, german: CatalogueLanguage) -> None:
    own = target_for(tmp_path / "out.csv", Kind.RANK, "csv-excel")
    options = ExportOptions(columns=("rank", "rank (original)"))
    taken = CatalogueLanguage("de", "Deutsch", catalogue=german.catalogue)
    export(
        mixed.folder,
        mixed.metadata(),
        tmp_path / "out.csv",
        own,
        options=options,
        say=lambda text: "rank (original)" if text == "rank" else taken.said(text),
    )
    assert rows_of(tmp_path / "out.csv")[0] == ["rank", "rank (original)"]


def test_failed_rows_say_why_in_the_users_language(mixed: Table, tmp_path: Path, german: CatalogueLanguage) -> None:
    target = target_for(tmp_path / "out.csv", Kind.RANK, "failed")
    export(mixed.folder, mixed.metadata(), tmp_path / "out.csv", target, say=german.said)
    rows = rows_of(tmp_path / "out.csv")
    assert rows[0][-2:] == ["zeile", "grund"]
    assert rows[-1][-2:] == ["10", "In “article” steht kein Text."]
