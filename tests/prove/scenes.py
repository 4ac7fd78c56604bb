"""The scenes of the proof: what is done to the program while it is killed, at random moments or at every step.

Each function does one process's share of a scene, and adds what was found to the report.
"""

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.run import submitting
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.judgements.book import Book, newest
from cfbatch_gui.core.judgements.session import Session, Shown
from cfbatch_gui.core.judgements.values import Subject
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit
from cfbatch_gui.core.workers_ai.transport import ExchangeError, Transport
from tests.prove import child
from tests.prove.child import Command, Prepare, put
from tests.prove.compare import TEXTS, Breach, Finding, command_of, is_vector, written_tokens
from tests.prove.exporting import Exporting
from tests.prove.mutants import Mutant
from tests.prove.power import Replay, in_memory
from tests.prove.power_disk import Mark
from tests.prove.report import Part, Report
from tests.prove.steps import COLLECT, SUBMIT, SYNCHRONOUS, Step
from tests.prove.world import Service, World
from tests.support.practice import stored_vectors

T = TypeVar("T")
KINDS = (Kind.RANK, Kind.EMBED)
ROWS = 45  # three batches
ROUNDS = 12  # in one world, after which its ledger is destroyed and the world abandoned
TIME_OUT = 0.5  # limit of a submit in seconds, for a service that answers later
RESUMED_EVERY = 150  # states after a power cut
_MOST_TRIES = 40  # starts until a command has come to its end


@dataclass
class Bench:
    """The resources of one process, which does the `number`th of `workers` shares of the work.

    `slow` is a service that accepts at once and answers too late. Only every `every`th step, cut and mutant is tried.
    """

    folder: Path
    service: Service
    slow: Service
    seed: int
    number: int = 0
    workers: int = 1
    every: int = 1
    report: Report = field(default_factory=Report)
    worlds: int = 0

    def share(self, whole: Sequence[T]) -> Sequence[T]:
        return whole[:: self.every][self.number :: self.workers]

    def count(self, whole: int, among: int | None = None) -> int:
        """This process's share of so many kills; the first processes get the remainders."""
        return len(range(whole)[self.number :: among or self.workers]) if self.number < (among or self.workers) else 0

    def world(self, seed: int, *, service: Service | None = None, prepare: Prepare = child.nothing) -> World:
        return World(self.new_root(), service or self.service, random.Random(seed), prepare)

    def new_root(self) -> Path:
        self.worlds += 1
        return self.folder / f"world {self.worlds}"

    @contextmanager
    def timed(self, name: str) -> Iterator[Part]:
        part, started = self.report.part(name), time.monotonic()
        yield part
        part.seconds += time.monotonic() - started

    def close(self, part: Part, world: World, how: str, found: list[Finding]) -> None:
        """Count what a world came to; it is removed unless something was found in it."""
        found += written_tokens(world.root)
        part.kills += world.kills
        part.add(f"{how}, {world.root}", found)
        if not found:
            world.remove()


# Submitting and collecting


def submit_at_random(bench: Bench, kills: int) -> None:
    """Kills of `run`, `resume` and the user's decisions; after each, a start and a comparison."""
    span = 0.3  # seconds; adapts to the duration of an undisturbed run, so that one run in ten ends before its kill
    with bench.timed("submit and collect, at random") as part:
        while part.kills < kills:
            seed = bench.seed * 1_000_003 + bench.worlds
            world, found = bench.world(seed), list[Finding]()
            for _ in range(ROUNDS):
                if found or part.kills + world.kills >= kills:
                    break
                span *= 1.01 if _round(world, span, found) else 0.92
            found += [] if found else world.settle_without_ledger()
            bench.close(part, world, f"seed {seed}", found)


def _round(world: World, span: float, found: list[Finding]) -> bool:
    """Start a command, kill it, perhaps kill the next start too, then settle. Whether the first kill was in time."""
    rng = world.rng
    command = world.decision() if rng.random() < 0.25 else None
    if command is None:
        options = {"with_output": rng.random() < 0.4, "synchronous": rng.random() < 0.25}
        command = world.new_job(rng.choice(KINDS), rows=rng.randint(4, 50), **options)
    was_killed = world.start(command, kill_after=rng.uniform(0.0, span)).was_killed
    found += world.look()
    while rng.random() < 0.35:
        world.start(world.resume(), kill_after=rng.uniform(0.0, span / 2))
        found += world.look()
    found += world.settle()
    return was_killed


