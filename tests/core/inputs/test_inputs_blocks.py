"""Rows in blocks are the rows that come one by one, numbered by the line on which each begins."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.model import FileFormat, Quoting, Row, Source
from cfbatch_gui.core.inputs.readers import read_blocks, read_rows, text

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
        patch.setattr(text, "PIECE", 16)
        read = source(tmp_path / "a.csv", content, width, quoting)
        found: list[Row] = []
        for each in read_blocks(read):
            if isinstance(each, Row):
                found.append(each)
            else:
                assert all(len(cells) == width for cells in each.rows)
                found += map(Row, each.numbers, map(tuple, each.rows))
        assert found == list(read_rows(read))


@given(st.lists(pieces, max_size=60).map("".join))
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_rows_have_the_number_of_their_first_line(tmp_path: Path, content: str) -> None:
    rows = list(read_rows(source(tmp_path / "a.csv", content, 2)))
    assume(not any("never closed" in row.problem for row in rows))
    reader = csv.reader(io.StringIO(content, newline=""))
    expected, line = [], 1
    for cells in reader:
        if len(cells) >= 2 and not any(cells[2:]):
            expected.append((line, tuple(cells[:2])))
        line = reader.line_num + 1
    assert [(row.number, row.cells) for row in rows if not row.problem and any(row.cells)] == [
        (number, cells) for number, cells in expected if any(cells)
    ]


def test_a_table_that_begins_below_the_file_has_no_rows(tmp_path: Path) -> None:
    assert list(read_rows(source(tmp_path / "a.csv", "a,b\n1,2\n", 2, first_line=9))) == []
