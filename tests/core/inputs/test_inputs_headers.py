"""Whether the first row names the columns, judged as a whole; and what is said where that is not sure."""

from pathlib import Path

import pytest

from benchmarks.header_tables.corpus import REAL, WRITTEN, tables
from benchmarks.messy_csv.corpus import corpus
from benchmarks.messy_csv.detectors import ours
from benchmarks.messy_csv.judging import best_verdict
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import ReadOptions, Source
from cfbatch_gui.core.inputs.readers.formats import explain
from cfbatch_gui.core.inputs.recognise.headers import has_header
from cfbatch_gui.core.inputs.recognise.recogniser import open_source


def opened(tmp_path: Path, content: str, name: str = "a.csv", options: ReadOptions | None = None) -> Source:
    path = tmp_path / name
    path.write_text(content, "utf-8", newline="")
    return open_source(path, options or ReadOptions())


@pytest.mark.parametrize("path", [REAL, WRITTEN])
def test_most_tables_of_others_are_understood(path: Path) -> None:
    found = list(tables(path))
    wrong = [table.name for table in found if has_header(table.rows) != table.is_header]
    assert len(found) > 100
    assert len(wrong) < 0.05 * len(found), wrong


CLOSE = "Berlin,Germany\nParis,France\nRome,Italy\nVienna,Austria\n"


@pytest.mark.parametrize(
    ("content", "name", "beginning", "ending"),
    [
        (CLOSE, "a.csv", "A table separated by commas, ", ", in UTF-8."),
        (
            '["Berlin", "Germany"]\n["Paris", "France"]\n["Rome", "Italy"]\n',
            "a.jsonl",
            "JSON Lines: lists of cells, ",
            ".",
        ),
        ('[["Berlin", "Germany"], ["Paris", "France"]]', "a.json", "A JSON document: lists of cells, ", ", in UTF-8."),
    ],
)
def test_what_is_close_is_said_until_it_is_decided(
    tmp_path: Path, content: str, name: str, beginning: str, ending: str
) -> None:
    source = opened(tmp_path, content, name)
    looks = "the first row looks like a header" if source.has_header else "the first row looks like data"
    assert not source.is_header_sure
    assert explain(source).startswith(beginning + looks) and explain(source).endswith(ending)
    for answer, says in ((True, "with a header"), (False, "without a header")):
        settled = opened(tmp_path, content, name, ReadOptions(has_header=answer))
        assert (settled.has_header, settled.is_header_sure) == (answer, True)
        assert explain(settled).startswith(beginning + says)
        first = next(iter(read_rows(settled))).cells
        assert first == (("Paris", "France") if answer else ("Berlin", "Germany"))


FILES = list(corpus(0.15))


def test_files_are_understood_to_the_letter() -> None:
    assert len(FILES) >= 50
    assert [file.name for file in FILES if not best_verdict(file, ours).all] == []
