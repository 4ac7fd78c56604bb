"""The progress of jobs, for people, and where the answers that the user's account collects are."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Final

from cfbatch_gui.cli.console import Console, width_of
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobState, account_progress, has_copies
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.words.figures import number, plural, worded
from cfbatch_gui.words.languages import said, tr

FINAL: Final = (JobState.DONE, JobState.PARTLY_DONE, JobState.FAILED)


class Place(StrEnum):
    """Of the answer to a batch that was handed over and is not here."""

    AT_SERVICE = "at_service"
    IN_ACCOUNT = "in_account"


_STATES: Final[dict[BatchState | Place, Message]] = {
    BatchState.PLANNED: message("send"),
    BatchState.SENDING: message("sending"),
    BatchState.QUEUED: message("queued"),
    BatchState.RUNNING: message("running"),
    Place.AT_SERVICE: message("service"),
    Place.IN_ACCOUNT: message("waiting_your_account"),
    BatchState.COLLECTING: message("collecting"),
    BatchState.DONE: message("done"),
    BatchState.FAILED: message("failed"),
    BatchState.GONE: message("no_longer_known_service"),
    BatchState.OUTCOME_UNKNOWN: message("outcome_unknown"),
    BatchState.DISMISSED: message("dismissed"),
}


def place_of(batch: Batch) -> Place | None:
    """None for a batch that the account does not collect, or whose answer is here."""
    if not batch.is_handed_over or batch.state is BatchState.COLLECTING:
        return None
    return Place.IN_ACCOUNT if batch.is_in_account else Place.AT_SERVICE


def state_words(batch: Batch) -> str:
    return said(_STATES[place_of(batch) or batch.state])


def uses_account(job: Job) -> bool:
    return bool(job.account_problem) or any(batch.handed_over_at for batch in job.batches)


def account_line(job: Job, most: int = 5) -> str:
    """Such as "1 waiting in your account, 2.5 MB · 40 at the service · 3 here"."""
    found = account_progress(job)
    waiting = worded("waiting in your account, {size} MB", size=number(found.bytes_in_account / 1e6, ",.1f"))
    parts = (
        (found.in_account, waiting),
        (found.at_service, said(_STATES[Place.AT_SERVICE])),
        (found.here, tr("here")),
        (found.direct, tr("asked for by this computer")),
        (found.to_send, said(_STATES[BatchState.PLANNED])),
    )
    return " · ".join(f"{number(count)} {words}" for count, words in parts[:most] if count)


def account_cell(job: Job) -> str:
    """The same without what is here or needs this computer; "" for finished jobs."""
    if not uses_account(job) or job.state in FINAL:
        return ""
    stopped = tr("stopped", "collecting") if job.account_problem else ""
    return " · ".join(filter(None, (account_line(job, 2), stopped)))


def problem_line(job: Job) -> str:
    """Why the account does not collect what it was to collect, and what to do; "" when it does."""
    if not job.account_problem:
        return ""
    if job.state in FINAL:
        return said(job.account_problem)
    words = tr("{sentence} “cfbatch resume {id} --collect-in-account” hands the job over again.")
    return words.format(sentence=said(job.account_problem), id=job.id)


def facts_of_account(job: Job) -> Iterator[tuple[str, str]]:
    """Pairs of label and text; some texts are empty."""
    if not uses_account(job):
        return
    yield tr("Account"), account_line(job)
    yield tr("Problem"), problem_line(job)
    if job.state in FINAL and has_copies(job):
        yield tr("Copies"), worded("in your account; “cfbatch account clear {id}” deletes them", id=job.id)


def json_of_account(job: Job) -> dict[str, object] | None:
    """Counts of batches; None for a job that the account has nothing to do with."""
    if not uses_account(job):
        return None
    found = account_progress(job)
    return {
        **asdict(found),
        "lid_may_close": found.lid_may_close,
        "problem": str(job.account_problem) or None,
        "has_copies": has_copies(job),
    }


_BAR, _LEAST_BAR = 24, 6  # columns
_SECONDS_BETWEEN = 0.1  # between two redraws of the line while a file is read


class Progress:
    """Not thread-safe."""

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.console, self._clock = console, clock
        self._jobs: dict[str, Job] = {}
        self._in_account: set[str] = set()  # jobs of which it was said that the account collects all of their answers
        self._shown = ""
        self._drawn_at = 0.0

    def show_read(self, name: str, read: int, whole: int) -> None:
        """In bytes, or in rows when `whole` is 0; only on a terminal."""
        if self.console.is_interactive and self._clock() - self._drawn_at > _SECONDS_BETWEEN:
            self._drawn_at = self._clock()
            if whole:
                self._draw(worded("reading {name}", name=name), read / whole)
            else:
                self._draw(plural(read, "reading {name}: {n} row", "reading {name}: {n} rows", name=name))

    def follow(self, *jobs: Job, is_leaving: bool = False) -> None:
        """Only these jobs from now on; unless it is leaving, say when they no longer need this computer."""
        self._jobs = {job.id: job for job in jobs}
        self._in_account = {job.id for job in jobs if is_leaving or account_progress(job).lid_may_close}
        for job in jobs:
            self._say_problem(job, before="")
        self._show_jobs()

    def show_job(self, job: Job) -> None:
        if job.id in self._jobs:
            before, self._jobs[job.id] = self._jobs[job.id], job
            self._say_problem(job, before=before.account_problem)
            if job.id not in self._in_account and account_progress(job).lid_may_close:
                self._in_account.add(job.id)
                words = tr(
                    "Your account collects the answers of job {id} now. You may stop this with Ctrl+C and turn the"
                    " computer off; “cfbatch resume {id}” fetches them."
                )
                self._say(words.format(id=job.id))
            self._show_jobs()

    def show(self, text: str, share: float | None, *, also_elsewhere: bool = True) -> None:
        """On a terminal its line; elsewhere a line of its own for what is not said yet."""
        if self.console.is_interactive:
            self._draw(text, share)
        elif also_elsewhere and text != self._shown:
            self.console.say(text)
            self._shown = text

    def end(self) -> None:
        if self.console.is_interactive and self._shown:
            self.console.draw("")
        self._jobs, self._shown = {}, ""

    def _say_problem(self, job: Job, *, before: str) -> None:
        if job.account_problem != before and job.state not in FINAL and (line := problem_line(job)):
            self._say(line)

    def _say(self, text: str) -> None:
        if self.console.is_interactive and self._shown:
            self.console.draw("")
        self.console.say(text)

    def _show_jobs(self) -> None:
        batches = [batch for job in self._jobs.values() for batch in job.batches]
        if batches:
            done = sum(batch.state is BatchState.DONE for batch in batches)
            self.show(describe(batches), done / len(batches))

    def _draw(self, text: str, share: float | None = None) -> None:
        self._shown = text
        room = max(1, self.console.width - 1)  # some terminals wrap a line that is completely filled
        bar = min(_BAR, room - width_of(text) - len("[] "))
        if share is not None and bar >= _LEAST_BAR:
            text = _with_bar(share, text, bar)
        self.console.draw(text)


def describe(batches: Sequence[Batch]) -> str:
    """Such as "2 of 5 batches done · 2 running · 1 to send", and the reason for waiting, if any."""
    counts = Counter(place_of(batch) or batch.state for batch in batches)
    done = number(counts[BatchState.DONE])
    parts = [plural(len(batches), "{done} of {n} batch done", "{done} of {n} batches done", done=done)]
    parts += [
        f"{number(counts[state])} {said(words)}"
        for state, words in _STATES.items()
        if counts[state] and state is not BatchState.DONE
    ]
    parts += _unknown_words(batches)
    hindrance = next((batch.error for batch in batches if batch.error and not batch.state.is_final), "")
    return " · ".join([*parts, said(hindrance)] if hindrance else parts)


def _unknown_words(batches: Sequence[Batch]) -> list[str]:
    words = {batch.service_word for batch in batches if batch.state.is_at_service} - {"", *BatchState}
    return [worded("the service says “{word}”", word=word) for word in sorted(words)]


def _with_bar(share: float, text: str, width: int) -> str:
    filled = round(width * min(1.0, max(0.0, share)))
    return f"[{'█' * filled}{'░' * (width - filled)}] {text}"
