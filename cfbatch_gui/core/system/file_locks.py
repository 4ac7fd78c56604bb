"""A lock on an open file, which the operating system releases when the process ends in any way."""

import sys

if sys.platform == "win32":
    import msvcrt

    def take_lock(descriptor: int) -> None:
        """Lock an open file for this process. Raises OSError when another holds it."""
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def take_lock(descriptor: int) -> None:
        """Lock an open file for this process. Raises OSError when another holds it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
