"""Rows read in blocks equal those read one at a time, numbered by the line on which each begins."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.file_rows import read_blocks, read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, Kind, Layout, Mapping, Quoting, Role, Row, Source, Text
from cfbatch_gui.core.inputs.items import TextBlock, read_items, read_text_blocks
from cfbatch_gui.core.inputs.readers import decoded_text

pieces = st.sampled_from(
    [",", '"', "\n", "\r", "\r\n", "a", "b,c", '""', '"x\ny"', '"x\r\ny"', "é", ",,", "\n\n", "\\"]
)


def source(path: Path, content: str, width: int, quoting: Quoting = Quoting.DOUBLED, first_line: int = 1) -> Source:
    path.write_text(content, encoding="utf-8", newline="")
    columns = ("a", "b", "c")[:width]
    return Source(
        path, FileFormat.DELIMITED, columns, len(content), "utf-8", ",", quoting=quoting, first_line=first_line
    )


@given(st.lists(pieces, max_size=60).map("".join), st.integers(1, 3), st.sampled_from(Quoting))
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_blocks_hold_the_rows(tmp_path: Path, content: str, width: int, quoting: Quoting) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoded_text, "PIECE", 16)
        read = source(tmp_path / "a.csv", content, width, quoting)
        found: list[Row] = []
        for each in read_blocks(read):
            if isinstance(each, Row):
                assert each.problem
                found.append(each)
            else:
                assert all(len(cells) == width for cells in each.rows)
                found += map(Row, each.numbers, map(tuple, each.rows))
        assert found == list(read_rows(read))


@given(st.lists(pieces, max_size=60).map("".join), st.booleans())
@settings(deadline=None, suppress_health_check=list(HealthCheck))
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


def test_blank_and_repeated_lines_cost_no_other_row(tmp_path: Path) -> None:
    content = "id,text\r\r\n1,one\r\r\n\n2,two\nid,text\n3,three\n"
    read = replace(source(tmp_path / "a.csv", content, 2), has_header=True)
    mapping = Mapping(Kind.EMBED, Layout.TEXTS, (Role.ID, Role.TEXT))
    blocks = [each for each in read_text_blocks(read, mapping) if isinstance(each, TextBlock)]
    assert [text for block in blocks for text in block.texts] == ["one", "two", "three"]


@given(st.lists(pieces, max_size=60).map("".join))
@settings(deadline=None, suppress_health_check=list(HealthCheck))
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


def test_a_table_that_begins_below_the_file_has_no_rows(tmp_path: Path) -> None:
    assert list(read_rows(source(tmp_path / "a.csv", "a,b\n1,2\n", 2, first_line=9))) == []
