"""Lists of files that are being written, so that the next start can remove those that a crash left behind.

An export can be anywhere on the disk, so its unfinished file could not be found without a list. Each process has its
own list in the data folder and keeps it locked: a list that is not locked belongs to a process that has ended.
"""

import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cfbatch_gui.core.system.file_locks import take_lock

PART_PREFIX = ".cfbatch-"
FOLDER_PREFIX = "cfbatch-"
_OURS = (PART_PREFIX, FOLDER_PREFIX, "data.new.db")  # only files whose names begin with this are ever removed
_END = b"\0"
_AS_BYTES = getattr(os, "O_BINARY", 0)  # on Windows; without it a line feed would become two characters


class _List:
    def __init__(self, folder: Path) -> None:
        self.path = folder / secrets.token_hex(8)
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | _AS_BYTES, 0o600)
        try:
            take_lock(self._descriptor)
        except OSError:  # a file system without locks, on which no start could tell whose list it is
            os.close(self._descriptor)
            self.path.unlink()
            raise
        self._names = 0
        self._guard = threading.Lock()

    def add(self, path: Path) -> None:
        with self._guard, suppress(OSError):
            self._names += 1
            os.write(self._descriptor, os.fsencode(path) + _END)

    def take_off(self) -> None:
        with self._guard, suppress(OSError):
            self._names -= 1
            if not self._names:
                os.ftruncate(self._descriptor, 0)

    def close(self) -> None:
        with self._guard, suppress(OSError):
            os.close(self._descriptor)
            if not self._names:
                self.path.unlink()


_lists: list[_List] = []  # the last one is used; more than one while a process has two programs open


def keep_list(folder: Path) -> None:
    """Create this process's list in a folder, and remove the files on the lists of ended processes.

    A folder that is not writable is no error: the worst consequence is a hidden file left behind by a crash.
    """
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in list(folder.iterdir()):
            _clear(path)
        _lists.append(_List(folder))


def end_list(folder: Path) -> None:
    """Close and remove this process's list in a folder."""
    for found in [each for each in _lists if each.path.parent == folder]:
        _lists.remove(found)
        found.close()


@contextmanager
def listing(folder: Path) -> Iterator[None]:
    """A context manager that calls `keep_list` and `end_list`."""
    keep_list(folder)
    try:
        yield
    finally:
        end_list(folder)


@contextmanager
def noted(*paths: Path) -> Iterator[None]:
    """List these files or folders as unfinished within the block. The caller removes them if the block fails."""
    kept = _lists[-1] if _lists else None
    if kept is not None:
        for path in paths:
            kept.add(path.absolute())
    try:
        yield
    finally:
        if kept is not None:
            for _ in paths:
                kept.take_off()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder in the system's temporary folder, removed after the block, or at the next start."""
    folder = Path(tempfile.gettempdir()) / f"{FOLDER_PREFIX}{secrets.token_hex(8)}"
    with noted(folder):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _clear(path: Path) -> None:
    """Remove the files on a list, and the list, unless its process still runs, which the lock shows."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | _AS_BYTES)
        try:
            take_lock(descriptor)
            names = path.read_bytes().split(_END)[:-1]  # less a last name that a crash cut short
        finally:
            os.close(descriptor)
        for name in names:
            _remove(Path(os.fsdecode(name)))
        path.unlink()


def _remove(path: Path) -> None:
    if not path.name.startswith(_OURS):
        return
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
