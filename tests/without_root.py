"""Start a program for which permissions mean something, also if root starts it: `without_root.py PROGRAM …`."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

COMMAND: Final = (sys.executable, str(Path(__file__)))
_DROP_FROM_BOUNDING_SET = 24  # of prctl
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2  # the rights of root to read and to search everything
_FAILED = 3


def is_possible() -> bool:
    """Whether permissions mean something to a program that is started so."""
    if sys.platform == "win32":
        return False
    return subprocess.run([*COMMAND, sys.executable, "-c", ""], check=False).returncode == 0


def main() -> None:
    """Give the rights up and become the program."""
    if os.geteuid() == 0:
        library = ctypes.CDLL(None)
        if sys.platform != "linux" or any(
            library.prctl(_DROP_FROM_BOUNDING_SET, right, 0, 0, 0) for right in (_DAC_OVERRIDE, _DAC_READ_SEARCH)
        ):
            sys.exit(_FAILED)
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
