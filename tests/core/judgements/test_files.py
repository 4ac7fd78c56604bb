"""Judgements in files: each form is known by its content, and what goes out comes in again unchanged."""

import csv
import itertools
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import ExportError, InputError
from cfbatch_gui.core.evaluation.joining import read_run
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.files import (
    Form,
    Imported,
    JobSubjects,
    check_all_read,
    import_judgements,
    read_judgements,
    write_judgements,
)
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from tests.core.evaluation.generated import generated_table
from tests.core.results.folders import Pair, Table
from tests.support.sentences import code_of, codes_of, refuses

NASTY = (
    '=1+1"x"', "two\nlines", "lone\rCR", "tab\there, and; more", "'quoted", "''-5", "+49 30 123", "@cmd", "\tindented",
    "日本語のテキスト", "نص عربي", "a\u2028b", " space at both ends ", "-12.50", "%20", "𝔘nicode", 'only "quotes"', "#",
)  # fmt: skip


@pytest.fixture
def other(book: Book) -> Book:
    return book.shelf.book_or_new("other")


def fill(book: Book) -> None:
    texts = itertools.product(NASTY[:6], NASTY)
    book.add(
        [
            Judgement(
                Subject(f"q {number}" if number % 2 else "", query),
                Subject(f"d%{number}" if number % 3 else "", text),
                None if number % 7 == 0 else number % 5 - 1,
                f"judge {number % 2}",
                Source.PERSON,
                1_800_000_000.0 + number / 8,
                note=NASTY[number % len(NASTY)] if number % 11 == 0 else "",
            )
            for number, (query, text) in enumerate(texts)
        ]
    )
    first = next(book.judgements())
    book.add(
        [Judgement(first.query, first.document, 3, "judge 0", Source.PERSON, 1.8e9, again=True, note="second look")]
    )
    book.add([Judgement(Subject("bare"), Subject("ids"), 2, "=judge", Source.FILE, 1.8e9 + 1)])


def verdicts_of(book: Book) -> dict[tuple[str, str], int]:
    return {
        (each.query.text or each.query.id, each.document.text or each.document.id): each.grade or 0
        for each in book.verdicts()
    }


def take_in(book: Book, path: Path, job: JobSubjects | None = None) -> Imported:
    found = read_judgements(path)
    check_all_read(found)
    return import_judgements(book, found.judgements, judge="file", time=5.0, job=job)


@pytest.mark.parametrize("form", list(Form))
def test_what_is_written_and_read_is_written_the_same_again(
    form: Form, book: Book, other: Book, tmp_path: Path
) -> None:
    fill(book)
    first, second = tmp_path / "first", tmp_path / "second"
    count = write_judgements(book, first, form)
    assert read_judgements(first).form is form
    done = take_in(other, first)
    assert done.read == count
    assert write_judgements(other, second, form) == count
    assert second.read_bytes() == first.read_bytes()
    if not form.has_ids_only:
        assert verdicts_of(other) == verdicts_of(book)
        assert take_in(other, first).added == 0
    if form is Form.LINES:
        assert list(other.judgements()) == list(book.judgements())


def test_no_cell_of_the_csv_is_a_formula(book: Book, tmp_path: Path) -> None:
    fill(book)
    write_judgements(book, tmp_path / "file.csv", Form.CSV)
    with (tmp_path / "file.csv").open(encoding="utf-8-sig", newline="") as stream:
        cells = [cell for row in csv.DictReader(stream) for name, cell in row.items() if name != "grade"]
    assert len(cells) > 100
    formulas = {cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))}
    assert formulas == {"-12.50"}  # which is a number


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("form", [Form.TREC, Form.BEIR, Form.QUEPID])
def test_ids_of_a_job_are_its_texts_and_fit_its_exported_run(
    form: Form, has_ids: bool, book: Book, other: Book, tmp_path: Path
) -> None:
    table = generated_table(1 if has_ids else 3, tmp_path / "job")
    run = read_run(table.folder, table.job())
    random_grades = [
        Judgement(Subject("", f"q{number % 12}"), Subject("", text.text), number % 4, "me", Source.PERSON, 1.0)
        for number, text in run.texts(range(0, len(run.table), 3)).items()
        for number in [int(run.table.queries[number]) - 1]
    ]
    book.add(random_grades)
    job = JobSubjects(table.folder)
    write_judgements(book, tmp_path / "file", form, job)
    done = take_in(other, tmp_path / "file", job)
    assert (done.matched, done.unmatched) == (done.read, 0)
    assert verdicts_of(other) == verdicts_of(book)


def test_lines_about_other_texts_are_counted_and_kept(book: Book, tmp_path: Path) -> None:
    table = Table(tmp_path / "job").rank([Pair("q", "a", 0.5, id="A"), Pair("q", "b", 0.4, id="B")])
    file = tmp_path / "judged.csv"
    file.write_text("query,docid,rating\nq,A,3\nq,A,1\nq,Z,2\nanother,A,1\n", "utf-8")
    done = take_in(book, file, JobSubjects(table.folder))
    assert (done.read, done.matched, done.unmatched, done.conflicting) == (4, 2, 2, 2)
    assert verdicts_of(book) == {("q", "a"): 1, ("q", "Z"): 2, ("another", "A"): 1}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("q1 0 d1 1\nq1 0 d2\n", "is_not_query_0_document_grade"),
        ("query,docid,rating\nq,1,yes\nq,2,0.5\n", "n_lines_are_no_judgement_named"),
        ("query,text,grade\nq,,1\n", "no_query_or_no_text"),
        ('query,text,grade\nq,"open,1\n', "quotes_do_not_fit_error"),
        (f"q1 0 d1 {2**31}\n", "grade_grade_is_too_large"),
    ],
)
def test_nothing_is_taken_in_part(content: str, code: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(content, "utf-8")
    with refuses(InputError, "n_lines_are_no_judgement_named") as error:
        check_all_read(read_judgements(file))
    assert code in codes_of(error.value)


@pytest.mark.parametrize("content", [b"name;size\na;1\n", b"", b"\xff\x00\x12", b"query,text,grade\ncaf\xe9,x,1\n"])
def test_other_files_are_refused_with_a_sentence(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "file.csv"
    file.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_judgements(file)
    assert code_of(error.value) in ("name_is_no_file_judgements_there", "name_is_not_utf_8_save")


def test_semicolons_tabs_and_unicode_text_of_a_spreadsheet_are_read(tmp_path: Path) -> None:
    rows = [("Query", "Text", "Grade"), ("q;1", "a\tb", "2.0"), ("q", "c", "?")]
    for separator, encoding in ((";", "utf-8-sig"), ("\t", "utf-16"), (",", "utf-8")):
        with (tmp_path / "file").open("w", encoding=encoding, newline="") as stream:
            csv.writer(stream, delimiter=separator).writerows(rows)
        found = read_judgements(tmp_path / "file")
        assert [(each.query.text, each.document.text, each.grade) for each in found.judgements] == [
            *(("q;1", "a\tb", 2), ("q", "c", None))
        ]


def test_an_empty_book_writes_no_file(book: Book, tmp_path: Path) -> None:
    with pytest.raises(ExportError):
        write_judgements(book, tmp_path / "file", Form.TREC)
    assert not (tmp_path / "file").exists()
