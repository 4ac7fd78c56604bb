"""Where the answers of a job are that the user's account collects: for people, and as the object of `--json`."""

from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from typing import Final

from cfbatch_gui.cli.language import number, tr
from cfbatch_gui.core.jobs.account.shards import account_progress, has_copies
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobState, ListedBatch, ListedJob
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.languages import said

FINAL: Final = (JobState.DONE, JobState.PARTLY_DONE, JobState.FAILED)


class Place(StrEnum):
    """Where the answer to a batch is that was handed over and is not here."""

    AT_SERVICE = "at_service"
    IN_ACCOUNT = "in_account"


PLACES: Final = {
    Place.AT_SERVICE: message("at the service"),
    Place.IN_ACCOUNT: message("waiting in your account"),
}


def place_of(batch: Batch | ListedBatch) -> Place | None:
    """None for a batch that the account does not collect, and for one whose answer is here."""
    if not batch.is_handed_over or batch.state is BatchState.COLLECTING:
        return None
    return Place.IN_ACCOUNT if batch.is_in_account else Place.AT_SERVICE


def uses_account(job: Job | ListedJob) -> bool:
    """Whether the account has collected something of the job, collects it, or was to collect it."""
    return bool(job.account_problem) or any(batch.handed_over_at for batch in job.batches)


def account_line(job: Job) -> str:
    """The batches by where their answers are: "3 here · 1 waiting in your account, 2.5 MB · 40 at the service"."""
    found = account_progress(job)
    waiting = tr("{n} waiting in your account, {size} MB").format(
        n=number(found.in_account), size=number(found.bytes_in_account / 1e6, ",.1f")
    )
    parts = (
        (found.here, tr("{n} here").format(n=number(found.here))),
        (found.in_account, waiting),
        (found.at_service, tr("{n} at the service").format(n=number(found.at_service))),
        (found.direct, tr("{n} asked for by this computer").format(n=number(found.direct))),
        (found.to_send, tr("{n} to send").format(n=number(found.to_send))),
    )
    return " · ".join(text for count, text in parts if count)


def account_cell(job: Job | ListedJob) -> str:
    """The same in a list of jobs, which has the batches that are here in another column; "" for finished jobs."""
    if not uses_account(job) or job.state in FINAL:
        return ""
    found = account_progress(job)
    parts = [tr("{n} waiting").format(n=number(found.in_account))] if found.in_account else []
    parts += [tr("{n} at the service").format(n=number(found.at_service))] if found.at_service else []
    return " · ".join([*parts, tr("stopped", "collecting")] if job.account_problem else parts)


def problem_line(job: Job) -> str:
    """Why the account does not collect what it was to collect, and what to do; "" when it does."""
    if not job.account_problem:
        return ""
    if job.state in FINAL:
        return said(job.account_problem)
    words = tr("{sentence} “cfbatch resume {id} --collect-in-account” hands the job over again.")
    return words.format(sentence=said(job.account_problem), id=job.id)


def facts_of_account(job: Job) -> Iterator[tuple[str, str]]:
    """The label and the text of each line of `cfbatch show`; some texts are empty."""
    if not uses_account(job):
        return
    yield tr("Account"), account_line(job)
    yield tr("Problem"), problem_line(job)
    if job.state in FINAL and has_copies(job):
        yield tr("Copies"), tr("in your account; “cfbatch account clear {id}” deletes them").format(id=job.id)


def json_of_account(job: Job) -> dict[str, object] | None:
    """Counts of batches, as `AccountProgress` has them; None for a job that the account has nothing to do with."""
    if not uses_account(job):
        return None
    found = account_progress(job)
    return {
        **asdict(found),
        "lid_may_close": found.lid_may_close,
        "problem": str(job.account_problem) or None,
        "has_copies": has_copies(job),
    }
