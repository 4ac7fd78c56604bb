"""Kills while the user's account collects: of the program, of the Worker's runtime, and of both.

Each round is a job of several shards in a data folder of its own, sent through the Worker. At the end each answer must
be here once, bit for bit as the service gives it, nothing may have been accepted twice, and no copy may be left in the
account.
"""

import asyncio
import os
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs import account as collecting
from cfbatch_gui.core.jobs import states
from cfbatch_gui.core.jobs.plan import requests
from cfbatch_gui.core.jobs.run import submitting
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection, Settings
from tests.canary import TOKEN
from tests.journeys.terminal import ACCOUNT
from tests.prove import world as program
from tests.prove.compare import MODEL, Breach, Finding, command_of, write_input
from tests.prove.mutants import Mutant
from tests.prove.scenes import KINDS, Bench
from tests.prove.world import Command, Prepare, Service, World, end_child, nothing, put, wait_for_child
from tests.support.practice import Accepted, accepted, answer_to, service_process
from tests.worker.runtime import CollectingRuntime

CONNECTION = "account"
SECONDS = 0.15  # for which a batch is queued, and then running
FIRST_CHECK = 0.06  # seconds; the Worker takes 0.05 and more
PATIENCE = 60.0  # seconds until a program that does not end is stuck
SPAN = 1.0  # seconds between two kills, at most
_MOST_TRIES = 8  # decisions about unknown outcomes, until a job is at its end; jobs until a mutant is caught
_TOLD = frozenset({"", collecting.NOT_HANDED_OVER, collecting.STOPPED})  # what may have become of a shard by a kill


@dataclass(frozen=True, slots=True)
class Account:
    """The user's account: the Worker in its runtime, and the service behind it as a process of its own."""

    runtime: CollectingRuntime
    service: Service


@contextmanager
def opened(folder: Path) -> Iterator[Account]:
    """An account in a folder, until the end of the block."""
    with service_process(folder / "service", SECONDS) as url:
        runtime = CollectingRuntime(url, folder / "runtime")
        runtime.start()
        try:
            yield Account(runtime, Service(url, folder / "service"))
        finally:
            runtime.kill()


@dataclass(kw_only=True)
class AccountWorld(World):
    """A data folder whose one connection is the Worker, which collects."""

    at: Account

    def __post_init__(self) -> None:
        super().__post_init__()
        self._before = {each: len(accepted(self.service.folder, is_queued=each)) for each in (True, False)}
        self.paths.create()
        address = self.at.runtime.address
        worker = SavedConnection(CONNECTION, "My Worker", "worker", url=address, collects=True)
        Settings(connections=(worker,)).save(self.paths.settings)

    def accepted(self, *, is_queued: bool = True) -> list[Accepted]:
        """What the service accepted since this world was made: it is the only one that is at work there."""
        return accepted(self.service.folder, is_queued=is_queued)[self._before[is_queued] :]

    def new_account_job(self, kind: Kind, *, rows: int) -> Command:
        """`cfbatch run` through the Worker."""
        path = write_input(self.root / "job.csv", kind, self.rng, rows=rows)
        return self.cfbatch(*command_of(path, kind, "job", CONNECTION))

    def go_on(self) -> Command:
        """The next start: of the terminal, or as the window does it."""
        return self.resume() if self.rng.random() < 0.5 else lambda: asyncio.run(_as_in_the_window(self.paths.root))

    def settle(self) -> None:
        """As `World.settle`; with what the account has left, and the answers beside those of the service."""
        super().settle()
        for job in self.jobs():
            self.found += self._answers(job)
            if all(batch.state.is_final for batch in job.batches):
                self.found += [
                    Finding(Breach.STRAY, f"{key} is still in the account")
                    for key in sorted(self.at.runtime.stored(job.id))
                ]

    def _answers(self, job: Job) -> Iterator[Finding]:
        folder = JobFolder(self.paths.job(job.id))
        if job.account_problem not in _TOLD:
            yield Finding(Breach.LOST, f"job {job.id}, and nobody has taken it from the account: {job.account_problem}")
        for batch in job.batches:
            what = f"batch {job.id}/{batch.number}"
            if batch.direct_only and not job.account_problem:
                yield Finding(Breach.MISLABELLED, f"{what}: what the account has of it was called unusable")
            is_done = batch.state is BatchState.DONE
            theirs = answer_to(self.service.url, ACCOUNT, MODEL, batch.request_id) if is_done else b""
            if is_done and folder.read_reply(batch.number) != theirs:
                yield Finding(Breach.WRONG, f"{what}: its answer is not what the service answers")

    def _environ(self) -> dict[str, str]:
        kept = {name: value for name, value in super()._environ().items() if not name.startswith("CLOUDFLARE")}
        return {**kept, f"CFBATCH_SECRET_{CONNECTION.upper()}": TOKEN}


