"""A name of a job becomes a name that every system takes for a file; files as they stand on a command line."""

import os
import sys
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.system.file_names import LONGEST_STEM, file_name, file_stem, independent
from tests.support.sentences import code_of

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Prices: old/new", "Prices- old-new"),
        ("a\tb\x00c", "a-b-c"),
        (" . hidden . ", "hidden"),
        ("con", "con_"),
        ("NUL.tar", "NUL_.tar"),
        ("Com10", "Com10"),
        ("Gro\u0308ße", "Größe"),
        ("", "job"),
        ("x" * 200, "x" * LONGEST_STEM),
        (f"{'x' * 79} y", "x" * 79),
        ("日本語 🙂", "日本語 🙂"),
    ],
)
def test_before_a_suffix(name: str, stem: str) -> None:
    assert file_stem(name, "job") == stem
    assert not name or file_name(f"{name}.csv") == f"{file_stem(name, '_')}.csv"


@posix_only
def test_a_relative_path_is_taken_from_the_folder_of_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "file:"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("-a.csv", "a%20b.csv", "file:a.csv"):
        assert Path(independent(name)) == folder / name
    folder.rmdir()
    assert independent("a.csv") == "a.csv", "there is no such folder any more"


@posix_only
def test_a_name_that_could_not_be_found_again_is_said(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"latin-\xe4.csv")
    try:
        path.write_text("query,text\nclouds,an orange cloud\n", encoding="utf-8")
    except OSError:
        pytest.skip("names are UTF-8 on this disk")
    with pytest.raises(InputError) as raised:
        open_source(path)
    assert code_of(raised.value) == "name_name_or_folder_is_is"
