"""An exclusive lock on an open file. The operating system releases it when the process ends, after a crash too."""

import errno
import sys

# What the systems say of a file that another process has locked. Everything else is a failure of the lock itself:
# ENOLCK, EOPNOTSUPP, ENOSYS and EINVAL are those of file systems that have no locks (some mounts of NFS, SMB and FUSE).
_HELD = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK, getattr(errno, "EDEADLOCK", -1)})
_WITHOUT_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})

if sys.platform == "win32":
    import msvcrt

    def take_lock(descriptor: int) -> None:
        """Lock an open file for this process, without waiting. Raises OSError; `is_held_elsewhere` tells which."""
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
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
