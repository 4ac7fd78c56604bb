"""Rows read in blocks are those read one at a time, numbered by their first lines."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import (
    FileFormat,
    Kind,
    Layout,
    Mapping,
    Quoting,
    Role,
    RowHabits,
    Source,
    Text,
)
from cfbatch_gui.core.inputs.items import TextBlock, read_items, read_text_blocks
from cfbatch_gui.core.inputs.readers import decoded_text, delimited_rows
from tests.thorough import tries

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
    assume(not any("never closed" in row.problem or "opens in this row" in row.problem for row in rows))
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
