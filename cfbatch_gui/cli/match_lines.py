"""The matches of a job, for people and for programs."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path

from cfbatch_gui.cli.console import Call, elided, fields_of, table
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.book import Shelf
from cfbatch_gui.core.judgements.decisions import Decisions, book_of_decisions
from cfbatch_gui.core.results.categories import agreement_of_job
from cfbatch_gui.core.results.exports.base import Row, Work
from cfbatch_gui.core.results.exports.category_rows import CategoryRows
from cfbatch_gui.core.results.exports.match_rows import STATES, PairRows
from cfbatch_gui.core.results.matches import Matches, MatchState
from cfbatch_gui.words.figures import number, percent, score_text
from cfbatch_gui.words.languages import said, tr


@contextmanager
def opened_decisions(call: Call, job: Job) -> Iterator[Decisions]:
    """What was decided about the rows of a job, to be read."""
    with closing(Shelf(call.paths.judgements, read_only=True)) as shelf:
        yield Decisions(shelf, clock=time.time, book=book_of_decisions(job))


_FIGURES = 36  # columns of a line
_LEAST = 16


def lines_of_matches(matches: Matches, job: Job, folder: JobFolder, width: int) -> Iterator[str]:
    """A line for each pair, of which the first of a row of A says how it stands; of categories the counts."""
    if matches.categories is not None:
        yield from _lines_of_categories(matches, job, folder, width)
        return
    room = max(_LEAST, (width - _FIGURES) // 2)
    rows = []
    for _, _, text, rank, _, other, score, margin, state in _pairs(matches, job, folder):
        figures = ["" if value is None else score_text(float(value)) for value in (score, margin)]
        first, words = ("", "") if rank != 1 else (str(text), said(STATES[MatchState[str(state).upper()]]))
        rows.append((elided(first, room), elided(str(other), room), *figures, words))
    yield from table(("A", "B", tr("SCORE"), tr("MARGIN"), tr("STATE")), rows, width)


def _lines_of_categories(matches: Matches, job: Job, folder: JobFolder, width: int) -> Iterator[str]:
    found = CategoryRows(Work(folder, job, Path(), say=said, matches=matches), for_people=True)
    for _ in found.blocks():  # counts them
        pass
    counted = ((name, number(count), percent(share)) for name, count, share in found.counted())
    yield from table((tr("CATEGORY"), tr("ROWS"), tr("SHARE")), counted, width)
    if taken := [(right, given, number(count)) for right, given, count in found.taken()]:
        yield ""
        yield from table((tr("RIGHT"), tr("GIVEN"), tr("ROWS")), taken, width)


def facts_of_matches(matches: Matches, job: Job, folder: JobFolder) -> dict[str, dict[str, object]]:
    """By the name of what the job is for."""
    if matches.categories is None:
        pairs = [dict(zip(PairRows.columns, row, strict=True)) for row in _pairs(matches, job, folder)]
        return {"matches": {**matches.tally(), "pairs": pairs}}
    found = CategoryRows(Work(folder, job, Path(), matches=matches))
    rows = [dict(zip(found.columns, row, strict=True)) for row in chain.from_iterable(found.blocks())]
    counts = [{"name": name, "rows": count, "share": share} for name, count, share in found.counted()]
    agrees = agreement_of_job(matches, job)
    figures = fields_of(agrees, "checked", "right", "low", "high", "confusions") if agrees is not None else None
    return {"categories": {**matches.tally(), "counts": counts, "agreement": figures, "rows": rows}}


def _pairs(matches: Matches, job: Job, folder: JobFolder) -> Iterator[Row]:
    return chain.from_iterable(PairRows(Work(folder, job, Path(), matches=matches)).blocks())
