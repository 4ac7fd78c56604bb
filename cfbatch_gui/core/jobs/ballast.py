"""Half a megabyte that is given up when the disk is full: enough to write down what must not be lost.

On a full disk even changing a row fails, because SQLite needs room for its journal.
"""

from contextlib import suppress
from pathlib import Path

SIZE = 512 * 1024  # bytes


class Ballast:
    """A file of no use but its size."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take_in(self) -> None:
        """Make the file if it is not there; without room for it the program works all the same."""
        with suppress(OSError):
            if not self._path.exists() or self._path.stat().st_size < SIZE:
                self._path.write_bytes(bytes(SIZE))

    def give_up(self) -> bool:
        """Make room. False when there was none to give."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True