def submit_at_steps(bench: Bench, _: int) -> None:
    """Kills at every step, for both kinds of job, in the first and in the second batch; and answers that come late."""
    with bench.timed("submit and collect, at every step") as part:
        cases = [*product((*SUBMIT, *COLLECT), KINDS, (1, 2), (False,)), *product(SYNCHRONOUS, KINDS, (1,), (True,))]
        for step, kind, turn, synchronous in bench.share(cases):
            world = bench.world(turn)
            found = at_step(world, step, kind, turn, synchronous=synchronous)
            bench.close(part, world, f"{step.name}, {kind.value}, batch {turn}", found)
        for kind in bench.share(KINDS):
            world = bench.world(0, service=bench.slow)
            bench.close(part, world, f"a late answer, {kind.value}", answered_late(world, kind))


def at_step(
    world: World, step: Step, kind: Kind = Kind.RANK, turn: int = 1, *, synchronous: bool = False
) -> list[Finding]:
    """Findings after a kill at a step, and after the next start."""
    command = world.new_job(kind, rows=6 if synchronous else ROWS, synchronous=synchronous)
    if not world.start(command, prepare=lambda: step.arm(turn)).was_killed:
        return [Finding(Breach.UNREACHED, f"never came to “{step.name}”")]
    on_its_way, shown = _batches(world, BatchState.SENDING), len(_batches(world, *step.shown))
    found = [*world.look(), *world.settle()]
    if step.shown and shown < turn:
        found.append(Finding(Breach.LOST, f"{turn} batches were shown, and {shown} are in the ledger"))
    unknown = _batches(world, BatchState.OUTCOME_UNKNOWN)
    if step.unknown not in (None, len(unknown)) or not unknown <= on_its_way:
        found.append(Finding(Breach.MISLABELLED, f"batches of unknown outcome: {sorted(unknown)}"))
    return found


def _batches(world: World, *states: BatchState) -> set[int]:
    """The numbers of the batches in these states, in a world with one job."""
    return {batch.number for job in world.jobs() for batch in job.batches if batch.state in states}


def answered_late(world: World, kind: Kind = Kind.RANK) -> list[Finding]:
    """A submit that is accepted, and not answered in time."""
    log = world.root / "submits"
    world.start(world.new_job(kind, rows=12), prepare=lambda: _impatient(log))
    # A body that was cut in the middle is never accepted, and then the wait ends after three seconds.
    child.until(lambda: log.exists() and len(world.accepted) >= log.stat().st_size, patience=3.0)
    found = world.look()
    if not _batches(world, BatchState.OUTCOME_UNKNOWN):
        found.append(Finding(Breach.MISLABELLED, "an answer too late is no unknown outcome"))
    return found


def _impatient(log: Path) -> None:
    """Shorten the limit of submits. Each that may have reached the service appends a byte to `log`."""
    send = Transport.send

    async def hurried(self: Transport, *arguments: Any, limit: ExchangeLimit, **named: Any) -> Any:
        if named.get("what") not in ("submit", "run"):
            return await send(self, *arguments, limit=limit, **named)
        try:
            return await send(self, *arguments, limit=limit._replace(seconds=TIME_OUT), **named)
        except ExchangeError as error:
            with log.open("ab") as stream:
                stream.write(b"." * error.body_left)
            raise

    put(Transport, "send", hurried)
    put(submitting, "FIRST_WAIT", 0.01)


# Exporting


def export(bench: Bench, kills: int) -> None:
    """Kills with and without an older file, at every step and at random."""
    with bench.timed("export") as part:
        world = bench.world(bench.seed)
        exporting, found = Exporting(world), list[Finding]()
        for case, step, turn in list(exporting.steps(bench.share(exporting.cases)))[:: bench.every]:
            found += exporting.kill_at(case, step, turn)
        at_steps = world.kills
        while world.kills < at_steps + kills:
            found += exporting.kill_at_random()
        bench.close(part, world, f"seed {bench.seed}", found)


# Pushing to an index of Vectorize

INDEX = "shop"
VERSIONS = 4  # of one file, in one world
Rows = dict[str, str]  # texts by id


def push(bench: Bench, kills: int) -> None:
    """Kills while versions of a file are sent, each taking what is known from the one before, and put into an index."""
    span = 0.4  # seconds; as in `submit_at_random`
    with bench.timed("versions sent and pushed") as part:
        while part.kills < kills:
            seed = bench.seed * 1_000_003 + bench.worlds
            world, found, rows = bench.world(seed), list[Finding](), Rows()
            for number in range(VERSIONS):
                rows = _next_version(rows, world.rng)
                span = _version(world, rows, f"version {number}", span, found)
                if found:
                    break
            bench.close(part, world, f"seed {seed}", found)


