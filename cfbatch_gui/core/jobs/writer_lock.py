"""One process writes a data folder; the operating system sees to it, also after a crash."""

import os
from pathlib import Path

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.file_locks import take_lock


class WriterLock:
    """Held from construction until `release` or the end of the process. Raises DataError when another holds it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            take_lock(self._file)
        except OSError as error:
            os.close(self._file)
            raise DataError(
                "CF Batch is already at work with this data. Use the window that is open, or close it first.",
                detail=str(path),
            ) from error

    def release(self) -> None:
        """Let another process in."""
        os.close(self._file)
