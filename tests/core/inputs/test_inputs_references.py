"""Lists of references: a record is a row and one text, whatever stands in it; and what was read is written as RIS."""

import gzip
import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.input_values import Kind, Layout, ProblemKind, Role, Row, Source, Text
from cfbatch_gui.core.inputs.items import read_items
from cfbatch_gui.core.inputs.layouts import check_mapping, read_template
from cfbatch_gui.core.inputs.readers.references import write_ris
from tests.core.inputs.files import opened, read, suggested
from tests.support.sentences import code_of

RIS = """\ufeffTY  - JOUR
A1  - Smith, John
Y1  - 2014//
T1  - Long title
that goes on
KW  - Adult
Aged
*Sleep
N2  - AIM: First part.

RESULTS: Second part.
JF  - Sleep Medicine
JA  - Sleep Med
ID  - 17
ER  -

TY  - JOUR
TI  - Sleep and memory: a review
AU  - Müller, Jürgen
AU  - O’Neil, Páraic
T2  - Journal of Sleep
AB  - BACKGROUND: Sleep matters.
DA  - 2020/05/12/
PY  - 2020
DO  - 10.1000/sleep.1
SP  - 101
EP  - 119
SN  - 1234-5678
N1  - first note
N1  - second note
ER  -

TY  - CHAP
TI  - A chapter
A2  - Editor, Eva
ER  -

"""  # fmt: skip
REFERENCE_MANAGER = """Provider: A database
Database: Its name

1.
TY  - JOUR
TI  - One
ER  -
2.
TI  - Two, without its type
ID  - b
ER  -
not part of any record
TY  - BOOK
TI  - Three, without its end
TY  - THES
TI  - Four
AB  -
"""  # fmt: skip
PUBMED = """
PMID- 31000001
DP  - 2020 May 12
TI  - A title that PubMed has
      wrapped.
LID - 10.1000/x.1 [doi]
AB  - BACKGROUND: One. METHODS - two
      PMID- is no tag here.
FAU - Doe, Jane
AU  - Doe J
MH  - Humans
MH  - *Sleep

PMID- 31000002
TI  - A title without abstract.
"""
BIBTEX = r"""% Encoding: UTF-8
@comment{jabref-meta: databaseType:bibtex;}
@string(jos = "Journal of " # {Sleep})
@article{müller_2020,
  title = {{D}er {\"o}ffentliche \v{S}u{\ss}e \textit{R\'{\i}o} --- 5\,\% \& $\alpha$-{B} costs $5, {\aa}ngstr{\"{o}}m},
  author = {M{\"u}ller, J. and {Smith and Sons} and O'Neil, P.},
  journal = jos # ", part " # 2, year = 2020, month = may,
  keywords = {sleep, memory}, pages = "1--9",
  url = {https://example.org/~a_b},
  abstract = "First {"}quoted{"} paragraph.

    @ 5 mg, second paragraph.",
}
@Book ( other, title = {In parentheses}, date = {2019-02-01} )
@misc{broken, title = {Never closed, note = {x}
@misc{last, title={Last}} }
closed, year = {too early}
@string{open = "x}
"""


def records(rows: Iterable[Row], source: Source) -> list[dict[str, str]]:
    """The filled cells of each row that has no problem."""
    return [
        {name: cell for name, cell in zip(source.columns, row.cells, strict=True) if cell}
        for row in rows
        if not row.problem
    ]


def texts(source: Source) -> list[tuple[str, str]]:
    mapping = suggested(source)
    assert check_mapping(mapping, source) == ""
    return [(item.id, item.text) for item in read_items(source, mapping) if isinstance(item, Text)]


def written(rows: Iterable[Mapping[str, str]]) -> str:
    stream = io.StringIO(newline="")
    write_ris(rows, stream)
    return stream.getvalue()


