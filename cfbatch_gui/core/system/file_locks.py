"""An exclusive lock on an open file. The operating system releases it when the process ends, after a crash too."""

import errno
import os
import sys
from collections.abc import Callable

# What the systems say of a file that another process has locked. Everything else is a failure of the lock itself:
# ENOLCK, EOPNOTSUPP, ENOSYS and EINVAL are those of file systems that have no locks (some mounts of NFS, SMB and FUSE).
_HELD = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK, getattr(errno, "EDEADLOCK", -1)})
_WITHOUT_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})

# Where the locked byte is: far behind the content. Windows refuses every other handle, also one of this process, the
# bytes that are locked; a byte that is not there can be locked too, and SQLite does the same.
LOCKED_BYTE = 0x3FFF_FFFF


def lock_byte(descriptor: int, lock: Callable[[int], object]) -> None:
    """Call `lock` while the file's position is `LOCKED_BYTE`, then put the position back. Raises what it raises."""
    before = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
    try:
        lock(descriptor)
    finally:
        os.lseek(descriptor, before, os.SEEK_SET)


if sys.platform == "win32":
    import msvcrt

    def take_lock(descriptor: int) -> None:
        """Lock an open file for this process, without waiting. Raises OSError; `is_held_elsewhere` tells which."""
        lock_byte(descriptor, lambda file: msvcrt.locking(file, msvcrt.LK_NBLCK, 1))
else:
    import fcntl

    def take_lock(descriptor: int) -> None:
        """Lock an open file for this process, without waiting. Raises OSError; `is_held_elsewhere` tells which."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_held_elsewhere(error: OSError) -> bool:
    """Whether `take_lock` failed because another process has locked the file."""
    return error.errno in _HELD


def is_unsupported(error: OSError) -> bool:
    """Whether `take_lock` failed because the file system has no locks."""
    return error.errno in _WITHOUT_LOCKS
