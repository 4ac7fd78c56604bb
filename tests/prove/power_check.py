"""What the program makes of a disk after a power cut: it is opened as at a start, and compared with what was promised.

Promised is what the practice service accepted until then, each write of the ledger that had returned, and each export
that had been reported as written.
"""

import json
import sqlite3
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cfbatch_gui.cli import export as export_command
from cfbatch_gui.cli import working
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.data_folder import open_or_recover
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.core.system.folder_identity import place_of
from cfbatch_gui.core.system.paths import Paths, state_root
from tests.bodies import body_of
from tests.prove.compare import Breach, Comparison, Finding
from tests.prove.power_disk import Mark, Operation, Tree
from tests.prove.power_trace import mark
from tests.prove.steps import wrap
from tests.prove.world import World
from tests.support.practice import Accepted, AnsweredSynchronously

# How far a batch is. What a start makes of a batch may be further, never less far.
_RANK = {
    BatchState.PLANNED: 0,
    BatchState.SENDING: 1,
    BatchState.OUTCOME_UNKNOWN: 1,
    BatchState.QUEUED: 2,
    BatchState.RUNNING: 3,
    BatchState.COLLECTING: 4,
}
_ENDED = 5


def note_promises() -> None:
    """In the child: leave a mark behind each call after which something has to outlast a power cut."""

    def saved(job: Job, *_: Any, **__: Any) -> None:
        batches = {batch.number: batch.state.value for batch in job.batches}
        words = {"job": job.id, "sent": job.is_sent, "deleted": bool(job.deleted_at), "batches": batches}
        mark(json.dumps(words))

    for name in ("save_job", "save_plan", "change", "save_batch"):
        wrap(Ledger, name, after=saved)
    wrap(Ledger, "remove", after=lambda _, __, job_id: mark(json.dumps({"removed": job_id})))
    for module in (working, export_command):
        wrap(module, "export", after=lambda done, *_, **__: mark(json.dumps({"written": str(done.path)})))
    wrap(Program, "attach", after=lambda job, *_, **__: mark(json.dumps({"attached": job.id})))


@dataclass(frozen=True)
class SavedJob:
    """A job as a write of the ledger left it."""

    is_sent: bool
    is_deleted: bool
    batches: dict[int, BatchState]


@dataclass
class Promises:
    """What was promised up to an operation. A write that may have been under way counts in `next_jobs`."""

    left: Counter[str] = field(default_factory=Counter)  # bodies that had left whole, by SHA-256
    jobs: dict[str, SavedJob] = field(default_factory=dict)
    next_jobs: dict[str, SavedJob] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    attached: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)  # exports, by their paths
    mended: set[str] = field(default_factory=set)  # jobs
    version: int = 0  # counts the marks

    def take(self, words: dict[str, Any]) -> None:
        """The next mark."""
        self.version += 1
        match words:
            case {"left": str(body)}:
                self.left[body] += 1
            case {"job": str(job_id)}:
                self.jobs[job_id] = _saved(words)
                self.next_jobs.pop(job_id, None)
            case {"removed": str(job_id)}:
                self.removed.add(job_id)
                self.jobs.pop(job_id, None)
            case {"attached": str(job_id)}:
                self.attached.add(job_id)
            case {"mended": str(job_id)}:
                self.mended.add(job_id)
            case {"written": str(name)}:
                self.written.add(name)


def _saved(words: dict[str, Any]) -> SavedJob:
    batches = {int(number): BatchState(state) for number, state in words["batches"].items()}
    return SavedJob(words["sent"], words["deleted"], batches)


@dataclass
class Marks:
    """The marks of a recording."""

    operations: Sequence[Operation]
    _at: int = -1
    _now: Promises = field(default_factory=Promises)

    def __post_init__(self) -> None:
        self._found = [
            (number, json.loads(operation.words))
            for number, operation in enumerate(self.operations)
            if isinstance(operation, Mark)
        ]

    def until(self, number: int) -> Promises:
        """What was promised when the operation of this number had ended. Numbers are asked for in order."""
        if number == self._at:
            return self._now
        for place, words in self._found:
            if self._at < place <= number:
                self._now.take(words)
        self._at = number
        self._now.next_jobs = {}
        for place, words in self._found:
            if place > number and "job" in words:
                self._now.next_jobs.setdefault(words["job"], _saved(words))
        return self._now