def test_what_endnote_and_zotero_export(tmp_path: Path) -> None:
    rows, source = read(tmp_path / "exported.txt", RIS.replace("\n", "\r\n"))
    assert source.columns[:7] == ("title", "abstract", "authors", "year", "journal", "doi", "keywords")
    first, second, third = records(rows, source)
    assert first == {
        "title": "Long title that goes on", "abstract": "AIM: First part. RESULTS: Second part.", "type": "JOUR",
        "authors": "Smith, John", "year": "2014", "journal": "Sleep Medicine", "keywords": "Adult; Aged; *Sleep",
        "id": "17", "JA": "Sleep Med",
    }  # fmt: skip
    assert (second["authors"], second["notes"]) == ("Müller, Jürgen; O’Neil, Páraic", "first note; second note")
    assert (second["year"], second["pages"], second["issn"]) == ("2020", "101-119", "1234-5678")
    assert third == {"type": "CHAP", "title": "A chapter", "A2": "Editor, Eva"}
    assert texts(source) == [
        ("", "Long title that goes on. AIM: First part. RESULTS: Second part."),
        ("", "Sleep and memory: a review. BACKGROUND: Sleep matters."),
        ("", "A chapter"),
    ]


def test_records_that_are_numbered_or_lack_their_beginning_or_their_end(tmp_path: Path) -> None:
    rows, source = read(tmp_path / "a.ris", REFERENCE_MANAGER)
    titles = ["One", "Two, without its type", "Three, without its end", "Four"]
    assert [each["title"] for each in records(rows, source)] == titles
    (stray,) = [row for row in rows if row.problem]
    assert (code_of(stray.problem), stray.raw) == ("text_belongs_to_no_record", "not part of any record\n")
    assert [code_of(notice) for notice in source.notices] == ["n_lines_above_table_are_not"]


def test_what_pubmed_exports(tmp_path: Path) -> None:
    for name, data in (
        ("a.nbib", PUBMED.encode()),
        ("pasted.txt", PUBMED.encode()),
        ("a.gz", gzip.compress(PUBMED.encode())),
    ):
        rows, source = read(tmp_path / name, data)
        first, _ = records(rows, source)
        assert (first["authors"], first["short authors"], first["doi"]) == ("Doe, Jane", "Doe J", "10.1000/x.1")
        assert (first["year"], first["date"], first["keywords"]) == ("2020", "2020 May 12", "Humans; *Sleep")
        assert texts(source) == [
            ("31000001", "A title that PubMed has wrapped. BACKGROUND: One. METHODS - two PMID- is no tag here."),
            ("31000002", "A title without abstract."),
        ]
    assert {"AU  - Doe, Jane", "ID  - 31000001"} < set(written(records(rows, source)).splitlines())


def test_bibtex_with_all_that_it_allows(tmp_path: Path) -> None:
    rows, source = read(tmp_path / "a.bib", BIBTEX)
    first, second, last = records(rows, source)
    assert first == {
        "title": "Der öffentliche Šuße Río — 5 % & α-B costs $5, ångström", "type": "article", "id": "müller_2020",
        "abstract": 'First "quoted" paragraph. @ 5 mg, second paragraph.', "keywords": "sleep; memory", "month": "may",
        "authors": "Müller, J.; Smith and Sons; O'Neil, P.", "journal": "Journal of Sleep, part 2", "year": "2020",
        "pages": "1-9", "url": "https://example.org/~a_b",
    }  # fmt: skip
    assert (second["id"], second["title"], second["year"]) == ("other", "In parentheses", "2019")
    assert last == {"type": "misc", "id": "last", "title": "Last"}
    broken, stray, string = [row for row in rows if row.problem]
    assert (code_of(stray.problem), code_of(string.problem)) == ("text_belongs_to_no_record", "record_is_not_closed")
    assert (broken.problem_kind, broken.cells[0]) == (ProblemKind.DOUBTFUL_ROW, "Never closed, note = x")
    assert broken.raw == "@misc{broken, title = {Never closed, note = {x}\n"
    assert opened(tmp_path / "a.txt", BIBTEX).format == source.format


def test_a_mention_of_a_format_is_none(tmp_path: Path) -> None:
    for text in ("About TY  - and PMID- 1\nTY\n", "@media {x}\n@anna, come!\n", "id,text\n1,TY  - JOUR\n"):
        assert opened(tmp_path / "a.txt", text).format not in ("ris", "nbib", "bibtex")


