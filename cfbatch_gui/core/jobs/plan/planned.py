"""What a job's plan came to, read back from its data: for the pages that show it, without what made the plan."""

import sqlite3
from dataclasses import dataclass, replace

from cfbatch_gui.core.inputs.input_values import ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import metadata_value

TOKENS = "estimated_tokens"  # stored by planning: low, high
LEARNED = "learned_tokens"  # stored by calibration: that low and high, and the ones to take instead
_EACH = """
SELECT min(contexts), max(contexts) FROM (
    SELECT count(*) AS contexts FROM items WHERE request_no IS NOT NULL AND query_no IS NOT NULL GROUP BY query_no)
"""


@dataclass(frozen=True, slots=True)
class Planned:
    """`tokens` is the estimate from low to high, None when there is none. `contexts_each` is how many contexts every
    query has, 0 when they have different numbers. `by_rules` is the estimate before anything that was learned.
    `doubtful` rows were left out because they may have been misread, `doubtful_sent` were sent so.
    """

    tokens: tuple[int, int] | None = None
    contexts_each: int = 0
    by_rules: tuple[int, int] | None = None
    doubtful: int = 0
    doubtful_sent: int = 0


def read_planned(folder: JobFolder) -> Planned:
    """Quick, but not for the loop: counts the items. Raises DataError."""
    with folder.open(read_only=True) as database:
        found = _estimate(database)
        least, most = database.execute(_EACH).fetchone()
        counts = dict(database.execute("SELECT kind, count(*) FROM problems GROUP BY kind"))
    return replace(
        found,
        contexts_each=int(least or 0) if least == most else 0,
        doubtful=counts.get(ProblemKind.DOUBTFUL_ROW, 0),
        doubtful_sent=counts.get(ProblemKind.DOUBTFUL_SENT, 0),
    )


def read_estimate(folder: JobFolder) -> Planned:
    """The tokens alone, which takes no time however large the job is. Raises DataError."""
    with folder.open(read_only=True) as database:
        return _estimate(database)


def _estimate(database: sqlite3.Connection) -> Planned:
    found, learned = metadata_value(database, TOKENS), metadata_value(database, LEARNED)
    by_rules = (int(found[0]), int(found[1])) if isinstance(found, list) else None
    tokens = by_rules
    if isinstance(learned, list) and tuple(learned[:2]) == by_rules:  # not of another plan
        tokens = (int(learned[2]), int(learned[3]))
    return Planned(tokens, by_rules=by_rules)
