"""The program started while its window is open: the file goes to that window, to nobody else, and never nowhere.

Every start is a process of its own, without a screen. What a window has taken is a draft in the data folder.
"""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.store.ledger import Ledger, WriterLock
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.core.system.window_messages import LONGEST_REQUEST
from cfbatch_gui.ui.window.new_jobs import MOST_AT_ONCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sockets of POSIX")
needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be two users")

NOBODY = 65534
BUSY = "CF Batch is already at work with this data."
ROOT = Path(__file__).parents[2]
_PATIENCE = 60.0  # seconds

# Listens at a path, as another user where it is named, and writes down whatever it is told.
SQUATTER = """
import os, socket, sys
address, heard, user, first = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
listener = socket.socket(socket.AF_UNIX)
record = open(heard, "ab", buffering=0)
if first == "bind":
    listener.bind(address)
if user:
    os.setgid(user), os.setuid(user)
if first != "bind":
    listener.bind(address)
listener.listen()
print("listening", flush=True)
while True:
    connected, _ = listener.accept()
    record.write(b"connected\\n")
    while data := connected.recv(65536):
        record.write(data)
        connected.sendall(b"taken\\n")
"""


@dataclass
class Starts:
    """A data folder, and the program started on it several times."""

    home: Path
    data: Path
    environ: dict[str, str] = field(default_factory=dict)
    processes: "list[subprocess.Popen[str]]" = field(default_factory=list)

    @property
    def paths(self) -> Paths:
        return Paths(self.data)

    def start(self, *arguments: object, folder: Path | None = None) -> "subprocess.Popen[str]":
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
        process = subprocess.Popen(
            [sys.executable, "-m", "cfbatch_gui", "--data-dir", str(self.data), *map(str, arguments)],
            env={**environ, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(self.home), **self.environ},
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        self.processes.append(process)
        return process

    def open_window(self, *arguments: object) -> "subprocess.Popen[str]":
        """Start it, and wait until it listens."""
        before = self.address()
        process = self.start(*arguments)
        until(lambda: process.poll() is not None or self.address() not in ("", before) or self.is_listening())
        assert process.poll() is None, process.communicate()[1]
        return process

    def address(self) -> str:
        return self.paths.window_address.read_text() if self.paths.window_address.exists() else ""

    def is_listening(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(self.address())
            except OSError:
                return False
        return True

    def drafts(self) -> list[str]:
        if not self.paths.ledger.exists():
            return []
        ledger = Ledger.open_read_only(self.paths)
        try:
            return sorted(job.name.lower() for job in ledger.jobs())
        finally:
            ledger.close()

    def opened(self) -> set[Path]:
        """The files of the drafts, wherever they stand."""
        if not self.paths.jobs.exists():
            return set()
        folders = (JobFolder(folder) for folder in self.paths.jobs.iterdir())
        return {Path(draft.path).resolve() for folder in folders if (draft := folder.draft()) is not None}

    def shown(self) -> str:
        """The name of the job that the window shows, in small letters."""
        job_id = Settings.load(self.paths.settings).table_layouts.get("window/job", "")
        ledger = Ledger.open_read_only(self.paths)
        try:
            return next((job.name.lower() for job in ledger.jobs() if job.id == job_id), "")
        finally:
            ledger.close()

    def file(self, name: str) -> Path:
        path = self.home / name
        path.write_text("query,text\nclouds,an orange cloud\n")
        return path


def until(happens: Callable[[], object]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not happens():
        assert time.monotonic() < deadline, "what the test waited for did not come"
        time.sleep(0.02)


def said(process: "subprocess.Popen[str]") -> str:
    """The sentence on standard error; the dialog with it stays until somebody closes it."""
    assert process.stderr is not None
    return process.stderr.readline()


@pytest.fixture
def starts() -> Iterator[Starts]:
    home = Path(tempfile.mkdtemp(prefix="cf-"))  # short: a socket's path has at most 108 bytes
    home.chmod(0o755)
    starts = Starts(home, home / "data")
    yield starts
    for process in starts.processes:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.communicate()
    shutil.rmtree(home)


@contextmanager
def squatter(address: Path, heard: Path, *, user: int, first: str = "become") -> Iterator[Path]:
    heard.write_bytes(b"")
    command = [sys.executable, "-c", SQUATTER, str(address), str(heard), str(user), first]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "listening\n"
        yield heard
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("place", ["runtime", "data", "temporary"])
def test_a_second_start_gives_its_file_to_the_window_and_ends(starts: Starts, place: str) -> None:
    if place == "runtime":
        (starts.home / "run").mkdir(mode=0o700)
        starts.environ["XDG_RUNTIME_DIR"] = str(starts.home / "run")
    elif place == "temporary":
        starts.data = starts.home / ("a long name " * 8)
    window = starts.open_window()
    expected = {"runtime": starts.home / "run", "data": starts.data, "temporary": starts.home}[place]
    assert Path(starts.address()).is_relative_to(expected)
    assert Path(starts.address()).is_relative_to(starts.data) == (place == "data")
    assert Path(starts.address()).parent.stat().st_mode & 0o777 == 0o700
    starts.environ.pop("XDG_RUNTIME_DIR", None)  # as when it is started by a service or over ssh
    second = starts.start(starts.file("clouds.csv"))
    assert second.wait(_PATIENCE) == 0
    until(lambda: starts.drafts() == ["clouds"])
    assert window.poll() is None and starts.start().wait(_PATIENCE) == 0


def test_every_way_to_name_a_file_leads_to_the_same_file(starts: Starts) -> None:
    """Each becomes a draft of its own. What cannot be opened is said in the window, and keeps nothing from opening."""
    starts.open_window()
    names = ["-dash.csv", "two words.csv", "100 % Käse äöü.csv", "a%20b.csv"]
    dash, words, cheese, percent = (starts.file(name) for name in names)
    latin = starts.file(os.fsdecode(b"latin-\xe4.csv"))
    (starts.home / "beside").mkdir()
    addresses = (words.as_uri(), "file://localhost" + cheese.as_uri().removeprefix("file://"))
    second = starts.start(
        *("--", dash.name, *addresses, "file://elsewhere/c.csv", latin, "missing.csv", "beside/../a%20b.csv"),
        folder=starts.home,
    )
    assert second.wait(_PATIENCE) == 0
    until(lambda: starts.opened() == {dash, words, cheese, percent})


def test_what_the_first_start_is_given_is_opened_too_and_the_last_is_shown(starts: Starts) -> None:
    starts.open_window(*(starts.file(f"{name}.csv") for name in ("one", "two", "three")))
    until(lambda: starts.drafts() == ["one", "three", "two"])
    until(lambda: starts.shown() == "three")


def test_too_many_files_are_said_and_none_is_opened(starts: Starts) -> None:
    starts.open_window()
    files = [starts.file(f"{number}.csv") for number in range(MOST_AT_ONCE + 1)]
    assert starts.start(*files).wait(_PATIENCE) == 0
    assert starts.start(starts.file("last.csv")).wait(_PATIENCE) == 0
    until(lambda: starts.drafts() == ["last"])


def test_a_runtime_folder_that_others_can_enter_is_not_used(starts: Starts) -> None:
    (starts.home / "run").mkdir(mode=0o755)
    starts.environ["XDG_RUNTIME_DIR"] = str(starts.home / "run")
    starts.open_window()
    assert Path(starts.address()).is_relative_to(starts.data)


def test_a_dead_window_leaves_nothing_that_is_in_the_way(starts: Starts) -> None:
    starts.open_window().kill()
    dead = starts.address()
    assert dead and Path(dead).exists()
    window = starts.start(starts.file("one.csv"))
    until(lambda: starts.drafts() == ["one"] and starts.is_listening())
    assert starts.start(starts.file("two.csv")).wait(_PATIENCE) == 0
    until(lambda: starts.drafts() == ["one", "two"])
    assert window.poll() is None


def test_of_two_starts_at_once_one_stays_and_both_files_are_there(starts: Starts) -> None:
    both = [starts.start(starts.file(name)) for name in ("one.csv", "two.csv")]
    until(lambda: starts.drafts() == ["one", "two"])
    until(lambda: sum(process.poll() is not None for process in both) == 1)
    (ended,) = [process for process in both if process.poll() is not None]
    assert ended.returncode == 0


def test_a_window_that_does_not_acknowledge_is_named(starts: Starts) -> None:
    window = starts.open_window()
    window.send_signal(signal.SIGSTOP)
    second = starts.start(starts.file("clouds.csv"))
    assert said(second) == (
        "CF Batch is open already, but its window does not answer, so “clouds.csv” was not opened. Try again later.\n"
    )
    window.send_signal(signal.SIGCONT)
    assert second.poll() is None, "its dialog is open"
    assert starts.start(starts.file("later.csv")).wait(_PATIENCE) == 0
    until(lambda: starts.drafts() == ["later"])


def test_a_program_that_is_no_window_keeps_the_lock(starts: Starts) -> None:
    starts.paths.create()
    lock = WriterLock(starts.paths.lock)
    assert said(starts.start(starts.file("clouds.csv"))).startswith(BUSY)
    lock.release()


def test_a_copy_of_the_folder_does_not_reach_the_window_of_the_original(starts: Starts) -> None:
    starts.open_window()
    copy = Starts(starts.home, starts.home / "copy", processes=starts.processes)
    copy.paths.create()
    shutil.copy(starts.paths.window_address, copy.paths.window_address)
    lock = WriterLock(copy.paths.lock)
    assert said(copy.start(starts.file("clouds.csv"))).startswith(BUSY)
    lock.release()
    assert starts.drafts() == []


@needs_root
def test_a_squatter_in_the_temporary_folder_holds_nothing_shut(starts: Starts) -> None:
    """Where earlier versions listened; everybody can know the name and make a socket there."""
    starts.home.chmod(0o1777)
    name = f"cfbatch-{hashlib.sha256(str(starts.data.resolve()).encode()).hexdigest()[:20]}"
    with squatter(starts.home / name, starts.home / "heard", user=NOBODY) as heard:
        starts.open_window(starts.file("clouds.csv"))
        until(lambda: starts.drafts() == ["clouds"])
        assert starts.start(starts.file("two.csv")).wait(_PATIENCE) == 0
        until(lambda: starts.drafts() == ["clouds", "two"])
        assert heard.read_bytes() == b""


@needs_root
@pytest.mark.parametrize("how", ["open folder", "own folder", "linked folder", "other process", "linked socket"])
def test_a_squatter_at_the_noted_place_hears_nothing(starts: Starts, how: str) -> None:
    """The note and the lock say that a window is open, and at its place somebody else listens."""
    starts.paths.create()
    lock = WriterLock(starts.paths.lock)
    folder = starts.home / "there"
    folder.mkdir(mode=0o700)
    address = folder / "socket"
    if how in ("open folder", "linked socket"):
        folder.chmod(0o1777)
    elif how in ("own folder", "linked folder"):
        os.chown(folder, NOBODY, NOBODY)
    noted = address
    if how == "linked folder":
        noted = starts.home / "link" / "socket"
        (starts.home / "link").symlink_to(folder)
    elif how == "linked socket":
        (starts.home / "private").mkdir(mode=0o700)
        noted = starts.home / "private" / "socket"
        noted.symlink_to(address)
    starts.paths.window_address.write_text(str(noted))
    starts.paths.window_address.chmod(0o600)
    first = "bind" if how == "other process" else "become"
    with squatter(address, starts.home / "heard", user=NOBODY, first=first) as heard:
        assert said(starts.start(starts.file("secret name.csv"))).startswith(BUSY)
        told = heard.read_bytes()
    assert b"secret" not in told
    assert told == b"" or how == "other process", "only that one has a socket that looks like ours"
    lock.release()


@needs_root
def test_a_note_of_somebody_else_is_not_followed(starts: Starts) -> None:
    starts.paths.create()
    lock = WriterLock(starts.paths.lock)
    folder = starts.home / "there"
    folder.mkdir(mode=0o700)
    starts.paths.window_address.write_text(str(folder / "socket"))
    os.chown(starts.paths.window_address, NOBODY, NOBODY)
    with squatter(folder / "socket", starts.home / "heard", user=0) as heard:
        assert said(starts.start(starts.file("secret name.csv"))).startswith(BUSY)
        assert heard.read_bytes() == b""
    lock.release()


def ask(address: str, request: bytes, *, user: int = 0) -> bytes:
    """What the window answers to a process of this user."""
    program = (
        "import os, socket, sys; os.setuid(int(sys.argv[2])) if int(sys.argv[2]) else None;"
        "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        "\ntry: s.sendall(sys.stdin.buffer.read()); sys.stdout.buffer.write(s.recv(100))"
        "\nexcept OSError: pass"
    )
    command = [sys.executable, "-c", program, address, str(user)]
    done = subprocess.run(command, input=request, capture_output=True, check=True, timeout=_PATIENCE)
    return done.stdout


@needs_root
def test_the_window_does_not_hear_another_user(starts: Starts) -> None:
    starts.open_window()
    address = Path(starts.address())
    request = {"root": str(starts.data.resolve()), "files": [str(starts.file("theirs.csv"))], "activation": ""}
    for path, mode in ((starts.data, 0o711), (address.parent, 0o711), (address, 0o666)):
        path.chmod(mode)  # as if the permissions had failed
    assert ask(str(address), json.dumps(request).encode() + b"\n", user=NOBODY) == b""
    assert ask(str(address), json.dumps(request | {"files": []}).encode() + b"\n") == b"taken\n"
    assert starts.drafts() == []


def test_nonsense_is_not_answered_and_harms_nothing(starts: Starts) -> None:
    starts.open_window()
    asked_before = {"root": str(starts.data.resolve()), "file": str(starts.file("before.csv"))}  # by an older version
    nonsense = (b"\n", b"{}\n", b"[]\n", b'{"root": 1}\n', b"\xff\xfe\n", b"null\n", b"x" * (LONGEST_REQUEST + 1))
    for request in (json.dumps(asked_before).encode() + b"\n", *nonsense):
        assert ask(starts.address(), request) == b""
    assert starts.start(starts.file("clouds.csv")).wait(_PATIENCE) == 0
    until(lambda: starts.drafts() == ["clouds"])
