"""What can be checked of a job's data without its answers: the file of SQLite, and the texts by what was sent."""

import hashlib
import sqlite3

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.job_folder.damage import rows_in_words, rows_of_items
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.packing import body_of_tables
from cfbatch_gui.core.jobs.states import Batch, Job
from cfbatch_gui.core.jobs.verify.job_check import Damage, Finding, JobCheck, Outcome
from cfbatch_gui.core.jobs.verify.result_sums import items_of_batch
from cfbatch_gui.core.messages import message

_SCORE_COLUMNS = (" in items.score", " in parts.score")
_INDEX_ONLY = ("wrong # of entries in index", "missing from index", "non-unique entry in index")


def unreadable(job: Job, detail: str) -> Finding:
    """What is beyond mending here; it says what can be done instead."""
    if job.attached:
        again = message("Add it again by its request ID.")
    elif job.taken_over:
        again = message("Delete it, and take it over again if it is still in your account.")
    else:
        again = (
            message(
                "The answers are in its folder. Put data.db back from a backup, or send the file again as a new job; it"
                " was “{path}”.",
                path=job.source_path,
            )
            if job.source_path
            else message(
                "The answers are in its folder. Put data.db back from a backup, or send the file again as a new job."
            )
        )
    words = message("This job's data cannot be read, or is damaged inside. {cure}", cure=again)
    return Finding(Damage.DATA, 0, (), Outcome.LOST, words, detail)


def indexes(folder: JobFolder, job: Job, check: JobCheck, *, mend: bool) -> JobCheck:
    """Whether rows are found by their indexes, which can be made anew; to be asked before anything is looked up.

    With `mend`, what is broken otherwise is a finding at once: writing to it might break more.
    """
    with folder.open(read_only=not mend) as database:
        problems = _problems(database)
        others = [problem for problem in problems if not any(words in problem for words in _INDEX_ONLY)]
        broken = [problem for problem in others if not problem.endswith(_SCORE_COLUMNS)]
        if mend and broken:
            return check.with_finding(unreadable(job, broken[0]))
        if not problems or others:
            return check
        if mend:
            database.execute("REINDEX")
    outcome = Outcome.HEALED if mend else Outcome.HEALABLE
    words = message("An index of this job's data is damaged.")
    return check.with_finding(Finding(Damage.DATA, 0, (), outcome, words, problems[0]))


def structure(folder: JobFolder, job: Job, check: JobCheck) -> JobCheck:
    """What SQLite itself finds, but for what has been found by other means; to be asked after mending."""
    with folder.open(read_only=True) as database:
        problems = _problems(database)
    known = {found.detail for found in check.findings}
    is_named = any(found.damage is Damage.RESULTS for found in check.findings)
    others = [
        problem for problem in problems if problem not in known and not (is_named and problem.endswith(_SCORE_COLUMNS))
    ]
    if not others or all(any(words in problem for words in _INDEX_ONLY) for problem in others):
        return check
    return check.with_finding(unreadable(job, others[0]))


def _problems(database: sqlite3.Connection) -> list[str]:
    found = [str(row[0]).replace("\n", " ")[:200] for row in database.execute("PRAGMA integrity_check(20)")]
    return [] if found == ["ok"] else found


def inputs(folder: JobFolder, job: Job, done: list[Batch], check: JobCheck) -> JobCheck:
    """Whether the texts, and which of them went where, are those that were sent: by the hash of each body."""
    with folder.open(read_only=True) as database:
        if job.attached or job.has_named_texts:
            return check
        for batch in done:
            try:
                body = body_of_tables(database, job, batch)
            except DataError:
                continue  # requests that failed are in another batch now
            if batch.sha256 and hashlib.sha256(body).hexdigest() != batch.sha256:
                rows = rows_of_items(database, items_of_batch(database, batch.number).tolist())
                words = message(
                    "Batch {number}: of {rows}, a text or the order is damaged; it is not what was sent. Its results"
                    " are left as they are.",
                    number=batch.number,
                    rows=rows_in_words(rows, most=50),
                )
                check = check.with_finding(Finding(Damage.INPUTS, batch.number, tuple(rows), Outcome.LOST, words))
    return check
