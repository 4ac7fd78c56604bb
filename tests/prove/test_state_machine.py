"""Random actions and faults of a user, a service and a disk in any order; all promises hold after each step."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.run import runner
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.store.data_folder import PUT_TOGETHER, WAITS_FOR_WORD, FolderAnswer
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.results.exports import export
from cfbatch_gui.core.system.paths import Paths
from tests.core.jobs import conftest
from tests.core.jobs.conftest import Bench
from tests.prove.compare import Comparison, Finding, Key, unfinished_files
from tests.prove.machine_parts import FAULTS, BrokenPromise, Disk, Folders, told
from tests.prove.simulated import CountedTransport, Simulation, within
from tests.prove.truth import Truth, learn, write_input
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService
from tests.support.practice import PracticeServer, accepted, answered_synchronously

pytest.importorskip("resource", reason="the disk is filled by a limit that only POSIX has")

T = TypeVar("T")
HOUR, DAY = 3_600.0, 86_400.0
PATIENCE = 60.0  # simulated seconds after which the user gives up an action
EXAMPLES = os.environ.get("PROVE_EXAMPLES", "")  # the number of random examples; "" for a few fixed ones


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
        self.patch.setattr(requests, "MAX_TEXTS_PER_BATCH", 20)
        self.patch.setattr(runner, "CLOSE_SECONDS", 0.05)
        self.patch.setattr(conftest, "Transport", CountedTransport)
        self.root = Path(tempfile.mkdtemp(prefix="cfbatch-machine-"))
        self.disk, self.simulation = Disk(), Simulation()
        self.clock = self.simulation.clock
        self.told_again: Counter[Key] = Counter()
        self.lacked_room = False  # since the last start
        self.files = 0
        self.may_be_put_back = self.was_put_back = False
        self.folders = Folders(self.root)
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
        actions = self.bench.actions
        known = self._known(job)
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

    @rule(job=jobs, suffix=st.sampled_from(["csv", "jsonl"]), runs_full=st.booleans())
    @told
    def export(self, job: str, suffix: str, runs_full: bool) -> None:
        path = self.root / f"{job}.{suffix}"
        before = path.read_bytes() if path.exists() else None
        done = self._known(job)
        if done is None:
            return

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

    # Moved, copied and restored folders

    @initialize(is_put_back=st.booleans())
    @told
    def choose(self, is_put_back: bool) -> None:
        """Half of the runs are without these, because less can be asked of a folder that was put back."""
        self.may_be_put_back = is_put_back

    @rule()
    @told
    def move(self) -> None:
        """The folder gets another name; the user says so when asked."""
        self.begin_with(self.folders.moved, FolderAnswer.MOVED)

    @precondition(lambda self: self.may_be_put_back)
    @rule(goes_on_with_copy=st.booleans())
    @told
    def copy(self, goes_on_with_copy: bool) -> None:
        """The folder is copied; the program goes on with either, and perhaps later with the other."""
        self.begin_with(partial(self.folders.copied, goes_on_with_copy=goes_on_with_copy), FolderAnswer.COPIED)

    @precondition(lambda self: self.folders.others)
    @rule()
    @told
    def go_on_with_another(self) -> None:
        """The program is started with the other copy."""
        self.begin_with(self.folders.other, FolderAnswer.COPIED)

    @precondition(lambda self: self.may_be_put_back)
    @rule()
    @told
    def keep_a_backup(self) -> None:
        """A copy is kept, made while the program is not running."""
        self.begin_with(self.folders.backed_up, FolderAnswer.COPIED)

    @precondition(lambda self: self.folders.backup is not None)
    @rule(what=st.sampled_from(["ledger", "ledger and ids", "whole folder"]))
    @told
    def put_back(self, what: str) -> None:
        """The older copy takes the place of what is there."""
        self.begin_with(partial(self.folders.put_back, what=what), FolderAnswer.COPIED)

    def begin_with(self, change: Callable[[Path], Path], answer: FolderAnswer) -> None:
        """Change folders while the program is not running, start it, and answer its question if it asks."""
        self.disk.is_full = False
        self.run(self.bench.stop())
        root = change(self.bench.paths.root)
        self.was_put_back |= answer is FolderAnswer.COPIED
        self.bench.paths = Paths(root, self.bench.paths.state)
        self.bench.start()
        if self.bench.opened.doubt is None:
            self.attempt(self.bench.runner.resume_all)
            return

        async def asked() -> None:
            await self.bench.runner.resume_all()
            await self.bench.settle_doubt(answer)

        self.attempt(asked)

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

    async def _follow(self, *faults: Fault) -> None:
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
            was_put_back=self.was_put_back,
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
                self._allow(job.id)
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
