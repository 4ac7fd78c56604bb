"""Writing files so that each is either complete or absent, also after a crash or a power failure; locks on files."""

import errno
import hashlib
import os
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from cfbatch_gui.core.errors import DataError, DiskFull, ExportError, InputError
from cfbatch_gui.core.messages import message

OWN_FILE: Final = 0o600
OWN_FOLDER: Final = 0o700
PART_PREFIX = ".cfbatch-"
_FOLDER_PREFIX = "cfbatch-"
_OURS = (PART_PREFIX, _FOLDER_PREFIX, "data.new.db")  # only files whose names begin with this are ever removed
_END = b"\0"
_AS_BYTES = getattr(os, "O_BINARY", 0)  # on Windows; without it a line feed would become two characters
# Seconds to wait for another program that has a file open: Windows refuses to move and to remove such a file, and
# programs that look for viruses or build an index open each new one. Elsewhere the same error is a missing right.
_PAUSES: Final = (0.01, 0.02, 0.04, 0.1, 0.2, 0.4) if sys.platform == "win32" else ()
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# Errors of file systems that cannot flush a folder. The file itself has been flushed by then.
_FOLDER_NOT_FLUSHED = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM})
_REASONS = {
    errno.ENOENT: message("folder_does_not_exist"),
    errno.ENOTDIR: message("folder_is_not_folder"),
    errno.EISDIR: message("there_is_folder_name"),
    errno.EACCES: message("user_may_not_write_there_or"),
    errno.EPERM: message("user_may_not_write_there"),
    errno.EROFS: message("disk_is_read_only"),
    errno.ENAMETOOLONG: message("name_is_too_long"),
    errno.EIO: message("disk_reported_error"),
    errno.EINVAL: message("name_is_not_allowed_there"),
}


def own_opener(path: str, flags: int) -> int:
    """For `open()`: a file that this makes can be read by this user only, whatever the umask is."""
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), OWN_FILE)


def create_own_file(path: Path) -> None:
    """Make an empty file for this user only, for libraries that open by name.

    One that is there is not opened: closing it would end SQLite's locks.
    """
    with suppress(OSError):
        os.close(own_opener(str(path), os.O_RDWR | os.O_CREAT | os.O_EXCL))


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file's content by `data`, completely or not at all. Raises DiskFull and ExportError."""
    with atomic_writer(path) as stream:
        stream.write(data)


def write_own_file(path: Path, data: bytes) -> None:
    """Replace a file in the program's own folder, readable by this user only. Raises DiskFull and DataError."""
    with own_errors(path), atomic_writer(path, private=True) as stream:
        stream.write(data)


def flush_to_disk(path: Path) -> None:
    """Return when the file's bytes are on the disk. Raises DiskFull and DataError."""
    with own_errors(path), path.open("r+b") as stream:
        os.fsync(stream.fileno())


def flush_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk. Raises DiskFull and DataError."""
    with own_errors(folder):
        _flush_folder(folder)


@contextmanager
def own_errors(path: Path) -> Iterator[None]:
    """About a file of the program's own. Raises DiskFull and DataError for an OSError or an ExportError."""
    try:
        yield
    except (OSError, ExportError) as error:
        failure = error if isinstance(error, ExportError) else _failure(path, error)
        if isinstance(failure, DiskFull):
            raise failure from error
        words = message("name_could_not_be_written_program", name=path.name)
        raise DataError(words, detail=failure.detail) from error