def _next_version(rows: Rows, rng: random.Random) -> Rows:
    """Some ids have another text, some are gone, some are new."""
    after = dict(rows)
    for identifier in rng.sample(sorted(after), len(after) // 4):
        after[identifier] = rng.choice(TEXTS)
    for identifier in rng.sample(sorted(after), len(after) // 5):
        del after[identifier]
    return after | {f"R{rng.randrange(10_000):04}": rng.choice(TEXTS) for _ in range(rng.randint(8, 30))}


def _version(world: World, rows: Rows, name: str, span: float, found: list[Finding]) -> float:
    """Send one version and push it, killed again and again; the time after which the next one is killed at most."""
    path = world.root / f"{name}.csv"
    path.write_text("id,text\n" + "".join(f"{key},{text}\n" for key, text in rows.items()), encoding="utf-8")
    run = child.cfbatch(*command_of(path, Kind.EMBED, name), "--data-dir", world.paths.root)
    span *= 1.02 if world.start(run, kill_after=world.rng.uniform(0, span)).was_killed else 0.95
    found += world.look()
    found += world.settle()
    job = _finished(world, name, run, found)
    if job is None:
        return span
    span = _pushed(world, job, span, found)
    found += [] if found else _compare_index(world, job, rows)
    return span


def _finished(world: World, name: str, run: Command, found: list[Finding]) -> Job | None:
    """The job of this version, done; None after a finding, or when what was decided about it cannot be mended."""
    for _ in range(_MOST_TRIES):
        job = next((job for job in world.jobs() if job.name == name and job.is_sent), None)
        if found or (job is not None and job.state is JobState.DONE):
            return None if found else job
        if job is None:  # killed as a draft, of which nothing has left
            world.start(run)
        elif (decision := world.decision()) is not None:
            world.start(decision)
        else:
            world.start(child.cfbatch("resume", job.id, "--failed", "--data-dir", world.paths.root))
        found += world.settle()
    return None


def _pushed(world: World, job: Job, span: float, found: list[Finding]) -> float:
    arguments = ("vectorize", "push", job.id, "--index", INDEX, "--create", "--delete-removed")
    command = child.cfbatch(*arguments, "--connection", "cloudflare", "--data-dir", world.paths.root)
    for turn in range(_MOST_TRIES):
        is_killed = turn < _MOST_TRIES // 2 and world.rng.random() < 0.7
        ended = world.start(command, kill_after=world.rng.uniform(0, span) if is_killed else None)
        span *= 1.02 if ended.was_killed else 0.97
        if ended.status == 0:
            return span
    found.append(Finding(Breach.STUCK, f"the push of {job.name} did not come to an end"))
    return span


def _compare_index(world: World, job: Job, rows: Rows) -> Iterator[Finding]:
    """The index beside the job, and the job beside what its texts are."""
    embeddings = Embeddings(JobFolder(world.paths.job(job.id)))
    vectors = embeddings.rows_of(np.arange(1, embeddings.count + 1))
    ours = {text.id: (text.text, vectors[text.item_no - 1]) for text in embeddings.page(0, embeddings.count)}
    found = stored_vectors(world.service.folder, world.account, INDEX)
    index = {identifier: np.frombuffer(numbers, "<f4") for identifier, numbers in found.items()}
    if {key: text for key, (text, _) in ours.items()} != rows:
        yield Finding(Breach.WRONG, f"{job.name} has other texts than its file")
    for key in ours.keys() | index.keys():
        if key not in index:
            yield Finding(Breach.LOST, f"{key} is not in the index")
        elif key not in ours:
            yield Finding(Breach.DOUBLED, f"{key} is still in the index")
        elif not is_vector(*ours[key]) or not np.array_equal(ours[key][1], index[key]):
            yield Finding(Breach.WRONG, f"{key} has another's vector")


# Judging

JUDGED, KEYS = 40, 60  # texts, keys pressed
LONGEST = 0.12  # seconds after the first key until the kill, at most
UNDO = "⌫"
Key = int | None | str  # a grade, "cannot tell", or undo
Grades = dict[str, int | None]  # by text


def judge(bench: Bench, kills: int) -> None:
    """Kills while somebody judges; each round goes on with the book of the last one."""
    with bench.timed("judging") as part:
        for found in _judging(bench, child.nothing, kills):
            part.kills += 1
            part.add("judging", found)


def _judging(bench: Bench, prepare: Prepare, rounds: int) -> Iterator[list[Finding]]:
    path = bench.new_root() / "book.db"
    Book.create(path, "killed").close()
    rng, grades = random.Random(bench.seed), Grades()
    for _ in range(rounds):
        texts = [f"text {number}" for number in rng.sample(range(10 * JUDGED), JUDGED)]
        keys: list[Key] = [rng.choice((0, 1, 2, 3, None, UNDO)) for _ in range(KEYS)]
        saved = _judged_until_killed(
            partial(_press, path, texts, keys), rng.uniform(0, LONGEST), prepare, path.with_name("child.log")
        )
        after = _grades_after(texts, keys, grades)
        book = Book(path)
        grades = {each.document.text: each.grade for each in newest(book.judgements())}
        found = [Finding(Breach.LOST, f"said to be damaged: {sentence}") for sentence in book.damage]
        book.close()
        if grades not in after[saved : saved + 2]:  # the key that was being saved may have been saved
            found.append(Finding(Breach.LOST, f"judgements are not those after key {saved}"))
        yield found


def _judged_until_killed(press: Callable[[int], int], seconds: float, prepare: Prepare, log: Path) -> int:
    """Judge in a child that says after each key that it is saved, and kill it; how many keys were saved."""
    reading, writing = os.pipe()
    process = child.begin(lambda: press(writing), dict(os.environ), log, prepare)
    os.close(writing)
    os.read(reading, 1)  # it is ready for the first key
    child.end(process, kill_after=seconds)
    with os.fdopen(reading, "rb") as said:
        return len(said.read())


def _press(path: Path, texts: Sequence[str], keys: Sequence[Key], writing: int) -> int:
    pairs = [Shown(Subject("q", "a query"), Subject("", text)) for text in texts]
    session = Session(Book(path), pairs, judge="me", clock=time.time)
    os.write(writing, b".")
    for key in keys:
        if key == UNDO:
            session.undo()
        elif not session.is_done:
            session.judge(key if isinstance(key, int) else None)
        os.write(writing, b".")
    return 0


def _grades_after(texts: Sequence[str], keys: Sequence[Key], before: Grades) -> list[Grades]:
    """What the book says after each key, from before the first one."""
    found, given = [before], list[str]()
    for key in keys:
        now = dict(found[-1])
        if key == UNDO and given:
            text = given.pop()
            now.pop(text)
            now |= {text: before[text]} if text in before else {}
        elif key != UNDO and len(given) < len(texts):
            given.append(texts[len(given)])
            now[given[-1]] = key if isinstance(key, int) else None
        found.append(now)
    return found


# Power cuts


def cut_power(bench: Bench, _: int) -> None:
    """The states behind this process's share of the recorded operations."""
    with bench.timed("power cuts") as part, in_memory(bench.folder) as folder:
        world = World(folder / "world", bench.service, random.Random(bench.seed))
        replay = Replay(world, bench.seed)
        length = len(replay.operations)
        start, end = (length * number // bench.workers for number in (bench.number, bench.number + 1))
        found = list(replay.findings(share=slice(start, end, bench.every), resumed_every=RESUMED_EVERY))
        part.tried += replay.count
        part.kills += replay.resumed
        part.count(found)
        part.words += [f"{finding.breach.value}: {finding.words} ({how})" for finding, how in replay.found.values()]


# Mutants


def catch(bench: Bench, mutant: Mutant) -> None:
    """Run a mutant in its scene until the breach that it causes is found."""
    looks = _power_looks(bench, mutant) if mutant.scene == "power" else _looks(bench, mutant)
    for where, found in looks:
        for finding in found:
            if mutant.breach in (None, finding.breach):
                bench.report.add_catch(mutant.name, where, finding)
                return
    bench.report.add_catch(mutant.name, "", None)


def _looks(bench: Bench, mutant: Mutant) -> Iterator[tuple[str, Sequence[Finding]]]:
    steps = {"submit": SUBMIT, "collect": COLLECT, "at once": SYNCHRONOUS}.get(mutant.scene, ())
    for step in sorted(steps, key=lambda step: step.name != mutant.shown_at):
        world = bench.world(1, prepare=mutant.install)
        yield step.name, at_step(world, step, synchronous=mutant.scene == "at once")
    match mutant.scene:
        case "late":
            yield "a late answer", answered_late(bench.world(1, service=bench.slow, prepare=mutant.install))
        case "export":
            exporting = Exporting(bench.world(1, prepare=mutant.install))
            for case, name, turn in exporting.steps([case for case in exporting.cases if case.with_old]):
                yield f"{case.form}, {name}", exporting.kill_at(case, name, turn)
        case "judging":
            yield from (("any key", found) for found in _judging(bench, mutant.install, 60))


def _power_looks(bench: Bench, mutant: Mutant) -> Iterator[tuple[str, Sequence[Finding]]]:
    """Few states of each place first, then all."""
    with in_memory(bench.folder) as folder:
        for number in range(2):
            world = World(folder / f"world {number}", bench.service, random.Random(number))
            replay = Replay(world, number, mutant.install)
            if not any(isinstance(each, Mark) and "skipped" in each.words for each in replay.operations):
                return
            yield from (("a power cut", [finding]) for finding in replay.findings(is_short=number == 0))


SCENES: dict[str, Callable[[Bench, int], None]] = {
    "steps": submit_at_steps,
    "exports": export,
    "judging": judge,
    "power": cut_power,
    "random": submit_at_random,
    "pushes": push,
}
