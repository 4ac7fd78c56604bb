"""The scenes of the proof: what is done to the program while it is killed, at random moments or at every step.

Each function does one process's share of a scene, and adds what was found to the report.
"""

import asyncio
import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.run import submitting
from cfbatch_gui.core.jobs.states import BatchState, GroupOptions, Job, JobState
from cfbatch_gui.core.judgements.book import Shelf, newest
from cfbatch_gui.core.judgements.review import NONE, Review
from cfbatch_gui.core.judgements.session import Session, Shown
from cfbatch_gui.core.judgements.values import MATCHES, Subject
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.matches import read_matches
from cfbatch_gui.core.workers_ai.transport import ExchangeError, Transport
from tests.journeys.terminal import jobs_in, read_csv
from tests.prove.compare import TEXTS, Breach, Finding, Part, Report, command_of, is_vector, written_tokens
from tests.prove.exporting import Exporting
from tests.prove.mutants import Mutant
from tests.prove.power import Replay, in_memory
from tests.prove.power_disk import Mark
from tests.prove.steps import COLLECT, PAID, SUBMIT, SYNCHRONOUS, Step
from tests.prove.world import Prepare, Service, Spans, World, begin_child, end_child, new_spans, nothing, put, wrap
from tests.support.lists import numbered_lists, two_lists
from tests.support.vectorize import read_indexes

T = TypeVar("T")
KINDS = (Kind.RANK, Kind.EMBED)
ROWS = 45  # three batches
RESUMED_EVERY = 150  # states after a power cut
_MOST_TRIES = 40  # starts until a command has come to its end


@dataclass
class Bench:
    """The resources of one process, which does the `number`th of `workers` shares of the work.

    Only every `every`th step, cut and mutant is tried.
    """

    folder: Path
    service: Service
    seed: int
    number: int = 0
    workers: int = 1
    every: int = 1
    report: Report = field(default_factory=Report)
    spans: Spans = field(default_factory=new_spans)
    worlds: int = 0

    def share(self, whole: Sequence[T]) -> Sequence[T]:
        return whole[:: self.every][self.number :: self.workers]

    def count(self, whole: int, among: int | None = None) -> int:
        """This process's share of so many kills; the first processes get the remainders."""
        return len(range(whole)[self.number :: among or self.workers]) if self.number < (among or self.workers) else 0

    def world(self, seed: int, *, prepare: Prepare = nothing) -> World:
        return World(self.new_root(), self.service, random.Random(seed), prepare, self.spans)

    def new_root(self) -> Path:
        self.worlds += 1
        return self.folder / f"world {self.worlds}"

    @contextmanager
    def timed(self, name: str) -> Iterator[Part]:
        part, started = self.report.parts[name], time.monotonic()
        yield part
        part.seconds += time.monotonic() - started

    def close(self, part: Part, world: World, how: str) -> None:
        """Count what a world came to; its folder is removed unless something was found in it."""
        world.found += written_tokens(world.root)
        part.kills += world.kills
        part.add(f"{how}, {world.root}", world.found)
        if not world.found:
            shutil.rmtree(world.root)


# At random: worlds one after the other, in each so many rounds


@dataclass(frozen=True)
class AtRandom:
    """A scene of rounds that are `played` in one world, after which it is abandoned; then it is `left`."""

    name: str
    rounds: int
    play: Callable[[World, int], None]
    leave: Callable[[World], None] = nothing

    def __call__(self, bench: Bench, kills: int) -> None:
        with bench.timed(self.name) as part:
            while part.kills < kills:
                seed = bench.seed * 1_000_003 + bench.worlds
                world = bench.world(seed)
                for number in range(self.rounds):
                    if world.found or part.kills + world.kills >= kills:
                        break
                    self.play(world, number)
                if not world.found:
                    self.leave(world)
                bench.close(part, world, f"seed {seed}")


def _sent_and_decided(world: World, _: int) -> None:
    """Kills of `run`, `resume` and the user's decisions; after each, a start and a comparison."""
    rng = world.rng
    command = world.decision() if rng.random() < 0.25 else None
    if command is None:
        options = {"with_output": rng.random() < 0.4, "at_once": rng.random() < 0.25}
        command = world.new_job(rng.choice(KINDS), rows=rng.randint(4, 50), **options)
    world.strike(command)
    world.look()
    while rng.random() < 0.35:
        world.strike(world.resume(), "resume")
        world.look()
    world.settle()


