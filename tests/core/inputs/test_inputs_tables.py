"""Tables with other lines above and below them, with less usual quoting, with a header and without."""

import csv
import io
import json
from pathlib import Path

import pytest

from benchmarks.header_tables.corpus import REAL, WRITTEN, tables
from benchmarks.messy_csv.corpus import corpus
from benchmarks.messy_csv.detectors import ours
from benchmarks.messy_csv.judging import best_verdict
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import Quoting, ReadOptions
from cfbatch_gui.core.inputs.recognise.headers import has_header
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.messages import message, quoted
from cfbatch_gui.words.inputs import how_read
from tests.core.inputs.files import opened, read


def test_what_stands_above_and_below_a_table_is_said(tmp_path: Path) -> None:
    body = "".join(f"{n},Lamp number {n},{n}.50\n" for n in range(5))
    rows, source = read(tmp_path / "a.csv", f"Products of May\nAll prices in EUR\nid,text,price\n{body}Total,,12.50\n")
    assert [row.cells for row in rows] == [(str(n), f"Lamp number {n}", f"{n}.50") for n in range(5)]
    assert source.notices == (
        message("n_lines_above_table_are_not", n=2, first=message("text_more", text="Products of May")),
        message("n_lines_below_table_are_not", n=1, first=quoted("Total,,12.50")),
    )
    rows, source = read(tmp_path / "b.csv", f"id,text,price\n{body}\n\nSource: the shop\n(5 rows)\n")
    below = message("n_lines_below_table_are_not", n=2, first=message("text_more", text="Source: the shop"))
    assert (len(rows), source.notices) == (5, (below,))


def test_rows_that_only_look_like_notes_are_rows(tmp_path: Path) -> None:
    for data, count in (
        ("id,text\n1,one\n2,two\nTotal,recall\n", 3),  # "Total" with other words
        ("text\none\ntwo\nTotal\n", 3),  # a column of its own
        ("id,text,price\n1,a,2\n2,b,3\nnote,Source: me,4\n", 3),
        ('id,text\n1,one\n2,"a\n\nSource: me"\n', 2),  # inside a cell
    ):
        rows, source = read(tmp_path / "a.csv", data)
        assert (len(rows), source.notices) == (count, ()), data


def test_postgresql_copy(tmp_path: Path) -> None:
    rows, source = read(tmp_path / "a.tsv", 'id\ttext\n1\ta\\tb "c\n2\t\\N\n3\tback\\\\slash\\nline\n\\.\n')
    assert [row.cells for row in rows] == [("1", 'a\tb "c'), ("2", ""), ("3", "back\\slash\nline")]
    assert source.quoting is Quoting.COPY


@pytest.mark.parametrize(
    "data",
    ['1,"a",\\N\n2,"C:\\new",3\n3,"b",4\n', '1,"a, b",\\N\n2,word,3\n3,word,4\n', 'id,text\n1,"\\N"\n2,"b"\n3,"c"\n'],
)
def test_a_backslash_in_other_files_is_a_letter(tmp_path: Path, data: str) -> None:
    rows, source = read(tmp_path / "a.csv", data, ReadOptions(has_header=False))
    assert [row.cells for row in rows] == [tuple(cells) for cells in csv.reader(io.StringIO(data))]
    assert source.quoting is Quoting.DOUBLED


