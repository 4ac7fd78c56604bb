"""The progress of jobs, for people."""

import time
from collections.abc import Callable

from cfbatch_gui.cli.console import Console, width_of
from cfbatch_gui.core.jobs.states import BatchState, Job, account_progress
from cfbatch_gui.words.figures import plural, told, worded
from cfbatch_gui.words.jobs import is_over, progress_words

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
                self._say(told("account_collects_now_stop", id=job.id))
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
        """Why the account does not collect what it was to collect, and what to do."""
        if job.account_problem and job.account_problem != before and not is_over(job):
            self._say(told("problem_hand_over_again", sentence=job.account_problem, id=job.id))

    def _say(self, text: str) -> None:
        if self.console.is_interactive and self._shown:
            self.console.draw("")
        self.console.say(text)

    def _show_jobs(self) -> None:
        batches = [batch for job in self._jobs.values() for batch in job.batches]
        if batches:
            done = sum(batch.state is BatchState.DONE for batch in batches)
            self.show(progress_words(batches), done / len(batches))

    def _draw(self, text: str, share: float | None = None) -> None:
        self._shown = text
        room = max(1, self.console.width - 1)  # some terminals wrap a line that is completely filled
        bar = min(_BAR, room - width_of(text) - len("[] "))
        if share is not None and bar >= _LEAST_BAR:
            text = _with_bar(share, text, bar)
        self.console.draw(text)


def _with_bar(share: float, text: str, width: int) -> str:
    filled = round(width * min(1.0, max(0.0, share)))
    return f"[{'█' * filled}{'░' * (width - filled)}] {text}"