INDEX = "shop"  # of Vectorize
Rows = dict[str, str]  # texts by id


def _sent_and_pushed(world: World, number: int) -> None:
    """A version of a file is sent, taking what is known from the one before, and put into an index; killed throughout.

    Some ids have another text than in the last version, some are gone, some are new.
    """
    rng, before = world.rng, world.root / f"version {number - 1}.csv"
    rows: Rows = {row["id"]: row["text"] for row in read_csv(before)} if number else {}
    rows |= {key: rng.choice(TEXTS) for key in rng.sample(sorted(rows), len(rows) // 4)}
    for key in rng.sample(sorted(rows), len(rows) // 5):
        del rows[key]
    rows |= {f"R{rng.randrange(10_000):04}": rng.choice(TEXTS) for _ in range(rng.randint(8, 30))}
    path = world.root / f"version {number}.csv"
    path.write_text("id,text\n" + "".join(f"{key},{text}\n" for key, text in rows.items()), encoding="utf-8")
    run = world.cfbatch(*command_of(path, Kind.EMBED, path.stem))
    world.strike(run)
    world.look()
    for _ in range(_MOST_TRIES):
        world.settle()
        job = next((job for job in world.jobs() if job.name == path.stem and job.is_sent), None)
        if world.found or (job is not None and job.state is JobState.DONE):
            break
        again = run if job is None else world.cfbatch("resume", job.id, "--failed")  # killed as a draft: nothing left
        world.start((world.decision() if job else None) or again)
    if job is not None and job.state is JobState.DONE and not world.found:
        _push(world, job, rows)


def _push(world: World, job: Job, rows: Rows) -> None:
    words = ("vectorize", "push", job.id, "--index", INDEX, "--create", "--delete-removed")
    command = world.cfbatch(*words, "--connection", "cloudflare")
    for turn in range(_MOST_TRIES):
        is_killed = turn < _MOST_TRIES // 2 and world.rng.random() < 0.7
        if (world.strike(command, "push") if is_killed else world.start(command)) == 0:
            world.found += _compare_index(world, job, rows)
            return
    world.found.append(Finding(Breach.STUCK, f"the push of {job.name} did not come to an end"))


def _compare_index(world: World, job: Job, rows: Rows) -> Iterator[Finding]:
    """The index beside the job, and the job beside what its texts are."""
    embeddings = Embeddings(JobFolder(world.paths.job(job.id)))
    vectors = embeddings.rows_of(np.arange(1, embeddings.count + 1))
    ours = {text.id: (text.text, vectors[text.item_no - 1]) for text in embeddings.page(0, embeddings.count)}
    found = read_indexes(world.service.folder)[world.account, INDEX]
    index = {identifier: np.frombuffer(numbers, "<f4") for identifier, (_, numbers) in found.vectors.items()}
    if {key: text for key, (text, _) in ours.items()} != rows:
        yield Finding(Breach.WRONG, f"{job.name} has other texts than its file")
    for key in ours.keys() | index.keys():
        if key not in index:
            yield Finding(Breach.LOST, f"{key} is not in the index")
        elif key not in ours:
            yield Finding(Breach.DOUBLED, f"{key} is still in the index")
        elif not is_vector(*ours[key]) or not np.array_equal(ours[key][1], index[key]):
            yield Finding(Breach.WRONG, f"{key} has another's vector")


# At every step


def submit_at_steps(bench: Bench, _: int) -> None:
    """Kills at every step, for both kinds of job, in the first and in the second batch; and answers that come late."""
    with bench.timed("submit and collect, at every step") as part:
        cases = [*product((*SUBMIT, *COLLECT), KINDS, (1, 2), (False,)), *product(SYNCHRONOUS, KINDS, (1,), (True,))]
        for step, kind, turn, at_once in bench.share(cases):
            world = bench.world(turn)
            at_step(world, step, kind, turn, at_once=at_once)
            bench.close(part, world, f"{step.name}, {kind.value}, batch {turn}")
        for kind in bench.share(KINDS):
            world = bench.world(0)
            answered_late(world, kind)
            bench.close(part, world, f"a late answer, {kind.value}")


def at_step(world: World, step: Step, kind: Kind = Kind.RANK, turn: int = 1, *, at_once: bool = False) -> None:
    """A kill at a step, and the next start."""
    command = world.new_job(kind, rows=6 if at_once else ROWS, at_once=at_once)
    if world.start(command, partial(step.arm, turn)) >= 0:
        world.found.append(Finding(Breach.UNREACHED, f"never came to “{step.name}”"))
        return
    on_its_way, shown = _batches(world, BatchState.SENDING), len(_batches(world, *step.shown))
    world.look()
    world.settle()
    if step.shown and shown < turn:
        world.found.append(Finding(Breach.LOST, f"{turn} batches were shown, and {shown} are in the ledger"))
    unknown = _batches(world, BatchState.OUTCOME_UNKNOWN)
    if step.unknown not in (None, len(unknown)) or not unknown <= on_its_way:
        world.found.append(Finding(Breach.MISLABELLED, f"batches of unknown outcome: {sorted(unknown)}"))


def _batches(world: World, *states: BatchState) -> set[int]:
    """The numbers of the batches in these states, in a world with one job."""
    return {batch.number for job in world.jobs() for batch in job.batches if batch.state in states}


def answered_late(world: World, kind: Kind = Kind.RANK) -> None:
    """A submit that is accepted, and not answered in time."""
    world.start(world.new_job(kind, rows=12), _lose_answers)
    world.look()
    if not _batches(world, BatchState.OUTCOME_UNKNOWN):
        world.found.append(Finding(Breach.MISLABELLED, "an answer too late is no unknown outcome"))


def _lose_answers() -> None:
    """What a transport says of an exchange with a service that is done with it after the time-out."""

    def late(*_: Any, what: str = "", **__: Any) -> None:
        if what in PAID:
            raise ExchangeError("time", "", body_left=True)

    wrap(Transport, "send", after=late)
    put(submitting, "FIRST_WAIT", 0.01)


def export(bench: Bench, kills: int) -> None:
    """Kills of exports with and without an older file, at every step and at random."""
    with bench.timed("export") as part:
        world = bench.world(bench.seed)
        exporting = Exporting(world)
        for case, step, turn in list(exporting.steps(bench.share(exporting.cases)))[:: bench.every]:
            exporting.kill_at(case, step, turn)
        at_steps = world.kills
        while world.kills < at_steps + kills:
            exporting.kill_at_random()
        bench.close(part, world, f"seed {bench.seed}")


# Judging

JUDGED, KEYS = 40, 60  # texts, keys pressed
LONGEST = 0.12  # seconds after the first key until the kill, at most
UNDO = "⌫"
Key = int | None | str  # a grade, "cannot tell", or undo
Grades = dict[str, int | None]  # by text


def judge(bench: Bench, kills: int) -> None:
    """Kills while somebody judges; each round goes on with the book of the last one."""
    with bench.timed("judging") as part:
        for found in _judging(bench, nothing, kills):
            part.kills += 1
            part.add("judging", found)


def _judging(bench: Bench, prepare: Prepare, rounds: int) -> Iterator[list[Finding]]:
    path = bench.new_root() / "book.db"
    with closing(Shelf(path)) as shelf:
        shelf.book_or_new()
    rng, grades = random.Random(bench.seed), Grades()
    for _ in range(rounds):
        texts = [f"text {number}" for number in rng.sample(range(10 * JUDGED), JUDGED)]
        keys: list[Key] = [rng.choice((0, 1, 2, 3, None, UNDO)) for _ in range(KEYS)]
        reading, writing = os.pipe()
        press = partial(_press, path, texts, keys, writing)
        process = begin_child(press, dict(os.environ), path.with_name("child.log"), prepare)
        os.close(writing)
        os.read(reading, 1)  # it is ready for the first key
        end_child(process, kill_after=rng.uniform(0, LONGEST))
        with os.fdopen(reading, "rb") as said:
            saved = len(said.read())
        after = _grades_after(texts, keys, grades)
        found: list[Finding] = []
        with closing(Shelf(path)) as shelf:
            judgements = shelf.book().judgements()  # which raises an error if it is damaged
            grades = {each.document.text: each.grade for each in newest(judgements)}
        if grades not in after[saved : saved + 2]:  # the key that was being saved may have been saved
            found.append(Finding(Breach.LOST, f"judgements are not those after key {saved}"))
        yield found


def _press(path: Path, texts: Sequence[str], keys: Sequence[Key], writing: int) -> int:
    """Judge, and say after each key that it is saved."""
    pairs = [Shown(Subject("q", "a query"), Subject("", text)) for text in texts]
    session = Session(Shelf(path).book(), pairs, judge="me", clock=time.time)
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


# Reviewing matches

DECIDED = 30  # rows of list A, all doubtful
Decided = dict[str, tuple[str, int]]  # by the text of list A, that of B and whether it was accepted
Candidates = list[tuple[str, list[str]]]  # the texts of list A in the order of the review, each with its candidates


def review(bench: Bench, kills: int) -> None:
    """Kills while somebody reviews matches; each round decides the same rows anew."""
    with bench.timed("reviewing") as part:
        for found in _reviewing(bench, kills):
            part.kills += 1
            part.add("reviewing", found)


def _reviewing(bench: Bench, rounds: int) -> Iterator[list[Finding]]:
    root = bench.new_root()
    root.mkdir()
    make = begin_child(lambda: asyncio.run(_make_lists(root)), dict(os.environ), root / "child.log")
    assert end_child(make) == 0, (root / "child.log").read_text()
    rows: Candidates = json.loads((root / "rows.json").read_text())
    rng, decided = random.Random(bench.seed), Decided()
    for _ in range(rounds):
        keys: list[Key] = [rng.choice((0, 1, 2, NONE, UNDO)) for _ in range(KEYS)]
        saved = _saved_when_killed(root, partial(_press_in_review, root, keys), rng)
        after = _decided_after(rows, keys, decided)
        with closing(Shelf(root / "data" / "judgements.db")) as shelf:
            book = shelf.find(MATCHES)
            counting = newest(book.judgements()) if book is not None else []
        decided = {each.query.text: (each.document.text, each.grade or 0) for each in counting}
        is_whole = decided in after[saved : saved + 2] and len(decided) == len(counting)
        yield [] if is_whole else [Finding(Breach.LOST, f"decisions are not those after key {saved}")]


def _saved_when_killed(root: Path, work: Callable[[int], int], rng: random.Random) -> int:
    """How many changes were said to be saved, by a byte each in the pipe that `work` gets, when it was killed."""
    reading, writing = os.pipe()
    process = begin_child(partial(work, writing), dict(os.environ), root / "child.log")
    os.close(writing)
    os.read(reading, 1)  # it is ready for the first one
    end_child(process, kill_after=rng.uniform(0, LONGEST))
    with os.fdopen(reading, "rb") as said:
        return len(said.read())


async def _make_lists(root: Path) -> int:
    program = await Program.open(root / "data", environ={}, practice_times=(0.0, 0.0))
    job = await two_lists(program, root, *numbered_lists(DECIDED), threshold=-1.0)
    matches, rows = read_matches(program.folder(job.id), job), Candidates()
    known = set[int]()
    for row in matches.to_review().tolist():
        if matches.keys[row] not in known:
            known.add(matches.keys[row])
            others = matches.rows_b([other for other, _ in matches.options(row)])
            rows.append((matches.rows_a([row])[0].text, [each.text for each in others]))
    (root / "rows.json").write_text(json.dumps(rows))
    await program.close()
    return 0


def _press_in_review(root: Path, keys: Sequence[Key], writing: int) -> int:
    """Decide, and say after each key that it is saved."""
    program = asyncio.run(Program.open(root / "data", environ={}))
    (job,) = program.ledger.jobs()
    session = Review(read_matches(program.folder(job.id), job), program.decisions_of(job), clock=time.time)
    os.write(writing, b".")
    for key in keys:
        if isinstance(key, int):
            session.decide(key)
        else:
            session.take_back()
        os.write(writing, b".")
    return 0


def _decided_after(rows: Candidates, keys: Sequence[Key], before: Decided) -> list[Decided]:
    """What the book says after each key, from before the first one."""
    found, given = [before], list[str]()
    for key in keys:
        now = dict(found[-1])
        if not isinstance(key, int) and given:
            text = given.pop()
            now.pop(text)
            now |= {text: before[text]} if text in before else {}
        elif isinstance(key, int) and len(given) < len(rows):
            text, others = rows[len(given)]
            given.append(text)
            now[text] = (others[max(key, 0)], int(key != NONE))
        found.append(now)
    return found


# Naming, joining and leaving groups


def group(bench: Bench, kills: int) -> None:
    """Kills while somebody names and joins groups and takes texts out; each round goes on with what is there."""
    root, rng = bench.new_root(), random.Random(bench.seed)
    root.mkdir()
    make = begin_child(lambda: asyncio.run(_make_lists(root)), dict(os.environ), root / "child.log")
    assert end_child(make) == 0, (root / "child.log").read_text()
    before = GroupOptions()
    with bench.timed("grouping") as part:
        for number in range(kills):
            states = [before]
            for _ in range(KEYS):
                item, other = rng.randrange(1, DECIDED), rng.randrange(1, DECIDED)
                last = states[-1]
                named = replace(last, names=(*last.names, (item, f"Name {number} of {item}"))[-9:])
                joined, removed = replace(last, joined=((item, other),)), replace(last, removed=(item, other))
                states.append(rng.choice((named, joined, removed)))
            saved = _saved_when_killed(root, partial(_change_groups, root, states[1:]), rng)
            (job,) = jobs_in(root / "data")
            before = job.options.grouping
            is_whole = before in states[saved : saved + 2]
            part.kills += 1
            part.add("grouping", [] if is_whole else [Finding(Breach.LOST, f"not the groups after change {saved}")])


def _change_groups(root: Path, states: Sequence[GroupOptions], writing: int) -> int:
    program = asyncio.run(Program.open(root / "data", environ={}))
    (job,) = program.ledger.jobs()
    os.write(writing, b".")
    for grouping in states:
        program.drafts.use_for(job.id, grouping=grouping)
        os.write(writing, b".")
    return 0


# Power cuts


def cut_power(bench: Bench, _: int) -> None:
    """The states behind this process's share of the recorded operations."""
    with bench.timed("power cuts") as part, in_memory(bench.folder) as folder:
        world = World(folder / "world", bench.service, random.Random(bench.seed))
        replay = Replay(world, bench.seed)
        length = len(replay.operations)
        start, end = (length * number // bench.workers for number in (bench.number, bench.number + 1))
        for how, found in replay.findings(share=slice(start, end, bench.every), resumed_every=RESUMED_EVERY):
            part.add(how, [found])
        part.tried += replay.count
        part.kills += replay.resumed


# Mutants


def catch(bench: Bench, mutant: Mutant) -> None:
    """Run a mutant in its scene until the breach that it causes is found."""
    for where, found in _LOOKS.get(mutant.scene, _at_steps)(bench, mutant):
        for finding in found:
            if mutant.breach in (None, finding.breach):
                bench.report.catches.append((mutant.name, finding.breach.value, where))
                return
    bench.report.catches.append((mutant.name, "", ""))


Looks = Iterator[tuple[str, Sequence[Finding]]]


def _at_steps(bench: Bench, mutant: Mutant) -> Looks:
    steps = {"submit": SUBMIT, "collect": COLLECT, "at once": SYNCHRONOUS}[mutant.scene]
    for step in sorted(steps, key=lambda step: step.name != mutant.shown_at):
        world = bench.world(1, prepare=mutant.install)
        at_step(world, step, at_once=mutant.scene == "at once")
        yield step.name, world.found


def _late(bench: Bench, mutant: Mutant) -> Looks:
    world = bench.world(1, prepare=mutant.install)
    answered_late(world)
    yield "a late answer", world.found


def _exports(bench: Bench, mutant: Mutant) -> Looks:
    exporting = Exporting(bench.world(1, prepare=mutant.install))
    for case, name, turn in exporting.steps([case for case in exporting.cases if case.with_old]):
        exporting.kill_at(case, name, turn)
        yield f"{case.form}, {name}", exporting.world.found


def _power_cuts(bench: Bench, mutant: Mutant) -> Looks:
    """Few states of each place first, then all."""
    with in_memory(bench.folder) as folder:
        for number in range(2):
            world = World(folder / f"world {number}", bench.service, random.Random(number))
            replay = Replay(world, number, mutant.install)
            if not any(isinstance(each, Mark) and "skipped" in each.words for each in replay.operations):
                return
            yield from (("a power cut", [finding]) for _, finding in replay.findings(is_short=number == 0))


_LOOKS: dict[str, Callable[[Bench, Mutant], Looks]] = {
    "late": _late,
    "export": _exports,
    "judging": lambda bench, mutant: (("any key", found) for found in _judging(bench, mutant.install, 60)),
    "power": _power_cuts,
}
SCENES: dict[str, Callable[[Bench, int], None]] = {
    "steps": submit_at_steps,
    "exports": export,
    "judging": judge,
    "reviewing": review,
    "grouping": group,
    "power": cut_power,
    "random": AtRandom("submit and collect, at random", 12, _sent_and_decided, World.settle_without_ledger),
    "pushes": AtRandom("versions sent and pushed", 4, _sent_and_pushed),
}