async def _as_in_the_window(root: Path) -> int:
    """Go on with every job, without an end when the Worker cannot be reached."""
    program = await Program.open(root, environ=os.environ)
    try:
        await program.resume_all()
        for job in program.ledger.jobs():
            if job.paused_because:
                await program.runner.carry_on(job.id)
            await program.runner.wait(job.id)
    finally:
        await program.close()
    return 0


def quicken() -> None:
    """Small shards, soon looked at."""
    put(program, "FIRST_CHECK", FIRST_CHECK)
    put(requests, "MAX_TEXTS_PER_BATCH", 7)
    put(states, "FREE_BATCHES", 2)  # batches of one shard
    put(submitting, "FIRST_WAIT", 0.2)


def why_not() -> str:
    """Why this scene cannot be run on this computer; "" when it can."""
    is_there = shutil.which("node") and shutil.which("npm")
    return "" if is_there else "The Worker's runtime needs Node.js with npm."


def collect(bench: Bench, rounds: int, mutants: Sequence[Mutant]) -> None:
    """So many rounds, one after the other, then rounds with mutants until each is caught; in one account."""
    if not rounds and not mutants:
        return
    with bench.timed("the account collects") as part, opened(bench.folder / "account") as account:
        for number in range(rounds):
            seed = bench.seed * 1_000_003 + number
            world = _world(bench, account, seed)
            _round(world)
            part.tried += 1
            bench.close(part, world, f"seed {seed}")
        for mutant in mutants:
            caught = any(each.breach is mutant.breach for each in _mutant_findings(bench, account, mutant))
            bench.report.catches.append((mutant.name, str(mutant.breach) if caught else "", "the account collects"))


def _mutant_findings(bench: Bench, account: Account, mutant: Mutant) -> Iterator[Finding]:
    for number in range(_MOST_TRIES):
        world = _world(bench, account, number, mutant.install)
        world.start(world.new_account_job(KINDS[number % 2], rows=40))
        world.settle()
        yield from world.found


def _world(bench: Bench, account: Account, seed: int, prepare: Prepare = nothing) -> AccountWorld:
    def both() -> None:
        quicken()
        prepare()

    return AccountWorld(bench.new_root(), account.service, random.Random(seed), both, at=account)


def _round(world: AccountWorld) -> None:
    """Send a job and disturb it, then let it come to its end."""
    rng = world.rng
    process = world.begin(world.new_account_job(rng.choice(KINDS), rows=rng.randint(7, 90)))
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        if wait_for_child(process, rng.uniform(0.0, SPAN)) is not None:
            break
        process = _disturbed(world, process, program=rng.random() < 0.67, runtime=rng.random() < 0.67)
    else:
        if end_child(process, patience=PATIENCE) < 0:
            world.found.append(Finding(Breach.STUCK, "the program did not come to an end"))
    world.settle()
    for _ in range(_MOST_TRIES):
        decision = world.decision()
        if decision is None:
            break
        world.start(decision, kill_after=rng.choice((None, rng.uniform(0.0, SPAN))))
        world.settle()


def _disturbed(world: AccountWorld, process: int, *, program: bool, runtime: bool) -> int:
    """Kill, look, and start again what was killed; the process id of the program from now on."""
    world.kills += program or runtime
    if runtime:
        world.at.runtime.kill()
    if program:
        end_child(process, kill_after=0.0)
        world.look()
    if world.rng.random() < 0.3:
        time.sleep(world.rng.uniform(0.0, 0.5))  # the account goes on alone, or the program, or nobody
    if runtime:
        world.at.runtime.start()
        world.at.runtime.wake()
    return world.begin(world.go_on()) if program else process
