"""Text, CSV and JSON Lines: the cells are read exactly as written, with line numbers as row numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import Quoting, ReadOptions, Row
from cfbatch_gui.core.inputs.readers.decoded_text import PIECE
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from tests.thorough import tries

Write = Callable[[str, bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def read(path: Path, options: ReadOptions | None = None) -> list[Row]:
    return list(read_rows(open_source(path, options or ReadOptions())))


def cells(path: Path, options: ReadOptions | None = None) -> list[tuple[str, ...]]:
    return [row.cells for row in read(path, options)]


def test_a_text_file_may_have_a_header_and_may_be_read_as_a_table(write: Write) -> None:
    path = write("a.txt", b"Story\na;b\nc;d\n")
    source = open_source(path, ReadOptions(has_header=True))
    assert source.columns == ("Story",)
    assert [row.number for row in read_rows(source)] == [2, 3]
    assert cells(path, ReadOptions(separator=";", has_header=False)) == [("Story", ""), ("a", "b"), ("c", "d")]


def test_ragged_rows_are_problems_shown_as_they_stand(write: Write) -> None:
    rows = read(write("a.csv", b"id,text,note\n1,a,b\n2,a\n3,a,b,c\n4,a,b,,\n5,a,b\n"))
    assert [(row.problem, row.raw) for row in rows] == [
        ("", ""),
        ("This row has 2 cells, but the file has 3 columns.", "2,a"),
        ("This row has 4 cells, but the file has 3 columns.", "3,a,b,c"),
        ("This row has 5 cells, but the file has 3 columns.", "4,a,b,,"),
        ("", ""),
    ]
    assert {len(row.cells) for row in rows} == {3}


def test_empty_cells_too_many_are_a_habit_of_the_file_or_a_problem(write: Write) -> None:
    """A row that is shifted by one separator may end with an empty cell, as every row of some programs does."""
    shifted = read(write("a.csv", b"name,text,note\nAnn,first text,x\nBob,,second text,\nEve,third text,y\n"))
    assert [row.problem for row in shifted] == ["", "This row has 4 cells, but the file has 3 columns.", ""]
    path = write(
        "b.csv", b"name,text,note\nAnn,first text,x,\nBob,second text,,\nEve,third text,y,\nIda,,fourth text,,\n"
    )
    assert open_source(path).columns == ("name", "text", "note")
    assert [(row.cells[1], bool(row.problem)) for row in read(path)] == [
        ("first text", False),
        ("second text", False),
        ("third text", False),
        ("", True),
    ]
    less = write(
        "c.csv", b"name,text,note\nAnn,first text,x,\nBob,second text,,\nEve,third text,y,\nIdafourth text,,\n"
    )
    assert [bool(row.problem) for row in read(less)] == [False, False, False, True]


@pytest.mark.parametrize("below", ["", '4,"closed, again"\n5,five\n'])
def test_an_unclosed_quote_costs_no_row_but_its_own(write: Write, below: str) -> None:
    rows = read(write("a.csv", f'id,text\n1,one\n2,"two\n3,three\n{below}'.encode()))
    assert [row.number for row in rows] == [2, 3, *range(4, 5 + below.count("\n"))]
    assert (rows[1].raw, rows[1].cells) == ('2,"two', ("", ""))
    assert rows[1].problem.startswith("A quotation mark opens in this row and is not closed in it.")
    assert [row.number for row in rows if row.problem] == [3]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_marks_of_files_that_were_put_one_below_the_other(write: Write, encoding: str) -> None:
    one = 'id;text\r\n"1";"grün; \u200b\ufeffzwei"\r\n'.encode(encoding)
    path = write("a.csv", one * 3)
    source = open_source(path)
    assert (source.columns, source.quoting) == (("id", "text"), Quoting.DOUBLED)
    assert source.notices == ("2 byte order marks within the file are left out: it seems to be made of several files.",)
    rows = list(read_rows(source))
    assert [row.cells for row in rows if not row.problem] == [("1", "grün; \u200b\ufeffzwei")] * 3
    assert {row.problem for row in rows} == {"", "This row repeats the names of the columns."}


def test_signs_that_are_replaced_are_counted(write: Write) -> None:
    assert open_source(write("a.csv", b"id,text\n1,one\n")).notices == ()
    one = open_source(write("b.csv", b"id,text\n1,a\0b\n"))
    assert one.notices == ("1 character is damaged in the file, or no text, and shown as “\ufffd”.",)
    several = open_source(write("c.csv", b"id,text\n" + b"1,a\0b\n2,plain and longer\n" * 2_000))
    assert several.notices == ("2,000 characters are damaged in the file, or no text, and shown as “\ufffd”.",)


def test_characters_and_line_ends_cut_by_a_piece_come_whole(write: Write) -> None:
    for shift in range(4):
        lines = ["x" * shift] + ["äöü€🦙" * 3] * (PIECE // 30)
        path = write("a.txt", "\r\n".join(lines).encode())
        assert cells(path) == [(line,) for line in lines if line]
        path = write("b.txt", "\r".join(lines[1:]).encode())
        assert cells(path) == [(line,) for line in lines[1:]]


def test_a_line_too_long_for_any_request_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cfbatch_gui.core.inputs.readers.decoded_text.LONGEST_LINE", 3 * PIECE)
    path = write("a.txt", b"x" * (5 * PIECE))
    with pytest.raises(InputError, match=r"a.txt has a line of more than"):
        read(path)


# Encodings


def test_a_few_broken_bytes_leave_a_file_utf_8_and_are_counted(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cfbatch_gui.core.inputs.encodings._PIECE", 5_000)
    path = write("a.csv", b"id,text\n" + "1,schön\n".encode() * 1_000 + b"2,\xff\n")
    source = open_source(path)
    assert (source.encoding, source.is_encoding_guessed) == ("utf-8", False)
    assert source.notices == ("1 character is damaged in the file, or no text, and shown as “\ufffd”.",)
    assert read(path)[-1].cells == ("2", "\ufffd")


@pytest.mark.parametrize("name", ["no-such", "rot13", "hex", "idna\0", "undefined"])
def test_an_encoding_that_does_not_exist(write: Write, name: str) -> None:
    with pytest.raises(UsageError, match="is not the name of an encoding"):
        open_source(write("a.csv", b"id,text\n1,a\n"), ReadOptions(encoding=name))


# JSON Lines


# Properties


@given(st.binary(max_size=400), st.sampled_from(["a.csv", "a.txt", "a.jsonl", "a.xlsx", "a", "a.tsv"]))
@pytest.mark.thorough
@settings(max_examples=tries(30, 5_000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_rows_or_a_sentence(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    for options in (ReadOptions(), ReadOptions(encoding="cp1252"), ReadOptions(encoding="utf-16")):
        try:
            source = open_source(path, options)
        except (InputError, UsageError) as exc:
            assert exc.message.endswith((".", "!", "}."))
            continue
        for row in read_rows(source):
            assert len(row.cells) == len(source.columns)
            assert "\0" not in "".join(row.cells)
            "".join(row.cells).encode()
