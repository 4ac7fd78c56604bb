"""The vectors of a job held against their checksums, each once: what was found right is not looked at again."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.job_folder.checksums import UNKNOWN, Summed, Sums, read_sums, results_damaged, vector_checksums
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import data_version

_AT_ONCE = 512  # rows; 2 MB of vectors of 1,024 numbers, which the processor's cache holds


class CheckedVectors:
    """Knows which rows have been found right; a vector without a checksum passes."""

    def __init__(self, folder: JobFolder, count: int) -> None:
        self._folder, self._count = folder, count
        self._version: tuple[bytes, int] = (b"", 0)
        self._sums: Sums = np.empty(0, np.uint64)
        self._is_right = np.empty(0, np.bool_)

    def check(self, block: NDArray[np.float32], start: int) -> None:
        """`block` is the rows from index `start` on. Raises ResultsDamaged, which names the damaged ones."""
        self._load()
        wanted = slice(start, start + len(block))
        if self._is_right[wanted].all():
            return
        damaged: list[int] = []
        for first in range(0, len(block), _AT_ONCE):
            rows = slice(start + first, min(start + first + _AT_ONCE, start + len(block)))
            if not self._is_right[rows].all():
                found = vector_checksums(block[first : first + _AT_ONCE])
                damaged += self._mark(np.arange(rows.start, rows.stop), found)
        self._raise(damaged)

    def check_some(self, vectors: NDArray[np.float32], item_numbers: NDArray[np.int64]) -> None:
        """The same for the vectors of these items, in any order."""
        self._load()
        unknown = np.flatnonzero(~self._is_right[item_numbers - 1])
        if len(unknown):
            self._raise(self._mark(item_numbers[unknown] - 1, vector_checksums(vectors[unknown])))

    def _mark(self, indices: NDArray[np.int64], found: Sums) -> list[int]:
        is_right = found == self._sums[indices]
        self._is_right[indices] |= is_right
        wrong = indices[~is_right & ~self._is_right[indices]]
        return [int(index) + 1 for index in wrong]

    def _load(self) -> None:
        """The checksums of this moment. What has another one than before is looked at again, and so is a new file."""
        version = data_version(self._folder.data), _file_number(self._folder.vectors)
        if version == self._version:
            return
        with self._folder.open(read_only=True) as database:
            sums = read_sums(database, Summed.VECTORS, 1, self._count)
        is_right = sums == UNKNOWN
        if len(self._sums) and version[1] == self._version[1]:
            is_right |= self._is_right & (sums == self._sums)
        self._version, self._sums, self._is_right = version, sums, is_right

    def _raise(self, damaged: list[int]) -> None:
        if damaged:
            with self._folder.open(read_only=True) as database:
                raise results_damaged("vectors", database, self._folder.path, damaged)


def _file_number(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0
