"""The parts of the proof. Each does one process's share of the work and reports its findings."""

import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.run import submitting
from cfbatch_gui.core.jobs.states import BatchState
from cfbatch_gui.core.workers_ai.transport import ExchangeError, Transport
from tests.prove import child, exporting
from tests.prove.child import put
from tests.prove.compare import Breach, Finding, written_tokens
from tests.prove.report import Catch, Part, Report
from tests.prove.steps import COLLECT, SUBMIT, SYNCHRONOUS, Step
from tests.prove.truth import Truth
from tests.prove.variants import Variant, watch_flushes
from tests.prove.world import Service, World

KINDS = (Kind.RANK, Kind.EMBED)
ROWS = 45  # three batches
ROUNDS = 12  # rounds in one world, after which its ledger is destroyed and the world abandoned
TIME_OUT = 0.5  # limit of a submit in seconds, for a service that answers later


@dataclass
class Bench:
    """The resources of one process. `slow` is a practice service that accepts immediately and answers too late."""

    folder: Path
    service: Service
    slow: Service
    truth: Truth
    on_kill: Callable[[], None]
    report: Report = field(default_factory=Report)
    worlds: int = 0

    def world(self, seed: int, *, service: Service | None = None, prepare: child.Prepare = child.nothing) -> World:
        """Create a new world in a folder of its own."""
        return World(self.new_root(), service or self.service, self.truth, random.Random(seed), prepare, self.on_kill)

    def new_root(self) -> Path:
        """The folder of the next world."""
        self.worlds += 1
        return self.folder / f"world {self.worlds}"

    @contextmanager
    def timed(self, name: str) -> Iterator[Part]:
        """The part of this name, to which the duration of the block is added."""
        part = self.report.part(name)
        started = time.monotonic()
        yield part
        part.seconds += time.monotonic() - started

    def keep_or_remove(self, world: World, part: Part, *, found: bool) -> None:
        """Search the world's files for the token, and remove the world unless something was found in it."""
        part.kills += world.kills
        tokens = written_tokens(world.root)
        part.add(f"{world.root}", tokens)
        if not found and not tokens:
            world.remove()


def run_undisturbed(bench: Bench) -> None:
    """Assert that the program works when it is not killed, without which later findings would mean nothing."""
    for kind in KINDS:
        world = bench.world(0)
        ended = world.start(world.new_job(kind, rows=ROWS, with_output=True))
        found = world.settle()
        assert ended.status == 0 and not found, f"{found} {(world.root / 'child.log').read_text()}"
        world.remove()


def kill_at_random(bench: Bench, kills: int, seed: int) -> None:
    """Kills at random moments of `run`, `resume` and the user's decisions; after each, a start and a comparison."""
    span = 0.3  # seconds; adapts to the duration of an undisturbed run, so that one run in ten ends before its kill
    with bench.timed("at random moments") as part:
        while part.kills < kills:
            world_seed = seed * 1_000_003 + bench.worlds
            world = bench.world(world_seed)
            found: list[Finding] = []
            for _ in range(ROUNDS):
                if found or part.kills + world.kills >= kills:
                    break
                span *= 1.01 if _round(world, span, found) else 0.92
            found += [] if found else world.settle_without_ledger()
            part.add(f"seed {world_seed}, {world.root}", found)
            bench.keep_or_remove(world, part, found=bool(found))


def _round(world: World, span: float, found: list[Finding]) -> bool:
    """Start a command, kill it, perhaps kill the next start too, then settle. Whether the first kill was in time."""
    rng = world.rng
    command = world.decision() if rng.random() < 0.25 else None
    if command is None:
        with_output, synchronous = rng.random() < 0.4, rng.random() < 0.25
        command = world.new_job(
            rng.choice(KINDS), rows=rng.randint(4, 50), with_output=with_output, synchronous=synchronous
        )
    was_killed = world.start(command, kill_after=rng.uniform(0.0, span)).was_killed
    found += world.look()
    while rng.random() < 0.35:
        world.start(world.resume(), kill_after=rng.uniform(0.0, span / 2))
        found += world.look()
    found += world.settle()
    return was_killed


def kill_at_steps(bench: Bench, share: slice, every: int) -> None:
    """Kill at every step of submit and collect, for both kinds of job, in the first and in the second batch."""
    with bench.timed("at every step of submit and collect") as part:
        for step, kind, turn in list(product((*SUBMIT, *COLLECT), KINDS, (1, 2)))[::every][share]:
            world = bench.world(turn)
            found = _at_step(world, step, kind, turn)
            part.add(f"{step.name}, {kind.value}, batch {turn}, {world.root}", found)
            bench.keep_or_remove(world, part, found=bool(found))


def kill_calls_at_steps(bench: Bench, share: slice, every: int) -> None:
    """Kill at every step of a synchronous call."""
    with bench.timed("at every step of a call at once") as part:
        for step, kind in list(product(SYNCHRONOUS, KINDS))[::every][share]:
            world = bench.world(1)
            found = _call_at_step(world, step, kind)
            part.add(f"{step.name}, {kind.value}, {world.root}", found)
            bench.keep_or_remove(world, part, found=bool(found))


def _call_at_step(world: World, step: Step, kind: Kind) -> list[Finding]:
    return _at_step(world, step, kind, 1, rows=6, synchronous=True)


def _at_step(
    world: World, step: Step, kind: Kind, turn: int, *, rows: int = ROWS, synchronous: bool = False
) -> list[Finding]:
    ended = world.start(world.new_job(kind, rows=rows, synchronous=synchronous), prepare=lambda: step.arm(turn))
    if not ended.was_killed:
        return [Finding(Breach.UNREACHED, f"never came to “{step.name}”")]
    on_its_way = _batches(world, BatchState.SENDING)
    found = [*world.look(), *world.settle()]
    unknown = _batches(world, BatchState.OUTCOME_UNKNOWN)
    if step.unknown not in (None, len(unknown)) or not unknown <= on_its_way:
        found.append(Finding(Breach.MISLABELLED, f"batches of unknown outcome: {sorted(unknown)}"))
    return found


