"""Actions of a user and faults of a service in any order, with folders moved, copied and put back, and clocks set.

The program has a clock that advances as it sleeps. It is compared with the service whenever it is closed.
"""

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial, wraps
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, ParamSpec, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, precondition, rule

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.run import runner
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.store.data_folder import PUT_TOGETHER, WAITS_FOR_WORD, FolderAnswer
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.system.paths import Paths
from tests.core.jobs.conftest import Bench, Clock
from tests.prove.compare import Comparison, Key, unfinished_files
from tests.prove.truth import Truth, learn, write_input
from tests.support import faults
from tests.support.faulty_service import FaultyService
from tests.support.practice import PracticeServer, accepted, answered_synchronously
from tests.thorough import IS_THOROUGH, tries

T = TypeVar("T")
P = ParamSpec("P")
HOUR, DAY = 3_600.0, 86_400.0
PATIENCE = 60.0  # simulated seconds after which the user gives up an action
FAULTS = {
    "nobody listens": faults.refuse(),
    "the body is cut": faults.reset_in_body(on="submit", byte=40),
    "accepted, no answer": faults.reset_after_body(on="submit", billed=True),
    "not accepted, no answer": faults.reset_after_body(on="submit"),
    "accepted, half an answer": faults.reset_in_reply(on="submit", billed=True),
    "accepted, a page": faults.page(on="submit", billed=True),
    "busy": faults.refusal(on="submit", status=429, code=3040, retry_after="70"),
    "refused": faults.refusal(on="submit", status=400, code=5006, message="bad input"),
    "token refused": faults.refusal(status=401, code=10000, message="Authentication error"),
    "asked too often": faults.block(seconds=300.0),
    "a question without an answer": faults.reset_after_body(on="poll", times=2),
    "an answer cut in the middle": faults.reset_in_reply(on="poll", byte=500, billed=True),
}


@cache
def truth() -> Truth:
    """The correct values, computed once."""
    with tempfile.TemporaryDirectory() as folder, PracticeServer(Path(folder)) as server:
        return learn(server.url)


def told(act: Callable[P, T]) -> Callable[P, T]:
    """Record the rule's call in the machine's `story`: what hypothesis cannot repeat it cannot tell."""

    @wraps(act)
    def telling(*arguments: P.args, **drawn: P.kwargs) -> T:
        machine: Any = arguments[0]
        machine.story.append(f"{act.__name__}({drawn})")
        return act(*arguments, **drawn)

    return telling


