"""Writing files so that each is either complete or absent, also after a crash or a power failure."""

import errno
import hashlib
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from cfbatch_gui.core.errors import DataError, DiskFull, ExportError, InputError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.moving import move_file, remove_file
from cfbatch_gui.core.system.unfinished import PART_PREFIX, noted

OWN_FILE: Final = 0o600
OWN_FOLDER: Final = 0o700
_HASHED_AT_ONCE = 1024 * 1024  # bytes
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# Errors of file systems that cannot flush a folder. The file itself has been flushed by then.
_FOLDER_NOT_FLUSHED = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM})
_REASONS = {
    errno.ENOENT: message("its folder does not exist"),
    errno.ENOTDIR: message("its folder is not a folder"),
    errno.EISDIR: message("there is a folder of that name"),
    errno.EACCES: message("this user may not write there, or another program has it open"),
    errno.EPERM: message("this user may not write there"),
    errno.EROFS: message("the disk is read-only"),
    errno.ENAMETOOLONG: message("its name is too long"),
    errno.EIO: message("the disk reported an error"),
    errno.EINVAL: message("its name is not allowed there"),
}


def own_opener(path: str, flags: int) -> int:
    """For `open()`: a file that this makes can be read by this user only, whatever the umask is."""
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), OWN_FILE)


def create_own_file(path: Path) -> None:
    """Make an empty file that only this user can read, unless there is one; for libraries that open by name.

    SQLite gives a database's journals its permissions. A file that is there is not opened: closing it would end the
    locks that SQLite has on it in this process. An error is left to whoever opens the file.
    """
    with suppress(OSError):
        os.close(own_opener(str(path), os.O_RDWR | os.O_CREAT | os.O_EXCL))


