"""An exclusive lock on an open file. The operating system releases it when the process ends, after a crash too."""

import sys

if sys.platform == "win32":
    import msvcrt

    def take_lock(descriptor: int) -> None:
        """Lock an open file for this process, without waiting. Raises OSError when another process has locked it."""
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def take_lock(descriptor: int) -> None:
        """Lock an open file for this process, without waiting. Raises OSError when another process has locked it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
