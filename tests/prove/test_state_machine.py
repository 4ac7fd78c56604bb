"""Random actions and faults of a user, a service and a disk in any order; all promises hold after each step."""

import asyncio
import os
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial, wraps
from pathlib import Path
from random import Random
from typing import Any, ClassVar, ParamSpec, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan import cutting
from cfbatch_gui.core.jobs.run import runner
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.practice.app import Application, practice_app
from cfbatch_gui.core.practice.faults import script
from cfbatch_gui.core.practice.faults.faulty_service import FaultyService
from cfbatch_gui.core.practice.queue import accepted, answered_synchronously
from cfbatch_gui.core.practice.server import PracticeServer
from cfbatch_gui.core.program import metadata_of
from cfbatch_gui.core.results.exports import export
from tests.core.jobs import conftest
from tests.core.jobs.conftest import Bench
from tests.prove.compare import Comparison, Finding, Key, unfinished_files
from tests.prove.simulated import CountedTransport, Simulation, within
from tests.prove.truth import Truth, learn, write_input

resource = pytest.importorskip("resource", reason="the disk is filled by a limit that only POSIX has")

T = TypeVar("T")
P = ParamSpec("P")
HOUR, DAY = 3_600.0, 86_400.0
PATIENCE = 60.0  # simulated seconds after which the user gives up an action
LATE = 0.3  # seconds of real time
EXAMPLES = os.environ.get("PROVE_EXAMPLES", "")  # the number of random examples; "" for a few fixed ones

FAULTS: dict[str, script.AnyFault] = {
    "nobody listens": script.Refuse(),
    "the body is cut": script.ResetInBody(on="submit", byte=40),
    "accepted, no answer": script.ResetAfterBody(on="submit", billed=True),
    "not accepted, no answer": script.ResetAfterBody(on="submit"),
    "accepted, half an answer": script.ResetInReply(on="submit", billed=True),
    "accepted, garbage": script.Garbage(on="submit", billed=True),
    "accepted, a page": script.Page(on="submit", billed=True),
    "accepted, a late answer": script.Stall(on="submit", seconds=LATE, billed=True),
    "busy": script.Refusal(on="submit", status=429, code=3040, retry_after="70"),
    "refused": script.Refusal(on="submit", status=400, code=5006, message="bad input"),
    "token refused": script.Refusal(status=401, code=10000, message="Authentication error"),
    "asked too often": script.Block(seconds=300.0),
    "a question without an answer": script.ResetAfterBody(on="poll", times=2),
    "a page for a question": script.Page(on="poll", times=2),
    "a server error for a question": script.Refusal(on="poll", status=500, code=5001),
    "an answer cut in the middle": script.ResetInReply(on="poll", byte=500, billed=True),
}


