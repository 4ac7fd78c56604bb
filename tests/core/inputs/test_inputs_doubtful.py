"""Rows that may have been misread: found, shown as they stand, and sent only if the user says so."""

import random
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.polluted_rows.files import clean_file, polluted_files
from benchmarks.polluted_rows.judging import false_alarms, judge
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import (
    Kind,
    Layout,
    Mapping,
    Problem,
    ProblemKind,
    ReadOptions,
    Role,
    Source,
    Text,
)
from cfbatch_gui.core.inputs.items import TextBlock, read_items, read_text_blocks
from cfbatch_gui.core.inputs.readers import decoded_text, delimited_rows
from cfbatch_gui.core.inputs.readers.delimited_rows import AFTER_QUOTE, LINE_BREAK, STRAY_QUOTE
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

TEXTS = Mapping(Kind.EMBED, Layout.TEXTS, (Role.ID, Role.TEXT))


def opened(tmp_path: Path, data: str, options: ReadOptions | None = None) -> Source:
    path = tmp_path / "a.csv"
    path.write_text(data, encoding="utf-8", newline="")
    return open_source(path, options or ReadOptions())


def doubts(tmp_path: Path, data: str) -> list[tuple[int, str, str]]:
    return [(row.number, row.problem, row.raw) for row in read_rows(opened(tmp_path, data)) if row.problem]


def test_text_after_a_closing_quotation_mark_is_doubtful(tmp_path: Path) -> None:
    rows = list(read_rows(opened(tmp_path, 'sku,name,price\n1,"Oak" table,5\n2,"Elm table",6\n3,"Ash table" ,7\n')))
    assert [(row.cells[1], row.problem, row.problem_kind, row.raw) for row in rows[:1]] == [
        ("Oak table", AFTER_QUOTE, ProblemKind.DOUBTFUL_ROW, '1,"Oak" table,5')
    ]
    assert not any(row.problem for row in rows[1:])  # a space after the mark is no text


def test_a_lone_quotation_mark_is_doubtful_unless_it_is_a_habit(tmp_path: Path) -> None:
    assert doubts(tmp_path, 'id,text\n1,a 5" screen\n2,two\n3,three\n') == [(2, STRAY_QUOTE, '1,a 5" screen')]
    assert doubts(tmp_path, 'id,text\n1,a "good" screen\n2,two\n3,three\n') == []
    inches = "".join(f'{n},a {n}" screen\n' for n in range(3, 30))
    assert doubts(tmp_path, f"id,text\n{inches}") == []


def test_a_cell_that_would_be_rows_without_its_line_breaks_is_doubtful(tmp_path: Path) -> None:
    plain = "".join(f"{n},text {n},x\n" for n in range(5))
    hidden = '6,"text 6,x\n7,text 7",x\n'
    assert doubts(tmp_path, f"id,text,note\n{plain}{hidden}") == [(7, LINE_BREAK, hidden.strip())]
    letters = "".join(f'{n},"Dear all,\nthanks, {n}",x\n' for n in range(5))  # ordinary here
    assert doubts(tmp_path, f"id,text,note\n{letters}") == []
    assert doubts(tmp_path, f'id,text,note\n{plain}6,"Dear all\nthank you",x\n') == []


@pytest.mark.parametrize("sends", [False, True])
def test_doubtful_rows_are_sent_if_the_user_says_so(tmp_path: Path, sends: bool) -> None:
    data = 'id,text\n1,one\n2,"two" and more\n3,three\n4,a,b\n5,"" \n6,six" long\n'
    source = opened(tmp_path, data, ReadOptions(sends_doubtful=sends))
    kind = ProblemKind.DOUBTFUL_SENT if sends else ProblemKind.DOUBTFUL_ROW
    two, six = Text(3, "two and more", "2"), Text(7, 'six" long', "6")
    assert list(read_items(source, TEXTS)) == [
        Text(2, "one", "1"),
        Problem(3, kind, AFTER_QUOTE, raw='2,"two" and more'),
        *([two] if sends else []),
        Text(4, "three", "3"),
        Problem(5, ProblemKind.UNREADABLE_ROW, "This row has 3 cells, but the file has 2 columns.", raw="4,a,b"),
        Problem(6, ProblemKind.EMPTY_TEXT, "There is no text in “text”."),
        Problem(7, kind, STRAY_QUOTE, raw='6,six" long'),
        *([six] if sends else []),
    ]
    blocks = list(read_text_blocks(source, TEXTS))
    texts = [text for block in blocks if isinstance(block, TextBlock) for text in block.texts]
    assert texts == ["one", *(["two and more"] if sends else []), "three", *(['six" long'] if sends else [])]
    assert [each for each in blocks if isinstance(each, Problem)] == [
        each for each in read_items(source, TEXTS) if isinstance(each, Problem)
    ]


def test_a_line_that_is_far_too_long_costs_only_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = f"{delimited_rows.LONGEST_CELL:,}"
    monkeypatch.setattr(decoded_text, "PIECE", 1024)
    monkeypatch.setattr(delimited_rows, "LONGEST_CELL", 4_000)
    data = f'id,text\n1,one\n2,{"x" * 20_000}\n3,three\n4,"{"y, " * 5_000}"\r\n5,five\n'
    rows = list(read_rows(opened(tmp_path, data)))
    assert [(row.number, row.cells) for row in rows if not row.problem] == [
        (2, ("1", "one")),
        (4, ("3", "three")),
        (6, ("5", "five")),
    ]
    assert {row.number: row.problem for row in rows if row.problem} == dict.fromkeys(
        (3, 5), f"This row has more than {limit} characters, more than can be sent."
    )


@pytest.mark.parametrize("seed", [9000, 9001])
def test_no_row_that_one_character_spoilt_is_sent_without_a_word(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    clean = clean_file(chance)
    path = tmp_path / "a.csv"
    assert false_alarms(clean, path)[0] == 0
    files = list(islice(polluted_files(chance, clean), 40))
    silent = [(file.row, file.what, file.polluted) for file in files if judge(file, path).silent]
    assert silent == []