@dataclass
class Examination:
    """Opens the data folder of a world in each state and looks for breaches of what was promised.

    Made when the recorded run has ended. `known` are the ids of batches that the service had accepted before it.
    `before` and `after` are all files before and after it. See `Run` for the others.
    """

    world: World
    known: frozenset[str]
    before: Tree
    after: Tree
    compares: bool = True
    told_again: Counter[tuple[str, int]] = field(default_factory=Counter)
    deletable: dict[str, str] = field(default_factory=dict)  # jobs that the user deletes, by the hashes of their bodies
    more: Callable[["Examination", Promises], Iterator[Finding]] = lambda *_: iter(())

    def __post_init__(self) -> None:
        self.has_asked = False  # at the last start
        self.accepted: list[Accepted] = self.world.accepted
        self.answered: list[AnsweredSynchronously] = self.world.answered
        with closing(Ledger.open_read_only(self.world.paths)) as ledger:
            self.results = {job.id: results_of(self.world, job.id) for job in ledger.jobs() if job.batches_done}

    def look(self, promises: Promises) -> list[Finding]:
        """Findings of a start on the world's folder as it is."""
        try:
            return list(self._look(promises))
        except UserError as error:
            return [Finding(Breach.LOST, f"what is promised cannot be read: {error.message} {error.detail}")]
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            return [Finding(Breach.STUCK, f"{type(error).__name__}: {error} in {where.name}, {where.filename}")]

    def _look(self, promises: Promises) -> Iterator[Finding]:
        try:
            jobs, doubt = self._start()
        except UserError as error:
            yield Finding(Breach.STUCK, f"the program does not start: {error.message} {error.detail}")
            return
        self.has_asked = bool(doubt)
        if doubt:
            yield Finding(Breach.STUCK, f"the program asks whether its folder was copied or restored: {doubt}")
        yield from self._states(jobs, promises)
        yield from self._drafts(jobs)
        yield from self._replies(jobs)
        if self.compares:
            yield from self.comparison(jobs, promises).run(settled=False)
        yield from self.more(self, promises)

    def _start(self) -> tuple[dict[str, Job], str]:
        """As `Program.open`, without a network. The jobs, and the reason for which the user is asked something."""
        paths = Paths(self.world.paths.root, state_root({"HOME": str(self.world.root)}))
        paths.create()
        opened = open_or_recover(paths, here=place_of(paths.root))
        with closing(opened.ledger) as ledger, listing(paths.unfinished):
            Drafts(ledger, paths).clear_deleted()
            return {job.id: job for job in ledger.jobs()}, opened.doubt.value if opened.doubt else ""

    def comparison(
        self, jobs: dict[str, Job], promises: Promises, new: Sequence[Accepted | AnsweredSynchronously] = ()
    ) -> Comparison:
        """The comparison with what the service had accepted by then, and with what is `new` since."""
        left = Counter(promises.left)
        gone = self._bodies_of_deleted(jobs)

        def is_known(each: Accepted | AnsweredSynchronously) -> bool:
            if each.sha256 in gone:
                return False
            if isinstance(each, Accepted) and each.request_id in self.known:
                return True
            left[each.sha256] -= 1
            return left[each.sha256] >= 0

        accepted = [each for each in self.accepted if is_known(each)]
        answered = [each for each in self.answered if is_known(each)]
        accepted += [each for each in new if isinstance(each, Accepted)]
        answered += [each for each in new if isinstance(each, AnsweredSynchronously)]
        return Comparison(self.world.paths, accepted, answered, self.world.truth, self.told_again)

    def _bodies_of_deleted(self, jobs: dict[str, Job]) -> set[str]:
        return {body for body, job_id in self.deletable.items() if job_id not in jobs}

    def settled(self, promises: Promises, new: Sequence[Accepted | AnsweredSynchronously]) -> list[Finding]:
        """Findings when the program has been run to its end, and the service has accepted what is `new`."""
        try:
            with closing(Ledger.open_read_only(self.world.paths)) as ledger:
                jobs = {job.id: job for job in ledger.jobs()}
            found = list(self._states(jobs, promises))
            return [*found, *(self.comparison(jobs, promises, new).run(settled=True) if self.compares else ())]
        except UserError as error:
            return [Finding(Breach.LOST, f"what is promised cannot be read: {error.message} {error.detail}")]

    def _states(self, jobs: dict[str, Job], promises: Promises) -> Iterator[Finding]:
        """Findings for jobs and batches that are not as far as a write of the ledger had left them."""
        for job_id, saved in promises.jobs.items():
            coming = promises.next_jobs.get(job_id, saved)
            job = jobs.get(job_id)
            if saved.is_deleted:
                if job is not None and coming.is_deleted:
                    yield Finding(Breach.MISLABELLED, "a job that was deleted is back")
            elif job is None:
                if not coming.is_deleted:
                    yield Finding(Breach.LOST, "a job that was saved is gone")
            elif saved.is_sent and not job.is_sent:
                yield Finding(Breach.LOST, "a job that was sent is a draft again")
            else:
                yield from _batches(job, saved, coming)
        for job_id in promises.removed & jobs.keys():
            yield Finding(Breach.MISLABELLED, f"a job that was removed is back: {jobs[job_id].paused_because}")

    def _replies(self, jobs: dict[str, Job]) -> Iterator[Finding]:
        """Findings for synchronous calls whose answer is said to be here and is not: it cannot be asked for again."""
        for job in jobs.values():
            for batch in job.batches:
                if batch.at_once and batch.state in (BatchState.COLLECTING, BatchState.DONE):
                    try:
                        JobFolder(self.world.paths.job(job.id)).read_reply(batch.number)
                    except (OSError, EOFError) as error:
                        yield Finding(Breach.LOST, f"the answer to call {batch.number}, {batch.state.value}: {error}")

    def _drafts(self, jobs: dict[str, Job]) -> Iterator[Finding]:
        """Findings for drafts that say they were filled, and whose data is not there."""
        for job in jobs.values():
            if job.is_sent or not job.source_name:
                continue
            with JobFolder(self.world.paths.job(job.id)).open(read_only=True) as database:
                (count,) = database.execute("SELECT count(*) FROM items").fetchone()
            if count != job.texts:
                yield Finding(Breach.LOST, f"a draft of {job.texts} texts has {count}")


