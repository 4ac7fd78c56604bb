"""Giving a file its name, and removing one, where another program may have it open for a moment.

Windows refuses both while a handle is open on the file that was not opened for sharing, and programs that look for
viruses or build an index open each new file. Such a handle is gone after some hundredths of a second.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

PAUSES: Final = (0.01, 0.02, 0.04, 0.1, 0.2, 0.4)  # seconds; after these the file is said to be in use
_IS_PATIENT: Final = sys.platform == "win32"  # elsewhere the same error means that a right is missing


def move_file(
    source: Path,
    target: Path,
    *,
    replace: Callable[[Path, Path], object] = lambda source, target: source.replace(target),
    sleep: Callable[[float], object] = time.sleep,
    is_patient: bool = _IS_PATIENT,
) -> None:
    """Give a file or a folder the name `target`, in place of a file that has it. Raises OSError."""
    _persistently(lambda: replace(source, target), sleep, is_patient=is_patient)


def remove_file(
    path: Path,
    *,
    remove: Callable[[Path], object] = lambda path: path.unlink(),
    sleep: Callable[[float], object] = time.sleep,
    is_patient: bool = _IS_PATIENT,
) -> None:
    """Remove a file; one that is not there is no error. Raises OSError."""
    try:
        _persistently(lambda: remove(path), sleep, is_patient=is_patient)
    except FileNotFoundError:
        return


def _persistently(act: Callable[[], object], sleep: Callable[[float], object], *, is_patient: bool) -> None:
    for pause in PAUSES if is_patient else ():
        try:
            act()
        except PermissionError:
            sleep(pause)
        else:
            return
    act()