def make_own_folder(path: Path) -> None:
    """Make a folder that only this user can enter, with those above it that are missing. Raises OSError."""
    for folder in reversed([each for each in (path, *path.parents) if not each.exists()]):
        folder.mkdir(mode=OWN_FOLDER, exist_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file's content by `data`, completely or not at all. Raises DiskFull and ExportError."""
    with atomic_writer(path) as stream:
        stream.write(data)


def write_own_file(path: Path, data: bytes) -> None:
    """`own_file_writer` with the whole content. Raises DiskFull and DataError."""
    with own_file_writer(path) as stream:
        stream.write(data)


def write_own_bytes(path: Path, data: bytes, start: int, *, is_flushed: bool) -> None:
    """Write bytes into a file at `start`, and cut off what is behind them; a file that is not there is made.

    When `is_flushed`, they are on the disk when this returns. Raises DiskFull and DataError.
    """
    try:
        if not path.exists():
            create_own_file(path)
        with path.open("r+b") as stream:
            stream.seek(start)
            stream.write(data)
            stream.truncate()
            stream.flush()
            if is_flushed:
                os.fsync(stream.fileno())
    except OSError as error:
        raise _own_failure(path, error) from error


def flush_to_disk(path: Path) -> None:
    """Return when the file's bytes are on the disk. Raises DiskFull and DataError."""
    try:
        with path.open("r+b") as stream:
            os.fsync(stream.fileno())
    except OSError as error:
        raise _failure(path, error) from error


def flush_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk. Raises DiskFull and DataError."""
    try:
        _flush_folder(folder)
    except OSError as error:
        raise _own_failure(folder, error) from error


def move_own_file(path: Path, target: Path) -> None:
    """Give a file that is closed its name, in place of one that may have it; the caller flushes the folder.

    Raises DiskFull and DataError.
    """
    try:
        move_file(path, target)
    except OSError as error:
        raise _own_failure(target, error) from error


def remove_own_file(path: Path) -> None:
    """Remove a file; one that is not there is no error. Raises DataError, for example while a program has it open."""
    try:
        remove_file(path)
    except OSError as error:
        raise DataError(
            message(
                "“{name}” in the program's own folder could not be removed: another program may have it open, or a"
                " permission is missing there. Close that program, and try again.",
                name=path.name,
            ),
            detail=f"{path}: {error.strerror}",
        ) from error


@contextmanager
def own_file_writer(path: Path, *, buffering: int = -1) -> Iterator[BinaryIO]:
    """`atomic_writer` for a file in the program's own folder, readable by this user only.

    Raises DiskFull and DataError.
    """
    try:
        with atomic_writer(path, buffering=buffering, private=True) as stream:
            yield stream
    except ExportError as error:
        raise DataError(
            message(
                "“{name}” could not be written in the program's own folder. Is the disk read-only, or is a "
                "permission missing there? Nothing was lost; carry on once that is mended.",
                name=path.name,
            ),
            detail=error.detail,
        ) from error


@contextmanager
def atomic_writer(path: Path, *, buffering: int = -1, private: bool = False) -> Iterator[BinaryIO]:
    """A binary stream whose content becomes the file `path` when the block ends; nothing changes when it raises.

    The bytes are written to a hidden ".part" file in the target's folder, which replaces the target after it was
    flushed to the disk. The stream can seek and be read. A symbolic link is kept, and so are an older file's
    permissions; a new file has those of the umask. A `private` file can be read by this user only, also when an older
    one had wider permissions. `buffering` is as of open(): with a large buffer, what is read back may not come from
    the disk.
    Raises DiskFull and ExportError.
    """
    target = _target(path)
    part = target.with_name(f"{PART_PREFIX}{secrets.token_hex(8)}.part")
    with noted(part), _replacing(path, target, part, buffering, private=private) as stream:
        yield stream


@contextmanager
def _replacing(path: Path, target: Path, part: Path, buffering: int, *, private: bool) -> Iterator[BinaryIO]:
    try:
        if private:
            create_own_file(part)
        stream = part.open("w+b" if private else "x+b", buffering)
    except OSError as error:
        raise _failure(path, error) from error
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if not private and sys.platform != "win32":  # a file there that is marked as read-only could not be removed
            with suppress(FileNotFoundError):
                part.chmod(stat.S_IMODE(target.stat().st_mode))
        move_file(part, target)
        _flush_folder(target.parent)
    except OSError as error:
        # Errors of files that the caller opened have a filename; errors of writing to this stream have none, and
        # those of replacing the target have the part's.
        if error.filename in (None, str(part), str(target)):
            raise _failure(path, error) from error
        raise
    finally:
        with suppress(OSError):
            remove_file(part)


@contextmanager
def atomic_folder(path: Path, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """A new folder that becomes the folder `path` when the block ends, and is removed when it raises.

    An existing folder may hold only files for which `is_ours` is true (called with the path relative to the folder,
    with "/"): each is then replaced atomically, and those that were not written again are removed. The caller flushes
    the files to the disk. Raises DiskFull and ExportError.
    """
    target = Path(os.path.realpath(path))
    _check_folder(path, target, is_ours)
    part = target.with_name(f"{PART_PREFIX}{secrets.token_hex(8)}.part")
    with noted(part):
        try:
            part.mkdir()
            yield part
            _move_into(part, target)
        except OSError as error:
            if error.filename is None or str(error.filename).startswith((str(part), str(target))):
                raise _failure(path, error) from error
            raise
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _check_folder(path: Path, target: Path, is_ours: Callable[[str], bool]) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise ExportError(
            message("“{name}” is a file, and this format writes a folder. Choose another name.", name=path.name)
        )
    others = [found for found in target.rglob("*") if not found.is_dir() or found.is_symlink()]
    if any(not is_ours(found.relative_to(target).as_posix()) for found in others):
        raise ExportError(
            message(
                "The folder “{name}” holds other things, which would stand between the files of this format. "
                "Nothing was written. Choose a new folder, or an empty one.",
                name=path.name,
            ),
        )


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
    """Flush a folder and those in it."""
    for each in (*folder.rglob("*"), folder):
        if each.is_dir():
            _flush_folder(each)


def append_line_durably(path: Path, line: bytes) -> None:
    """Append a line to a file of lines and flush it to the disk.

    A last line that a crash cut short is ended first. A line that could be written only in part is removed again.
    Raises DiskFull and DataError.
    """
    is_new = not path.exists()
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), OWN_FILE)
        try:
            _append(descriptor, line.rstrip(b"\n") + b"\n")
        finally:
            os.close(descriptor)
        if is_new:
            _flush_folder(path.parent)
    except OSError as error:
        raise _own_failure(path, error) from error


def sha256_of(path: Path, tick: Callable[[], None] = lambda: None) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal. Raises InputError.

    `tick` is called after each megabyte and may raise to stop the reading.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as stream:
            while data := stream.read(_HASHED_AT_ONCE):
                digest.update(data)
                tick()
        return digest.hexdigest()
    except OSError as error:
        raise InputError(
            message("“{name}” could not be read.", name=path.name), detail=f"{path}: {error.strerror}"
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
        raise ExportError(
            message("“{name}” could not be written: it is not an ordinary file.", name=path.name), detail=str(path)
        )
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
    """Flush the folder, so that a new name in it survives a power failure."""
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


def _own_failure(path: Path, error: OSError) -> DataError:
    failure = _failure(path, error)
    return failure if isinstance(failure, DiskFull) else DataError(failure.message, detail=failure.detail)


def _failure(path: Path, error: OSError) -> DiskFull | ExportError:
    """The UserError for an OSError: DiskFull for a full disk or quota, else ExportError with the reason."""
    detail = f"{path}: {error.strerror or error} ({errno.errorcode.get(error.errno or 0, error.errno)})"
    if error.errno in _FULL:
        return DiskFull(
            message(
                "The disk is full: “{name}” was not written. What was there before is intact; free some space and "
                "try again.",
                name=path.name,
            ),
            detail=detail,
        )
    reason = _REASONS.get(error.errno or 0, message("the system refused"))
    return ExportError(
        message("“{name}” could not be written: {reason}. Choose another place.", name=path.name, reason=reason),
        detail=detail,
    )
