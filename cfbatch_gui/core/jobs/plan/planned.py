"""What the last plan of a job came to, read back from its folder."""

import sqlite3
from dataclasses import dataclass, replace

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import fact

TOKENS = "estimated_tokens"  # the fact that packing stores: low, high
LEARNED = "learned_tokens"  # the fact that calibration stores: that low and high, and the ones to take instead

_EACH = """
SELECT min(contexts), max(contexts) FROM (
    SELECT count(*) AS contexts FROM items WHERE request_no IS NOT NULL AND query_no IS NOT NULL GROUP BY query_no)
"""


@dataclass(frozen=True, slots=True)
class Planned:
    """`tokens` is the estimate from low to high, None when there is none. `contexts_each` is how many contexts every
    query has, 0 when they have different numbers. `by_rules` is the estimate before anything that was learned.
    """

    tokens: tuple[int, int] | None = None
    contexts_each: int = 0
    by_rules: tuple[int, int] | None = None


def read_planned(folder: JobFolder) -> Planned:
    """Quick, but not for the loop: counts the items. Raises DataError."""
    with folder.open(read_only=True) as database:
        found = _estimate(database)
        least, most = database.execute(_EACH).fetchone()
    return replace(found, contexts_each=int(least or 0) if least == most else 0)


def read_estimate(folder: JobFolder) -> Planned:
    """The tokens alone, which takes no time however large the job is. Raises DataError."""
    with folder.open(read_only=True) as database:
        return _estimate(database)


def _estimate(database: sqlite3.Connection) -> Planned:
    found, learned = fact(database, TOKENS), fact(database, LEARNED)
    by_rules = (int(found[0]), int(found[1])) if isinstance(found, list) else None
    tokens = by_rules
    if isinstance(learned, list) and tuple(learned[:2]) == by_rules:  # not of another plan
        tokens = (int(learned[2]), int(learned[3]))
    return Planned(tokens, by_rules=by_rules)