def _batches(world: World, state: BatchState) -> set[int]:
    """The numbers of the batches in a state, in a world with one job."""
    return {batch.number for job in world.jobs() for batch in job.batches if batch.state is state}


def kill_exports(bench: Bench, kills: int, seed: int, share: slice, *, every: int, every_form: int) -> None:
    """Kill exports with and without an older file, at every step and at random; also fill the disk."""
    with bench.timed("while exporting") as part:
        world = bench.world(seed)
        at_work = exporting.prepare(world, share, every_form)
        found: list[Finding] = []
        for place, step, turn in list(at_work.steps())[::every]:
            new = at_work.kill_at(place, step, turn)
            part.add(f"{step}, {world.root}", new)
            found += new
        for place, room in list(product(at_work.counts, (0, 1)))[::every]:
            new = at_work.fill_disk_at(place, room * at_work.half_of(place))
            part.add(f"full disk, {world.root}", new)
            found += new
        at_steps = world.kills
        while world.kills < at_steps + kills:
            new = at_work.kill_at_random()
            part.add(f"seed {seed}, {world.root}", new)
            found += new
        bench.keep_or_remove(world, part, found=bool(found))


def time_out(bench: Bench, share: slice) -> None:
    """Submits that are accepted but not answered in time: without kills, and with the same comparison."""
    with bench.timed("answers that come too late") as part:
        for kind in list(KINDS)[share]:
            world = bench.world(0, service=bench.slow)
            found = _timed_out(world, kind)
            part.add(f"{kind.value}, {world.root}", found)
            bench.keep_or_remove(world, part, found=bool(found))


def _timed_out(world: World, kind: Kind) -> list[Finding]:
    log = world.root / "submits"
    world.start(world.new_job(kind, rows=12), prepare=lambda: _impatient(log))
    # A body that was cut in the middle is never accepted, and then the wait ends after three seconds.
    child.until(lambda: log.exists() and len(world.accepted) >= log.stat().st_size, patience=3.0)
    found = world.look()
    return (
        found
        if _batches(world, BatchState.OUTCOME_UNKNOWN)
        else [*found, Finding(Breach.MISLABELLED, "an answer too late is no unknown outcome")]
    )


def _impatient(log: Path) -> None:
    """Shorten the limit of submits. Each that may have reached the service appends a byte to `log`."""
    send = Transport.send

    async def hurried(self: Transport, *arguments: Any, seconds: float, **named: Any) -> Any:
        if named.get("what") not in ("submit", "run"):
            return await send(self, *arguments, seconds=seconds, **named)
        try:
            return await send(self, *arguments, seconds=TIME_OUT, **named)
        except ExchangeError as error:
            with log.open("ab") as stream:
                stream.write(b"." * error.body_left)
            raise

    put(Transport, "send", hurried)
    put(submitting, "FIRST_WAIT", 0.01)


def catch(bench: Bench, variant: Variant) -> None:
    """Run a broken variant in its part of the proof until the breach that it causes is found."""
    for where, look in _places(bench, variant):
        for finding in look():
            if finding.breach is variant.breach:
                bench.report.catches.append(Catch(variant.name, where, finding.breach.value, finding.words))
                return
    bench.report.catches.append(Catch(variant.name, "", ""))


def _places(bench: Bench, variant: Variant) -> Iterator[tuple[str, Callable[[], Sequence[Finding]]]]:
    def world(service: Service | None = None) -> World:
        return bench.world(1, service=service, prepare=variant.install)

    match variant.part:
        case "submit" | "collect":
            for step in _shown_first(SUBMIT if variant.part == "submit" else COLLECT, variant):
                yield step.name, partial(_at_step, world(), step, Kind.RANK, 1)
        case "at once":
            for step in _shown_first(SYNCHRONOUS, variant):
                yield f"at once, {step.name}", partial(_call_at_step, world(), step, Kind.RANK)
        case "time-out":
            yield "an answer that comes too late", partial(_timed_out, world(bench.slow), Kind.RANK)
        case "export":
            at_work = exporting.prepare(world())
            for place, at_step, turn in at_work.steps():
                if place.with_old:
                    yield f"{place.form}, {at_step}", partial(at_work.kill_at, place, at_step, turn)
        case "flush":
            yield "the order of calls; no kill shows it", partial(_unflushed, bench.world(1), variant.install)


def _shown_first(steps: Sequence[Step], variant: Variant) -> list[Step]:
    """The steps, beginning with the one that is expected to show the variant's breach."""
    return sorted(steps, key=lambda step: step.name != variant.shown_at)


def _unflushed(world: World, variant: child.Prepare = child.nothing) -> list[Finding]:
    report = world.root / "unflushed"

    def prepare() -> None:
        watch_flushes(report)
        variant()

    world.start(world.new_job(Kind.RANK, rows=12, with_output=True), prepare=prepare)
    names = report.read_text().split() if report.exists() else []
    return [Finding(Breach.TORN, f"{name} took its place before it was flushed") for name in names]


def watch_order(bench: Bench) -> None:
    """Check that the program flushes a file before renaming it over another."""
    with bench.timed("flushed before it is renamed") as part:
        part.add("an undisturbed run", _unflushed(bench.world(0)))


def remove(folder: Path) -> None:
    """Delete the folder of all worlds."""
    shutil.rmtree(folder, ignore_errors=True)
