"""Rows that may have been misread: found, shown as they stand, and sent only if the user says so; rows in blocks."""

import csv
import io
import random
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from benchmarks.polluted_rows.files import clean_file, polluted_files
from benchmarks.polluted_rows.judging import false_alarms, judge
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import (
    FileFormat,
    Kind,
    Layout,
    Mapping,
    Problem,
    ProblemKind,
    Quoting,
    ReadOptions,
    Role,
    RowHabits,
    Source,
    Text,
)
from cfbatch_gui.core.inputs.items import TextBlock, read_items, read_text_blocks
from cfbatch_gui.core.inputs.readers import decoded_text, delimited_rows
from cfbatch_gui.core.inputs.readers.delimited_rows import AFTER_QUOTE, LINE_BREAK, STRAY_QUOTE
from cfbatch_gui.core.messages import message, quoted
from tests.core.inputs.files import opened, wrong_width
from tests.support.sentences import code_of
from tests.thorough import tries

TEXTS = Mapping(Kind.EMBED, Layout.TEXTS, (Role.ID, Role.TEXT))


def doubts(tmp_path: Path, data: str) -> list[tuple[int, str, str]]:
    return [(row.number, row.problem, row.raw) for row in read_rows(opened(tmp_path / "a.csv", data)) if row.problem]


def test_text_after_a_closing_quotation_mark_is_doubtful(tmp_path: Path) -> None:
    data = 'sku,name,price\n1,"Oak" table,5\n2,"Elm table",6\n3,"Ash table" ,7\n'
    oak, *others = read_rows(opened(tmp_path / "a.csv", data))
    assert (oak.cells[1], oak.problem, oak.raw) == ("Oak table", AFTER_QUOTE, '1,"Oak" table,5')
    assert oak.problem_kind is ProblemKind.DOUBTFUL_ROW
    assert not any(row.problem for row in others)  # a space after the mark is no text


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
    source = opened(tmp_path / "a.csv", data, ReadOptions(sends_doubtful=sends))
    kind = ProblemKind.DOUBTFUL_SENT if sends else ProblemKind.DOUBTFUL_ROW
    two, six = Text(3, "two and more", "2"), Text(7, 'six" long', "6")
    assert list(read_items(source, TEXTS)) == [
        Text(2, "one", "1"),
        Problem(3, kind, AFTER_QUOTE, raw='2,"two" and more'),
        *([two] if sends else []),
        Text(4, "three", "3"),
        Problem(5, ProblemKind.UNREADABLE_ROW, wrong_width(3, 2), raw="4,a,b"),
        Problem(6, ProblemKind.EMPTY_TEXT, message("there_is_no_text_column", column=quoted("text"))),
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
    rows = list(read_rows(opened(tmp_path / "a.csv", data)))
    sound = [(row.number, row.cells) for row in rows if not row.problem]
    assert sound == [(2, ("1", "one")), (4, ("3", "three")), (6, ("5", "five"))]
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


pieces = st.sampled_from(
    [",", '"', "\n", "\r", "\r\n", "a", "b,c", '""', '"x\ny"', '"x\r\ny"', "é", ",,", "\n\n", "\\"]
)


def source(path: Path, content: str, width: int, quoting: Quoting = Quoting.DOUBLED, first_line: int = 1) -> Source:
    path.write_text(content, encoding="utf-8", newline="")
    columns = ("a", "b", "c")[:width]
    return Source(
        path, FileFormat.DELIMITED, columns, len(content), "utf-8", ",", quoting=quoting, first_line=first_line
    )


@given(st.lists(pieces, max_size=60).map("".join), st.booleans())
@settings(max_examples=tries(30, 5_000), deadline=None, suppress_health_check=list(HealthCheck))
def test_texts_in_blocks_are_the_texts(tmp_path: Path, content: str, has_header: bool) -> None:
    read = replace(source(tmp_path / "a.csv", content, 2), has_header=has_header)
    mapping = Mapping(Kind.EMBED, Layout.TEXTS, (Role.ID, Role.TEXT))
    found: list[object] = []
    for each in read_text_blocks(read, mapping):
        if isinstance(each, TextBlock):
            found += map(Text, each.block.numbers, each.texts, each.ids or ())
        else:
            found.append(each)
    assert found == list(read_items(read, mapping))


@given(st.lists(pieces, max_size=60).map("".join))
@settings(max_examples=tries(30, 5_000), deadline=None, suppress_health_check=list(HealthCheck))
def test_rows_have_the_number_of_their_first_line(tmp_path: Path, content: str) -> None:
    rows = list(read_rows(source(tmp_path / "a.csv", content, 2)))
    unclosed = {"quotation_mark_opens_row_line_is", "quotation_mark_opens_row_is_not"}
    assume(not any(code_of(row.problem) in unclosed for row in rows))
    reader = csv.reader(io.StringIO(content, newline=""))
    expected, line = [], 1
    for cells in reader:
        if len(cells) == 2:
            expected.append((line, tuple(cells)))
        line = reader.line_num + 1
    as_read = [(row.number, row.cells) for row in rows if not row.problem or row.problem_kind == "doubtful_row"]
    assert as_read == expected


SOUND = [
    *("", "a", "one two", " ", "é 🌍", '""', '"x"', '"a, b"', '"say ""hi"""', '""""', '"one\ntwo"', '"one\r\ntwo"'),
    *('"\n"', '" x "', '"a\n\n1, b"', '"\u2028\x85"'),
]
UNSOUND = ['5" long', '"a" b', 'a"b"', '"open', ' "x"', '"x" ', "a\rb", "\x01", "\x02", "\0"]
_any_rows = st.lists(
    st.lists(st.sampled_from([*SOUND, *SOUND, *UNSOUND]), min_size=1, max_size=3).map(",".join), min_size=1, max_size=12
)
_ends = st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n"])


@given(
    st.lists(_any_rows, min_size=1, max_size=3).map(lambda parts: [row for part in parts for row in part]),
    _ends,
    st.integers(8, 200),
    st.booleans(),
    st.sampled_from([(), (2,), (1, 2), (2, 3)]),
)
@settings(max_examples=tries(30, 10_000), suppress_health_check=list(HealthCheck))
def test_a_file_has_the_same_rows_in_small_pieces(
    tmp_path: Path, rows: list[str], end: str, piece: int, has_line_breaks: bool, widths: tuple[int, ...]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(end.join(["id,text", *rows]), encoding="utf-8", newline="")
    habits = RowHabits(widths, has_line_breaks)
    source = Source(path, FileFormat.DELIMITED, ("id", "text"), 0, "utf-8", ",", has_header=True, habits=habits)
    expected = list(read_rows(source))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoded_text, "PIECE", piece)
        patch.setattr(delimited_rows, "_MOST_AT_ONCE", piece // 8)
        assert list(read_rows(source)) == expected


def test_a_header_that_fills_a_piece_keeps_its_further_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = f"id,{'text' * 20}\n"
    monkeypatch.setattr(decoded_text, "PIECE", len(header))
    path = tmp_path / "a.csv"
    path.write_text(f"{header}--,----\n1,cloud\n", encoding="utf-8", newline="")
    columns = ("id", "text" * 20)
    source = Source(path, FileFormat.DELIMITED, columns, 0, "utf-8", ",", has_header=True)
    assert [(row.number, row.cells) for row in read_rows(source)] == [(3, ("1", "cloud"))]
