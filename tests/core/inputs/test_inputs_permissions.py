"""Files and folders that this account may not open: a sentence, or a problem row for what is in a folder."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import without_root

pytestmark = pytest.mark.skipif(not without_root.is_possible(), reason="permissions mean nothing here")

# Prints for each path its rows, or the sentence of the error.
READ = """
import json, sys
from pathlib import Path
from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
found = []
for path in map(Path, sys.argv[1:]):
    try:
        found.append([[*row.cells, row.problem] for row in read_rows(open_source(path))])
    except InputError as error:
        found.append(error.message)
print(json.dumps(found))
"""
FILE = "cannot be opened: this account may not read it, or another program holds it. Close it there, or choose a copy."


def read(*paths: Path) -> list[object]:
    """The rows of each file or folder, or a sentence, as a process without the rights of root has them."""
    command = [*without_root.COMMAND, sys.executable, "-c", READ, *map(str, paths)]
    return list(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


@contextmanager
def closed(path: Path, mode: int = 0) -> Iterator[None]:
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        yield
    finally:
        path.chmod(before)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    (folder / "more").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "more/c.txt"):
        (folder / name).write_text(f"Text {name[-5]}\n")
    return folder


def test_files(tmp_path: Path) -> None:
    paths = [tmp_path / f"a.{each}" for each in ("csv", "txt", "jsonl", "xlsx", "xls", "zip", "docx", "parquet")]
    for path in paths:
        path.write_bytes(b"id,text\n1,a\n")
        path.chmod(0)
    assert read(*paths) == [f"{path.name} {FILE}" for path in paths]


def test_what_stands_in_a_folder(texts: Path) -> None:
    with closed(texts / "b.txt"):
        found = read(texts)
    assert found == [[["a.txt", "Text a", ""], ["b.txt", "", f"b.txt {FILE}"], ["more/c.txt", "Text c", ""]]]
    with closed(texts / "more"):
        assert read(texts) == [f"more {FILE}"]