def test_ids_that_are_not_unique_are_no_ids(tmp_path: Path) -> None:
    source = opened(tmp_path / "a.ris", "TY  - JOUR\nID  - 1\nDO  - a\nER  - \nTY  - JOUR\nID  - 1\nDO  - b\nER  - \n")
    assert source.columns[suggested(source).roles.index(Role.ID)] == "doi"


def test_references_beside_another_file(tmp_path: Path) -> None:
    source = opened(tmp_path / "a.ris", RIS)
    queries, sentences = opened(tmp_path / "q.csv", "query\nwho?\nwhat?\n"), opened(tmp_path / "s.csv", "text\na\nb\n")
    assert suggested(source, None, sentences).layout is Layout.LISTS
    ranking = suggested(queries, Kind.RANK, source)
    found, *_ = [item for item in read_items(queries, ranking, source) if isinstance(item, Text)]
    assert found.text == "Long title that goes on. AIM: First part. RESULTS: Second part."


@pytest.mark.parametrize("text", [RIS, REFERENCE_MANAGER])
def test_ris_is_the_same_after_it_was_written(tmp_path: Path, text: str) -> None:
    before = records(*read(tmp_path / "a.ris", text))
    screened = [each | {"rank": "1", "score": "0.5", "decision": "include"} for each in before]
    again = records(*read(tmp_path / "b.ris", written(before)))
    assert again == [{"type": "JOUR"} | each for each in before]
    for old, new in zip(again, records(*read(tmp_path / "c.ris", written(screened))), strict=True):
        notes = "; ".join(filter(None, [old.get("notes"), "rank: 1 | score: 0.5 | decision: include"]))
        assert new == old | {"notes": notes}


_words = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=8)
_lines = st.one_of(
    _words, st.sampled_from(["", "TY  - x", "ER  - ", "@misc{a,", "PMID- 1", "a; b", "AB  - again", "{", "}"])
)
_cells = st.lists(_lines, min_size=1, max_size=4).flatmap(
    lambda each: st.sampled_from([" ", "\n", "\r\n"]).map(lambda end: end.join(each))
)
_names = st.sampled_from(["title", "abstract", "authors", "keywords", "pages", "year", "notes", "url", "XX", "Country"])
_rows = st.lists(st.dictionaries(_names, _cells, max_size=6), min_size=1, max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(_rows)
def test_a_record_is_one_row_and_never_several_texts(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    """Whatever a cell holds; and reading and writing again changes nothing more."""
    cells = [re.sub(r"[{}\r]", "", " ".join(row.values())) for row in rows]
    for name, form in (("a.nbib", "PMID- 7\nTI  - {}\n\n"), ("a.bib", "@misc{{key, title = {{{}}},\n}}\n")):
        read_rows, _ = read(tmp_path / name, "".join(form.format(each.replace("\n", "\n      ")) for each in cells))
        assert [row.problem for row in read_rows] == [""] * len(rows)
    found = records(*read(tmp_path / "a.ris", written(rows)))
    assert len(found) == len(rows)
    assert [bool(each.get("title")) for each in found] == [bool(each.get("title", "").strip()) for each in rows]
    assert records(*read(tmp_path / "b.ris", written(found))) == found
    assert len(texts(opened(tmp_path / "b.ris", written(found)))) <= len(rows)


@pytest.mark.parametrize(
    ("template", "cells", "text"),
    [
        ("{a}. {b}", ("One", "Two"), "One. Two"),
        ("{a}. {b}", ("One", ""), "One"),
        ("{a}. {b}", (" ", "Two"), "Two"),
        ("{a}. {b}", ("One.", "Two"), "One. Two"),
        ("{a}. {b}", ("", ""), ""),
        ("{a} ({b})!", ("One", ""), "One!"),
        ("({a}) {b}", ("", "Two"), "Two"),
        ("Title: {a}\\nText: {b}.", ("", "Two"), "Text: Two."),
        ("Title: {a}\\nText: {b}.", ("One", ""), "Title: One."),
        ("{a}...{b}", ("One.", "Two"), "One....Two"),
    ],
)
def test_a_template_leaves_out_what_stands_around_an_empty_column(
    template: str, cells: tuple[str, str], text: str
) -> None:
    found = read_template(template, ("a", "b"))
    assert not isinstance(found, str) and found.render(cells) == text