def _batches(job: Job, saved: SavedJob, coming: SavedJob) -> Iterator[Finding]:
    found: dict[int, Batch] = {batch.number: batch for batch in job.batches}
    for number, state in saved.batches.items():
        least = min(_rank(state), _rank(coming.batches.get(number, state)))
        if number not in found:
            if number in coming.batches:
                yield Finding(Breach.LOST, f"batch {number}, saved as {state.value}, is gone")
        elif _rank(found[number].state) < least:
            yield Finding(Breach.LOST, f"batch {number} was saved as {state.value} and is {found[number].state.value}")


def _rank(state: BatchState) -> int:
    return _RANK.get(state, _ENDED)


def bodies_of(world: World, job: Job) -> dict[str, str]:
    """The job's id by the hashes of its bodies, for a job that the user deletes."""
    folder = JobFolder(world.paths.job(job.id))
    return {sha256(body_of(folder, job, batch.number)).hexdigest(): job.id for batch in job.batches}


def results_of(world: World, job_id: str) -> list[tuple[object, ...]]:
    """All results of a job, for a comparison with those after another start."""
    with closing(sqlite3.connect(JobFolder(world.paths.job(job_id)).data)) as database:
        return database.execute("SELECT item_no, score FROM items ORDER BY item_no").fetchall()