def test_our_own_apostrophes_are_taken_away_again_only_with_the_manifest(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("query,text,note\n'=why,'-because,'=kept\nwho,''=me,x\n", encoding="utf-8-sig")
    as_it_stands = [("'=why", "'-because", "'=kept"), ("who", "''=me", "x")]
    assert [row.cells for row in read_rows(open_source(path))] == as_it_stands
    manifest = tmp_path / "scores.csv.manifest.json"
    export = {"formulas_made_harmless": {"mark": "'", "cells": 3, "columns": ["query", "text"]}}
    manifest.write_text(json.dumps({"program": "CF Batch 1.0", "export": export}))
    source = open_source(path)
    assert [row.cells for row in read_rows(source)] == [("=why", "-because", "'=kept"), ("who", "'=me", "x")]
    assert "apostrophes" in source.notices[0]
    for other in ("{}", "[]", "not json", json.dumps({"program": "Other 1", "export": export})):
        manifest.write_text(other)
        assert [row.cells for row in read_rows(open_source(path))] == as_it_stands


def test_a_header_of_another_width_than_the_rows_is_said(tmp_path: Path) -> None:
    rows = "".join(f"{n},Ann,text {n},a note\n" for n in range(5))
    for names in ("idname,text", "id,na,me,text,note", "id,,name,text,note"):
        _, source = read(tmp_path / "a.csv", f"{names}\n{rows}")
        count = names.count(",") + 1
        (said,) = source.notices
        assert said.startswith(f"The first row names {count} columns, but the rows have 4 cells. Check that")


ODD = ["^", "~", "¦", "::", " => ", "||", "\t|\t", "\t\t", "  ", "\x01", "\x1f", "\u00a0", "，", "@@@"]
QUOTED = [("id", "question", "answer"), ("1", "a, b; c", 'say "so"'), ("2", "line\nbreak", "x{0}y"), ("3", "c", "d")]


@pytest.mark.parametrize("separator", ODD)
def test_a_table_by_any_separator(tmp_path: Path, separator: str) -> None:
    lines = "".join(separator.join(cells) + "\n" for cells in [QUOTED[0], ("1", "a, b; c", "d"), ("2", "e", "f")])
    rows, source = read(tmp_path / "a.csv", lines)
    assert (source.columns, source.separator) == (("id", "question", "answer"), separator)
    assert [row.cells for row in rows] == [("1", "a, b; c", "d"), ("2", "e", "f")]
    own = [tuple(cell.format(separator) for cell in cells) for cells in QUOTED]
    quoted = "".join(separator.join('"{}"'.format(each.replace('"', '""')) for each in cells) + "\r\n" for cells in own)
    rows, _ = read(tmp_path / "b.csv", quoted, ReadOptions(separator=separator))
    assert [row.cells for row in rows] == own[1:]


def test_a_list_whose_lines_share_a_sign_is_asked_about(tmp_path: Path) -> None:
    rows, source = read(tmp_path / "a.csv", "red~warm\ngreen~cool\nblue~cold\n")
    assert (len(source.columns), source.likely_separator, len(source.notices)) == (1, "~", 1)
    assert [row.cells for row in rows] == [("red~warm",), ("green~cool",), ("blue~cold",)]
    for lines in ("What is it?\nWho is it?\nWhy is it?\n", "red~warm\ngreen\nblue~cold\n", "a/b\nc/d\ne/f\n"):
        assert read(tmp_path / "b.csv", lines)[1].likely_separator == ""


def test_a_header_of_any_length_is_whole(tmp_path: Path) -> None:
    names = ["id", "text", *(f"measured value {n}" for n in range(12_000))]
    cells = ["1", "some text", *(str(n) for n in range(12_000))]
    rows, source = read(tmp_path / "a.csv", ",".join(names) + "\n" + (",".join(cells) + "\n") * 3)
    assert (source.columns, source.notices) == (tuple(names), ())
    assert rows[2].cells == tuple(cells)


def test_the_three_headers_of_a_survey(tmp_path: Path) -> None:
    ids = [json.dumps({"ImportId": name}, separators=(",", ":")) for name in ("_recordId", "QID1", "QID2_TEXT")]
    text = io.StringIO(newline="")
    csv.writer(text).writerows(
        [["ResponseId", "Q1", "Q2"], ["Response ID", "How was it?", "Why?\nIn a sentence"], ids]
        + [[f"R_{n}", str(n), f"It was the answer number {n}"] for n in range(9)]
    )
    rows, source = read(tmp_path / "a.csv", text.getvalue())
    assert source.columns == ("ResponseId", "Q1", "Q2")
    assert [(row.number, row.cells[0]) for row in rows] == [(n + 4, f"R_{n}") for n in range(9)]
    assert len(source.notices) == 1
    rows, _ = read(tmp_path / "a.csv", text.getvalue(), ReadOptions(has_header=False))
    assert len(rows) == 12
    data = "Respondent ID,How was it?,Why?,\n,Response,Open-Ended Response,Other\n" + "1,5,So,\n2,4,Because,\n" * 3
    rows, source = read(tmp_path / "b.csv", data)
    assert source.columns == ("Respondent ID", "How was it?", "Why?")
    assert (len(rows), rows[0].number) == (6, 3)
    assert len(source.notices) == 1


@pytest.mark.parametrize("path", [REAL, WRITTEN])
def test_most_tables_of_others_are_understood(path: Path) -> None:
    found = list(tables(path))
    wrong = [table.name for table in found if has_header(table.rows) != table.is_header]
    assert len(found) > 100
    assert len(wrong) < 0.05 * len(found), wrong


CLOSE = "Berlin,Germany\nParis,France\nRome,Italy\nVienna,Austria\n"
LINES = '["Berlin", "Germany"]\n["Paris", "France"]\n["Rome", "Italy"]\n'
DOCUMENT = '[["Berlin", "Germany"], ["Paris", "France"]]'


@pytest.mark.parametrize(("content", "name"), [(CLOSE, "a.csv"), (LINES, "a.jsonl"), (DOCUMENT, "a.json")])
def test_what_is_close_is_said_until_it_is_decided(tmp_path: Path, content: str, name: str) -> None:
    source = opened(tmp_path / name, content)
    assert not source.is_header_sure
    settled = {answer: opened(tmp_path / name, content, ReadOptions(has_header=answer)) for answer in (True, False)}
    assert len({how_read(each) for each in (source, *settled.values())}) == 3
    for answer, found in settled.items():
        assert (found.has_header, found.is_header_sure) == (answer, True)
        first = next(iter(read_rows(found))).cells
        assert first == (("Paris", "France") if answer else ("Berlin", "Germany"))


FILES = list(corpus(0.15))


def test_files_are_understood_to_the_letter() -> None:
    assert len(FILES) >= 50
    assert [file.name for file in FILES if not best_verdict(file, ours).all] == []