class Machine(RuleBasedStateMachine):
    """The program runs only during a rule. `others` are copies of its folder that are not in use."""

    jobs = Bundle("jobs")

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)
        self.patch.setattr(runner, "CLOSE_SECONDS", 0.05)
        self.root = Path(tempfile.mkdtemp(prefix="cfbatch-machine-"))
        self.loop, self.clock = asyncio.Runner(), Clock()
        self.told_again: Counter[Key] = Counter()
        self.files = self.folders = 0
        self.may_be_put_back = self.was_put_back = False
        self.others: list[Path] = []
        self.backup: Path | None = None
        self.story: list[str] = []
        self.run(self._open())

    async def _open(self) -> None:
        folder = self.root / "service"
        service = practice_app(folder, seconds_queued=20.0, seconds_running=20.0, clock=self.clock.of_service)
        self.faulty = FaultyService(service, clock=self.clock)
        await self.faulty.__aenter__()
        self._threads = ThreadPoolExecutor(4)
        asyncio.get_running_loop().set_default_executor(self._threads)
        self.bench = Bench(self.root / "data", self.faulty, self.clock, service_folder=folder)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(work)

    def attempt(self, work: Callable[[], Awaitable[object]], seconds: float = PATIENCE) -> bool:
        """Run an action that may raise UserError, for so many simulated seconds; whether it has come to its end."""

        async def bounded() -> bool:
            task = asyncio.ensure_future(work())
            until, due = self.clock.now + seconds, monotonic() + 10
            while not task.done() and self.clock.now < until and monotonic() < due:
                await asyncio.sleep(0.001)
            is_done = task.done()
            task.cancel()
            with suppress(UserError, asyncio.CancelledError):
                await task
            return is_done

        return self.run(bounded())

    # The user

    @rule(target=jobs, kind=st.sampled_from(Kind), rows=st.integers(2, 45), seed=st.integers(0, 99))
    @told
    def load(self, kind: Kind, rows: int, seed: int) -> str:
        self.files += 1
        path = write_input(self.root / f"{self.files}.csv", kind, Random(seed), rows=rows)
        return self.bench.draft(path, kind).id

    @rule(job=jobs)
    @told
    def send(self, job: str) -> None:
        self.attempt(lambda: self.bench.actions.send(job))

    @rule(job=jobs, seconds=st.sampled_from([15.0, 90.0, 600.0]))
    @told
    def wait(self, job: str, seconds: float) -> None:
        self.attempt(lambda: self.bench.runner.wait(job), seconds)

    @rule(job=jobs)
    @told
    def pause(self, job: str) -> None:
        self.attempt(lambda: self.bench.runner.pause(job))

    @rule(job=jobs)
    @told
    def carry_on(self, job: str) -> None:
        self._allow(job)
        self.attempt(lambda: self.bench.runner.carry_on(job))

    def _allow(self, job: str) -> None:
        """Whoever carries on with a job of a copy has been told that it is sent again."""
        known = self._known(job)
        if known is not None and known.paused_because in WAITS_FOR_WORD | {PUT_TOGETHER}:
            waiting = (batch for batch in known.batches if batch.state is BatchState.PLANNED)
            self.told_again.update((job, batch.number) for batch in waiting)

    def _known(self, job: str) -> Job | None:
        """The job, None when an older folder that was put back does not have it."""
        return next((each for each in self.bench.ledger.jobs() if each.id == job), None)

    @rule(job=jobs, what=st.sampled_from(["adopt", "again", "dismiss"]))
    @told
    def decide(self, job: str, what: str) -> None:
        actions, known = self.bench.actions, self._known(job)
        for batch in known.batches if known else ():
            if batch.state is not BatchState.OUTCOME_UNKNOWN:
                continue
            own = [each for each in accepted(self.root / "service") if each.sha256 == batch.sha256]
            if what == "again":
                self.told_again[job, batch.number] += 1
                self.attempt(partial(actions.send_again, job, batch.number))
            elif what == "dismiss":
                self.attempt(partial(actions.dismiss, job, batch.number))
            elif own:
                self.attempt(partial(actions.adopt, job, batch.number, own[-1].request_id))

    @rule(job=jobs, what=st.sampled_from(["send", "carry_on"]), pieces=st.integers(0, 12))
    @told
    def restart_in_the_middle(self, job: str, what: str, pieces: int) -> None:
        """Close the window a little after an action began, and open it again."""
        if what == "carry_on":
            self._allow(job)
        work = {"send": self.bench.actions.send, "carry_on": self.bench.runner.carry_on}[what]

        async def begin() -> None:
            task = asyncio.ensure_future(work(job))
            for _ in range(pieces):
                await asyncio.sleep(0.002)
            task.cancel()
            with suppress(UserError, asyncio.CancelledError):
                await task

        self.run(begin())
        self.begin_with(lambda root: root, FolderAnswer.MOVED)

    # Moved, copied and restored folders

    @initialize(is_put_back=st.booleans())
    @told
    def choose(self, is_put_back: bool) -> None:
        """Half of the runs are without these, because less can be asked of a folder that was put back."""
        self.may_be_put_back = is_put_back

    def _new(self) -> Path:
        self.folders += 1
        return self.root / f"data {self.folders}"

    @rule()
    @told
    def move(self) -> None:
        self.begin_with(lambda root: root.rename(self._new()), FolderAnswer.MOVED)

    @precondition(lambda self: self.may_be_put_back)
    @rule(goes_on_with_copy=st.booleans())
    @told
    def copy(self, goes_on_with_copy: bool) -> None:
        """The folder is copied; the program goes on with either, and perhaps later with the other."""

        def copied(root: Path) -> Path:
            copy = shutil.copytree(root, self._new())
            self.others.append(root if goes_on_with_copy else copy)
            return copy if goes_on_with_copy else root

        self.begin_with(copied, FolderAnswer.COPIED)

    @precondition(lambda self: self.others)
    @rule()
    @told
    def go_on_with_another(self) -> None:
        def other(root: Path) -> Path:
            self.others.append(root)
            return self.others.pop(0)

        self.begin_with(other, FolderAnswer.COPIED)

    @precondition(lambda self: self.may_be_put_back)
    @rule()
    @told
    def keep_a_backup(self) -> None:
        def backed_up(root: Path) -> Path:
            self.backup = shutil.copytree(root, self._new())
            return root

        self.begin_with(backed_up, FolderAnswer.COPIED)

    @precondition(lambda self: self.backup is not None)
    @rule(names=st.sampled_from([("ledger.db",), ("ledger.db", "submissions.jsonl"), ()]))
    @told
    def put_back(self, names: tuple[str, ...]) -> None:
        """The backup takes the place of what is there: these files, or the whole folder."""

        def restored(root: Path) -> Path:
            assert self.backup is not None
            if not names:
                shutil.rmtree(root)
                return shutil.copytree(self.backup, root)
            for name in names:
                if (self.backup / name).exists():
                    shutil.copyfile(self.backup / name, root / name)
            return root

        self.begin_with(restored, FolderAnswer.COPIED)

    def begin_with(self, change: Callable[[Path], Path], answer: FolderAnswer) -> None:
        """Close the program, compare, change folders, start it, and answer its question if it asks."""
        self.run(self.bench.stop())
        self.check(settled=False)
        root = change(self.bench.paths.root)
        self.was_put_back |= answer is FolderAnswer.COPIED
        self.bench.paths = Paths(root, self.bench.paths.state)
        self.bench.start()
        self.attempt(self.bench.runner.resume_all)
        if self.bench.opened.doubt is not None:
            self.attempt(lambda: self.bench.settle_doubt(answer))

    # Faults of the service and the clock

    @rule(fault=st.sampled_from(["", *sorted(FAULTS)]))
    @told
    def go_wrong(self, fault: str) -> None:
        async def follow() -> None:
            self.faulty.follow(*([FAULTS[fault]] if fault else ()))

        self.run(follow())

    @rule(days=st.floats(-1.0, 1.0))
    @told
    def jump(self, days: float) -> None:
        """This computer's clock is set, or the computer sleeps; the service's clock is not affected."""
        self.clock.set_by += days * DAY

    def check(self, *, settled: bool) -> None:
        """Compare; the program is closed, and its threads come to their end first."""
        self._threads.shutdown()
        self._threads = ThreadPoolExecutor(4)
        self.loop.get_loop().set_default_executor(self._threads)
        service = self.root / "service"
        found = Comparison(
            self.bench.paths,
            accepted(service),
            answered_synchronously(service),
            truth(),
            self.told_again,
            may_fail=True,
            was_put_back=self.was_put_back,
        ).run(settled=settled)
        found += unfinished_files(self.root) if settled else []
        assert not found, "\n".join([*map(str, found), "after", *self.story])

    def teardown(self) -> None:
        """Remove all faults and assert that every job comes to its end."""
        try:
            self.go_wrong("")
            self.begin_with(lambda root: root, FolderAnswer.MOVED)
            for job in self.bench.ledger.jobs():
                if job.is_sent:
                    self._allow(job.id)
                    self.attempt(partial(self.bench.runner.carry_on, job.id))
                    is_done = self.attempt(partial(self.bench.runner.wait, job.id), HOUR)
                    assert is_done, "\n".join([f"job {job.id} has not come to its end, after", *self.story])
            self.run(self.bench.stop())
            self.check(settled=True)
        finally:
            self.run(self.bench.stop())
            self.run(self.faulty.__aexit__())
            self.loop.close()
            self.patch.undo()
            shutil.rmtree(self.root)


@pytest.mark.thorough
class TestMachine(Machine.TestCase):  # type: ignore[misc, valid-type]  # hypothesis makes that class at run time
    settings = settings(
        max_examples=tries(8, 400),
        stateful_step_count=25,
        deadline=None,
        derandomize=not IS_THOROUGH,
        suppress_health_check=list(HealthCheck),
        database=None,
        phases=[Phase.generate],  # shrinking would take minutes
    )
