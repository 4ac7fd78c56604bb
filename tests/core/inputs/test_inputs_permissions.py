"""Files and folders that this account may not open: a sentence, or a problem row for what is in a folder."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from tests import without_root

pytestmark = pytest.mark.skipif(not without_root.is_possible(), reason="permissions mean nothing here")

# Prints the rows of a path, or the sentence of the error.
READ = """
import json, sys
from pathlib import Path
from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
try:
    found = [[*row.cells, row.problem] for row in read_rows(open_source(Path(sys.argv[1])))]
except InputError as error:
    found = error.message
print(json.dumps(found))
"""
FILE = "cannot be opened: this account may not read it, or another program holds it. Close it there, or choose a copy."
FOLDER = "is a folder that this account may not open. Ask its owner for access, or choose a copy."


def read(path: Path) -> object:
    """The rows of a file or folder, or a sentence, as a process without the rights of root has them."""
    command = [*without_root.COMMAND, sys.executable, "-c", READ, str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


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


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.jsonl", "a.xlsx", "a.xls", "a.zip", "a.docx", "a.parquet"])
def test_a_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"id,text\n1,a\n")
    with closed(path):
        assert read(path) == f"{name} {FILE}"


@pytest.mark.parametrize("mode", [0, 0o444, 0o111])
def test_a_folder(texts: Path, mode: int) -> None:
    with closed(texts, mode):
        assert read(texts) == f"texts {FOLDER}"


def test_a_file_in_a_folder_that_is_closed(texts: Path) -> None:
    with closed(texts):
        assert read(texts / "a.txt") == f"a.txt {FILE}"
        assert read(texts / "more") == f"more {FILE}"  # nobody can say whether it is a folder


def test_a_folder_in_a_folder(texts: Path) -> None:
    with closed(texts / "more"):
        assert read(texts) == [["a.txt", "Text a", ""], ["b.txt", "Text b", ""], ["more", "", f"more {FOLDER}"]]
        for name in ("a.txt", "b.txt"):
            (texts / name).unlink()
        assert read(texts) == f"more {FOLDER}"


def test_a_file_in_a_folder(texts: Path) -> None:
    with closed(texts / "b.txt"):
        assert read(texts) == [["a.txt", "Text a", ""], ["b.txt", "", f"b.txt {FILE}"], ["more/c.txt", "Text c", ""]]


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "run.trec"])
def test_a_file_of_a_collection(tmp_path: Path, name: str) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id":"d","text":"a document"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id":"q","text":"a query"}\n')
    (tmp_path / "run.trec").write_text("q Q0 d 1 1.5 tag\n")
    assert read(tmp_path) == [["q", "a query", "d", "a document", "1", "", ""]]
    with closed(tmp_path / name):
        assert read(tmp_path) == f"{name} {FILE}"
    with closed(tmp_path, 0o444):
        assert read(tmp_path) == f"{tmp_path.name} {FOLDER}"


def test_a_folder_that_went_away(texts: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no file none\. Was it moved or renamed\?"):
        open_source(tmp_path / "none")
    source = open_source(texts)
    texts.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"There is no file texts\. Was it moved or renamed\?"):
        list(read_rows(source))