class Disk:
    """A full disk, simulated for this process by a resource limit. It does not apply to the service's files."""

    def __init__(self) -> None:
        self.is_full = False
        self._in_use = self._lifted = 0
        self._guard = threading.Lock()
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Apply the limit within the block, if the disk is full. Outside of it the test itself can write."""
        with self._changed(in_use=1):
            yield

    def lifted_for(self, application: Application) -> Application:
        """The application without the limit during its requests."""

        async def with_room(*arguments: Any) -> None:
            with self._changed(lifted=1):
                await application(*arguments)

        return with_room

    @contextmanager
    def _changed(self, *, in_use: int = 0, lifted: int = 0) -> Iterator[None]:
        self._change(in_use, lifted)
        try:
            yield
        finally:
            self._change(-in_use, -lifted)

    def _change(self, in_use: int, lifted: int) -> None:
        with self._guard:
            self._in_use += in_use
            self._lifted += lifted
            stands = self.is_full and self._in_use and not self._lifted
            resource.setrlimit(resource.RLIMIT_FSIZE, (0 if stands else self._before[0], self._before[1]))


class BrokenPromise(AssertionError):
    """The finding and the actions that led to it. `first` is the first one of a test."""

    first: ClassVar["BrokenPromise | None"] = None

    def __init__(self, words: str) -> None:
        super().__init__(words)
        BrokenPromise.first = BrokenPromise.first or self


def told(act: Callable[P, T]) -> Callable[P, T]:
    """A decorator that also records the rule's call in the machine's `story`."""

    @wraps(act)
    def telling(*arguments: P.args, **drawn: P.kwargs) -> T:
        machine: Any = arguments[0]
        words = ", ".join(f"{name}={value!r}" for name, value in drawn.items())
        machine.story.append(f"{act.__name__}({words})")
        return act(*arguments, **drawn)

    return telling


@cache
def truth() -> Truth:
    """The correct values, computed once."""
    with tempfile.TemporaryDirectory() as folder, PracticeServer(Path(folder)) as server:
        return learn(server.url)


class Machine(RuleBasedStateMachine):
    """The program runs on a loop with simulated time, and only during a rule.

    A rule ends when the program is idle: no work is in progress, and every waiting task waits for the clock.
    """

    jobs = Bundle("jobs")

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(cutting, "MAX_TEXTS_PER_BATCH", 20)
        self.patch.setattr(runner, "CLOSE_SECONDS", 0.05)
        self.patch.setattr(conftest, "Transport", CountedTransport)
        self.root = Path(tempfile.mkdtemp(prefix="cfbatch-machine-"))
        self.disk, self.simulation = Disk(), Simulation()
        self.clock = self.simulation.clock
        self.told_again: Counter[Key] = Counter()
        self.lacked_room = False  # since the last start
        self.files = 0
        self.story: list[str] = []
        self.run(self._open())

    async def _open(self) -> None:
        folder = self.root / "service"
        service = practice_app(folder, seconds_queued=20.0, seconds_running=20.0, clock=self.clock.of_service)
        self.faulty = FaultyService(self.disk.lifted_for(service), clock=self.clock)
        await self.faulty.__aenter__()
        self.bench = Bench(self.root / "data", self.faulty, self.clock, service_folder=folder)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the program until `work` is done."""
        with self.disk.in_use():
            return self.simulation.run(work)

    def attempt(self, work: Callable[[], Awaitable[object]], seconds: float = PATIENCE) -> None:
        """Run an action that may raise UserError; it is cancelled after so many simulated seconds."""

        async def bounded() -> None:
            await within(self.clock, seconds, work(), UserError)

        self.run(bounded())

    # The user

    @rule(target=jobs, kind=st.sampled_from(Kind), rows=st.integers(2, 45), seed=st.integers(0, 99))
    @told
    def load(self, kind: Kind, rows: int, seed: int) -> str:
        self.files += 1
        path = write_input(self.root / f"{self.files}.csv", kind, Random(seed), rows=rows)
        drafts: list[Job] = []

        async def draft() -> None:
            drafts.append(self.bench.draft(path, kind))

        self.attempt(draft)
        if not drafts:  # the disk is full; the next draws must not depend on that
            was_full, self.disk.is_full = self.disk.is_full, False
            self.run(draft())
            self.disk.is_full = was_full
        return drafts[0].id

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
        self.attempt(lambda: self.bench.runner.carry_on(job))

    @rule(job=jobs, what=st.sampled_from(["adopt", "again", "dismiss"]))
    @told
    def decide(self, job: str, what: str) -> None:
        actions = self.bench.actions
        for batch in self.bench.ledger.job(job).batches:
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

    @rule(job=jobs, suffix=st.sampled_from(["csv", "jsonl"]), runs_full=st.booleans())
    @told
    def export(self, job: str, suffix: str, runs_full: bool) -> None:
        path = self.root / f"{job}.{suffix}"
        before = path.read_bytes() if path.exists() else None
        done = self.bench.ledger.job(job)

        def write() -> None:
            exported = export(self.bench.store.folder(job), metadata_of(done, "Cloudflare"), path)
            assert path.read_bytes() and exported.manifest.exists()

        was_full, self.disk.is_full = self.disk.is_full, self.disk.is_full or runs_full
        try:
            self.run(asyncio.to_thread(write))
        except UserError:
            assert (path.read_bytes() if path.exists() else None) == before
        finally:
            self.disk.is_full = was_full

    @rule()
    @told
    def restart(self) -> None:
        """Close the window and open it again; on a full disk only once there is room."""
        self.run(self.bench.stop())
        try:
            with self.disk.in_use():
                self.bench.start()
        except UserError:
            self.disk.is_full = False
            self.bench.start()
        self.attempt(self.bench.runner.resume_all)
        self.lacked_room = self.disk.is_full

    @rule(job=jobs, what=st.sampled_from(["send", "carry_on"]), pieces=st.integers(1, 12))
    @told
    def restart_in_the_middle(self, job: str, what: str, pieces: int) -> None:
        """Close the window after the program has begun so many writes and calls, and open it again."""
        work = {"send": self.bench.actions.send, "carry_on": self.bench.runner.carry_on}[what]

        async def begin() -> None:
            task = asyncio.ensure_future(work(job))
            await self.simulation.work.is_over(pieces)
            task.cancel()
            with suppress(UserError, asyncio.CancelledError):
                await task

        self.run(begin())
        self.restart()

    # Faults of the service, the disk and the clock

    @rule(fault=st.sampled_from(sorted(FAULTS)))
    @told
    def go_wrong(self, fault: str) -> None:
        self.run(self._follow(FAULTS[fault]))

    @rule()
    @told
    def go_right(self) -> None:
        self.run(self._follow())

    @rule(days=st.floats(-1.0, 1.0))
    @told
    def jump(self, days: float) -> None:
        """This computer's clock is set, or the computer sleeps; the service's clock is not affected."""
        self.clock.set_by += days * DAY

    @precondition(lambda self: sys.platform != "darwin")  # its limit applies to sockets too
    @rule(is_full=st.booleans())
    @told
    def fill_disk(self, is_full: bool) -> None:
        self.disk.is_full = is_full
        self.lacked_room |= is_full

    async def _follow(self, *faults: script.AnyFault) -> None:
        self.faulty.follow(*faults)

    # Invariants

    @invariant()
    def promises_hold(self) -> None:
        self.check(settled=False)

    def check(self, *, settled: bool) -> None:
        found: list[Finding] = Comparison(
            self.bench.paths,
            accepted(self.root / "service"),
            answered_synchronously(self.root / "service"),
            truth(),
            self.told_again,
            may_fail=True,
            lacked_room=self.lacked_room and not settled,
        ).run(settled=settled)
        found += unfinished_files(self.root) if settled else []
        if found:
            raise self._broken([f"{each.breach}: {each.words}" for each in found])

    def _broken(self, words: list[str]) -> BrokenPromise:
        return BrokenPromise("\n".join([*words, "after", *self.story]))

    def teardown(self) -> None:
        """Remove all faults and assert that every job comes to its end."""
        try:
            self.disk.is_full = False
            self.go_right()
            self.restart()
            self.run(self._finish())
            self.check(settled=True)
        finally:
            self.run(self._close())
            self.simulation.close()
            self.patch.undo()
            shutil.rmtree(self.root)

    async def _finish(self) -> None:
        for job in self.bench.ledger.jobs():
            if job.is_sent:
                await self.bench.runner.carry_on(job.id)
                waiting = asyncio.ensure_future(self.bench.runner.wait(job.id))
                await self.clock.passes(HOUR, waiting)
                if not waiting.done():
                    under_way = "\n".join(str(task) for task in asyncio.all_tasks())
                    raise self._broken([f"job {job.id} has not come to its end", under_way])

    async def _close(self) -> None:
        await self.bench.stop()
        await self.faulty.__aexit__()


class TestMachine(Machine.TestCase):  # type: ignore[misc, valid-type]  # hypothesis makes that class at run time
    """Fails with the first finding, also when hypothesis cannot reproduce it."""

    settings = settings(
        max_examples=int(EXAMPLES or 8),
        stateful_step_count=25,
        deadline=None,
        derandomize=not EXAMPLES,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        database=None,
        print_blob=False,
        phases=[Phase.generate],  # a finding is reported with its story; shrinking it would take minutes
    )

    def runTest(self) -> None:
        """Run the machine as often as the settings say."""
        BrokenPromise.first = None
        try:
            super().runTest()
        except BaseException:
            if BrokenPromise.first is not None:
                raise BrokenPromise.first from None
            raise
