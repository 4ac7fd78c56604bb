"""No copy of this process's memory, in which there is a token, is written to a disk or read by other processes."""

import sys
from contextlib import suppress

_PR_SET_DUMPABLE = 4  # linux/prctl.h


def forbid_core_dumps() -> None:
    """To be called before a token is read. Where the system has no such switch, nothing happens.

    The limit is the soft one, so that a program that is started from here can lift it again. On Linux the process also
    becomes "not dumpable", because a core dump that is piped to a program heeds no limit: other processes of this user
    can no longer attach to it or read its memory, its environment and its open files in /proc, but those that trace it
    already go on to. A program that is started from here can be dumped as ever. See prctl(2), core(5).
    """
    if sys.platform == "win32":
        return
    import resource

    with suppress(OSError, ValueError):
        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
