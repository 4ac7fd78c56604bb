"""What a killed process was writing is gone after the next start; what a living one writes, and all else, stays."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cfbatch_gui.core.system.files import atomic_writer
from cfbatch_gui.core.system.unfinished import end_list, keep_list, listing, noted, temporary_folder

WRITING = """
import os, sys
from pathlib import Path
from cfbatch_gui.core.system import files, unfinished
unfinished.keep_list(Path(sys.argv[1]))
with unfinished.temporary_folder() as folder, files.atomic_writer(Path(sys.argv[2])) as stream:
    (folder / "part").write_bytes(b"text")
    stream.write(b"half")
    stream.flush()
    print(folder, flush=True)
    sys.stdin.read()
"""


def begin(lists: Path, target: Path) -> tuple["subprocess.Popen[str]", Path]:
    command = (sys.executable, "-c", WRITING, str(lists), str(target))
    environ = {**os.environ, "TMPDIR": str(lists.parent), "PYTHONPATH": str(Path.cwd())}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ)
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_what_a_killed_process_was_writing_goes_at_the_next_start(tmp_path: Path) -> None:
    lists, out = tmp_path / "unfinished", tmp_path / "a place\nof the user's"
    out.mkdir()
    (out / ".cfbatch-of-another-program.part").write_bytes(b"not ours to remove")
    process, temporary = begin(lists, out / "result.csv")
    assert temporary.is_dir() and len(list(out.iterdir())) == 2
    with listing(lists):  # beside it, as a second command would
        assert temporary.is_dir() and len(list(out.iterdir())) == 2
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert temporary.is_dir() and len(list(out.iterdir())) == 2
    with listing(lists):
        assert not temporary.exists()
        assert [path.name for path in out.iterdir()] == [".cfbatch-of-another-program.part"]
    assert list(lists.iterdir()) == []


def test_only_files_of_our_own_kind_are_removed(tmp_path: Path) -> None:
    precious = tmp_path / "thesis.docx"
    precious.write_bytes(b"ten years")
    lists = tmp_path / "unfinished"
    keep_list(lists)
    with noted(precious):
        end_list(lists)  # as a crash would leave it
    assert len(list(lists.iterdir())) == 1
    with listing(lists):
        assert precious.read_bytes() == b"ten years"


def test_a_finished_file_is_noted_no_more(tmp_path: Path) -> None:
    lists = tmp_path / "unfinished"
    with listing(lists):
        with atomic_writer(tmp_path / "a"), atomic_writer(tmp_path / "b"), temporary_folder():
            (written,) = lists.iterdir()
            assert written.read_bytes().count(b"\0") == 3
        assert written.read_bytes() == b""
    assert list(lists.iterdir()) == []


def test_without_a_place_for_lists_all_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with listing(tmp_path / "file"), atomic_writer(tmp_path / "a") as stream:
        stream.write(b"whole")
    assert (tmp_path / "a").read_bytes() == b"whole"