@contextmanager
def atomic_writer(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """A stream that becomes the file `path` when the block ends; nothing changes when it raises.

    Links and an older file's permissions stay; a `private` file is this user's only. Raises DiskFull and ExportError.
    """
    target = _target(path)
    with _unfinished(path, target) as part:
        if private:
            create_own_file(part)
        with part.open("w+b" if private else "x+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if not private and sys.platform != "win32":  # a file there that is marked as read-only could not be removed
            with suppress(FileNotFoundError):
                part.chmod(stat.S_IMODE(target.stat().st_mode))
        move_file(part, target)
        _flush_folder(target.parent)


@contextmanager
def atomic_folder(path: Path, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """A new folder that becomes `path` when the block ends.

    An existing one may hold only what `is_ours` (relative path); that is replaced or removed. The caller flushes the
    files. Raises DiskFull and ExportError.
    """
    target = Path(os.path.realpath(path))
    _check_folder(path, target, is_ours)
    with _unfinished(path, target) as part:
        part.mkdir()
        yield part
        _move_into(part, target)


@contextmanager
def _unfinished(path: Path, target: Path) -> Iterator[Path]:
    """A name beside `target` for what becomes it; what still has it in the end is removed. Errors are about `path`."""
    part = target.with_name(f"{PART_PREFIX}{secrets.token_hex(8)}.part")
    list_unfinished(part)
    try:
        yield part
    except OSError as error:
        # Those of writing to an open file have no filename; those of files that the caller opened have another one.
        if error.filename is None or str(error.filename).startswith((str(part), str(target))):
            raise _failure(path, error) from error
        raise
    finally:
        with suppress(OSError):
            shutil.rmtree(part, ignore_errors=True) if part.is_dir() else remove_file(part)


def _check_folder(path: Path, target: Path, is_ours: Callable[[str], bool]) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise ExportError(message("name_is_file_format_writes_folder", name=path.name))
    others = [found for found in target.rglob("*") if not found.is_dir() or found.is_symlink()]
    if any(not is_ours(found.relative_to(target).as_posix()) for found in others):
        raise ExportError(message("folder_name_holds_other_things_would", name=path.name))


def _move_into(part: Path, target: Path) -> None:
    new = {found.relative_to(part) for found in part.rglob("*") if found.is_file()}
    old = {found.relative_to(target) for found in target.rglob("*") if found.is_file()}
    _flush_folders(part)  # the names of the new files, before the folder has its own
    if not old:
        if target.exists():
            shutil.rmtree(target)
        move_file(part, target)
        _flush_folder(target.parent)
        return
    for name in sorted(new):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        move_file(part / name, target / name)
    for name in old - new:
        remove_file(target / name)
    _flush_folders(target)


def _flush_folders(folder: Path) -> None:
    for each in (*folder.rglob("*"), folder):
        if each.is_dir():
            _flush_folder(each)


def append_line_durably(path: Path, line: bytes) -> None:
    """Append a line and flush it; a torn last line is ended first. Raises DiskFull and DataError."""
    is_new = not path.exists()
    with own_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _AS_BYTES, OWN_FILE)
        try:
            _append(descriptor, line.rstrip(b"\n") + b"\n")
        finally:
            os.close(descriptor)
        if is_new:
            _flush_folder(path.parent)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal. Raises InputError."""
    try:
        with path.open("rb", buffering=0) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            message("name_could_not_be_read", name=path.name), detail=f"{path}: {error.strerror}"
        ) from error


def _target(path: Path) -> Path:
    """The path to replace, with symbolic links resolved. A device or a pipe must not be replaced by a file."""
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    except OSError as error:
        raise _failure(path, error) from error
    if stat.S_ISDIR(mode):
        raise _failure(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    if not stat.S_ISREG(mode):
        raise ExportError(message("name_could_not_be_written_is", name=path.name), detail=str(path))
    return target


def _append(descriptor: int, line: bytes) -> None:
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if size:
        os.lseek(descriptor, size - 1, os.SEEK_SET)
        if os.read(descriptor, 1) != b"\n":
            line = b"\n" + line
    try:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _flush_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _FOLDER_NOT_FLUSHED:
            raise


def _failure(path: Path, error: OSError) -> DiskFull | ExportError:
    """The UserError for an OSError: DiskFull for a full disk or quota, else ExportError with the reason."""
    detail = f"{path}: {error.strerror or error} ({errno.errorcode.get(error.errno or 0, error.errno)})"
    if error.errno in FULL:
        return DiskFull(message("disk_is_full_name_was_not", name=path.name), detail=detail)
    reason = _REASONS.get(error.errno or 0, message("system_refused"))
    return ExportError(message("name_could_not_be_written_reason", name=path.name, reason=reason), detail=detail)


def move_file(source: Path, target: Path) -> None:
    """Give a file or a folder the name `target`, in place of a file that has it. Raises OSError."""
    _persistently(lambda: source.replace(target))


def remove_file(path: Path) -> None:
    """Remove a file; one that is not there is no error. Raises OSError."""
    with suppress(FileNotFoundError):
        _persistently(path.unlink)


def _persistently(act: Callable[[], object], pauses: Sequence[float] = _PAUSES) -> None:
    """Try again after each pause, in seconds, what another program may prevent."""
    for pause in pauses:
        try:
            act()
        except PermissionError:
            time.sleep(pause)
        else:
            return
    act()


def keep_aside(path: Path) -> str:
    """Rename a damaged “settings.json” to “settings.damaged-” and the time; its name then, "" where it has to stay."""
    aside = path.with_name(f"{path.stem}.damaged-{int(time.time())}{path.suffix}")
    try:
        move_file(path, aside)
    except OSError:
        return ""
    return aside.name


# Locks on open files. The operating system releases them when the process ends, after a crash too.

# What the systems say of a file that another process has locked. Everything else is a failure of the lock itself:
# ENOLCK, EOPNOTSUPP, ENOSYS and EINVAL are those of file systems that have no locks (some mounts of NFS, SMB and FUSE).
HELD = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK, getattr(errno, "EDEADLOCK", -1)})
WITHOUT_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


def take_lock(descriptor: int) -> None:
    """Lock an open file for this process, without waiting. Raises OSError."""
    if sys.platform == "win32":
        import msvcrt

        # Windows refuses every other handle the bytes that are locked, so it is one far behind the content.
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, 0x3FFF_FFFF, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


# A list of what this process writes, so that the next start can remove what a crash left behind: an export can be
# anywhere on the disk. It is a locked file in the data folder: one that is not locked is of a process that has ended.

_lists: list[tuple[Path, int]] = []  # with their descriptors; the last one is used, of two programs in a process


def keep_list(folder: Path) -> None:
    """Keep a list in this folder from now on, and remove what ended processes were writing.

    There is none on a file system without locks, on which no start could tell whose it is.
    """
    with suppress(OSError):
        folder.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
        for path in list(folder.iterdir()):
            _clear(path)
        path = folder / secrets.token_hex(8)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | _AS_BYTES, OWN_FILE)
        try:
            take_lock(descriptor)
        except OSError:
            os.close(descriptor)
            path.unlink()
            raise
        _lists.append((path, descriptor))


def end_list(folder: Path) -> None:
    """Remove the list, and what a thread is still at."""
    for path, descriptor in [each for each in _lists if each[0].parent == folder]:
        _lists.remove((path, descriptor))
        os.close(descriptor)
        _remove_listed(path)


@contextmanager
def listing(folder: Path) -> Iterator[None]:
    """A context manager that calls `keep_list` and `end_list`."""
    keep_list(folder)
    try:
        yield
    finally:
        end_list(folder)


def list_unfinished(*paths: Path) -> None:
    """Put files or folders on the list before they are made. They stay on it when they have their final names."""
    if _lists:
        with suppress(OSError):
            os.write(_lists[-1][1], b"".join(os.fsencode(path.absolute()) + _END for path in paths))


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder in the system's temporary folder, removed after the block, or at the next start."""
    import tempfile  # takes a while, and is seldom needed

    folder = Path(tempfile.gettempdir()) / f"{_FOLDER_PREFIX}{secrets.token_hex(8)}"
    list_unfinished(folder)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _clear(path: Path) -> None:
    """Remove what is listed, and the list, unless its process still runs, which the lock shows."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | _AS_BYTES)
        try:
            take_lock(descriptor)
        finally:
            os.close(descriptor)
        _remove_listed(path)


def _remove_listed(of_list: Path) -> None:
    with suppress(OSError):
        for name in of_list.read_bytes().split(_END)[:-1]:  # less a last name that a crash cut short
            path = Path(os.fsdecode(name))
            if path.name.startswith(_OURS) and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name.startswith(_OURS):
                path.unlink(missing_ok=True)
        of_list.unlink()
