"""Texts and ids that come again: found by sorting fingerprints, so that a million rows take megabytes."""

import sqlite3
from array import array

import numpy as np

_MOST_TO_COMPARE = 900  # texts in one question to the database


class Fingerprints:
    """Python's own 64-bit hashes, one for each thing in order. Good within one run of the program only."""

    def __init__(self) -> None:
        self._hashes = array("q")
        self.add = self._hashes.append
        self.extend = self._hashes.extend

    def count_repeated(self) -> int:
        """How many things seem to be the same as an earlier one."""
        return (
            int(np.count_nonzero(np.diff(np.sort(np.frombuffer(self._hashes, np.int64))) == 0)) if self._hashes else 0
        )

    def groups(self) -> list[list[int]]:
        """Numbers (from 1) of things that seem to be the same, two or more in a group, in order."""
        if not self.count_repeated():  # sorting without places is several times faster, and mostly enough
            return []
        hashes = np.frombuffer(self._hashes, dtype=np.int64)
        order = np.argsort(hashes, kind="stable")
        same = np.flatnonzero(np.diff(hashes[order]) == 0)
        runs = np.split(same, np.flatnonzero(np.diff(same) > 1) + 1)
        return [(order[run[0] : run[-1] + 2] + 1).tolist() for run in runs]


def store_repeats(database: sqlite3.Connection, fingerprints: Fingerprints) -> None:
    """Write which items have the same text (and query) as an earlier one. Equal means equal: the texts themselves are
    compared.
    """
    for group in fingerprints.groups():
        first_of: dict[tuple[object, ...], int] = {}
        for start in range(0, len(group), _MOST_TO_COMPARE):
            numbers = group[start : start + _MOST_TO_COMPARE]
            marks = ",".join("?" * len(numbers))
            found = database.execute(
                "SELECT i.item_no, i.query_no, t.text FROM items i JOIN texts t USING(text_no)"  # noqa: S608 - question marks only
                f" WHERE i.item_no IN ({marks}) ORDER BY i.item_no",
                numbers,
            ).fetchall()
            pairs = [(number, first_of.setdefault((query, text), number)) for number, query, text in found]
            again = [(number, first) for number, first in pairs if number != first]
            database.executemany("INSERT INTO repeats VALUES(?, ?)", again)
