"""Judgements as rows of fixed size with a checksum, and which of them count."""

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.judgements.values import Source

RECORD = np.dtype(
    [
        ("query", "<i4"),  # numbers of the book's subjects
        ("document", "<i4"),
        ("judge", "<i2"),  # the number of the book's judge
        ("source", "u1"),
        ("flags", "u1"),
        ("grade", "<i4"),
        ("time", "<i8"),  # milliseconds since 1970
        ("checksum", "<u8"),
    ]
)
AGAIN, TAKEN_BACK, CANNOT_TELL = 1, 2, 4  # flags
_FIELDS = 24  # bytes of a record before its checksum
_ODD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xFF51AFD7ED558CCD)

Records = NDArray[np.void]
Numbers = NDArray[np.int64]


def checksums(numbers: Numbers, records: Records) -> NDArray[np.uint64]:
    """The checksum of each record with this number, (n,): of its fields and its number, so that none moves unseen."""
    words = np.frombuffer(records.tobytes(), np.uint64).reshape(-1, RECORD.itemsize // 8)
    mixed = numbers.astype(np.uint64) * np.uint64(_ODD[0])
    for index in range(_FIELDS // 8):
        mixed ^= words[:, index]
        mixed *= np.uint64(_ODD[index + 1])
        mixed ^= mixed >> np.uint64(29)
    return mixed


def newest(records: Records) -> Records:
    """The judgements that count, of records in the order in which they were made: the newest of each judge for each
    pair, unless it was taken back. In the order of their pairs.

    That a label says the same in two jobs' files, or something else in a later one, does not make two judges.
    """
    if not len(records):
        return records
    made = np.arange(len(records))
    order = np.lexsort((made, records["judge"], records["document"], records["query"]))
    ordered = records[order]
    last = np.ones(len(ordered), dtype=np.bool_)
    last[:-1] = _starts(ordered, ("query", "document", "judge"))[1:]
    return np.asarray(ordered[last & (ordered["flags"] & TAKEN_BACK == 0)])


def verdicts(counting: Records) -> tuple[Records, NDArray[np.bool_]]:
    """One record for each pair that has a grade, of the judgements that count, and whether its judges disagree.

    Only the strongest source of the pair counts. Of several judges it is the grade in the middle, the lower one of two.
    """
    graded: Records = np.asarray(counting[counting["flags"] & CANNOT_TELL == 0])
    if not len(graded):
        return graded, np.zeros(0, dtype=np.bool_)
    order = np.lexsort((graded["grade"], -graded["source"].astype(np.int64), graded["document"], graded["query"]))
    graded = graded[order]
    starts_pair = _starts(graded, ("query", "document"))
    pair = np.cumsum(starts_pair) - 1
    strongest = graded["source"][starts_pair][pair]
    graded = graded[graded["source"] == strongest]
    first = np.flatnonzero(_starts(graded, ("query", "document")))
    count = np.diff(np.append(first, len(graded)))
    middle = graded[first + (count - 1) // 2]
    return middle, graded["grade"][first] != graded["grade"][first + count - 1]


def disagreeing(counting: Records) -> Records:
    """The judgements by people of the pairs to which these gave different grades and that nobody settled."""
    of_people: Records = counting[(counting["source"] >= Source.PERSON) & (counting["flags"] & CANNOT_TELL == 0)]
    _, differ = verdicts(of_people)
    if not len(of_people):
        return of_people
    # Sorted by pair, as `newest` leaves them; a settled pair has a verdict of one judge, so nobody differs there.
    return np.asarray(of_people[differ[np.cumsum(_starts(of_people, ("query", "document"))) - 1]])


def _starts(records: Records, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Where another value of these fields begins in sorted records, (n,)."""
    starts = np.zeros(len(records), dtype=np.bool_)
    starts[:1] = True
    for name in names:
        starts[1:] |= records[name][1:] != records[name][:-1]
    return starts
