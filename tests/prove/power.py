"""The power-loss layer: a run is recorded, cut at each of its operations, and what may be on the disk then is opened.

See docs/proof.md, "Power loss".
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.prove import child
from tests.prove.child import Prepare
from tests.prove.compare import Breach, Finding
from tests.prove.power_check import Examination, Marks, Promises, note_promises
from tests.prove.power_disk import Flush, Mark, Move, Name, Operation, Resize, Tree, Write, applied, data_of
from tests.prove.power_record import CannotBeRecorded, Recorder, Recording, tree_of
from tests.prove.power_scene import Digests, Scene, is_left_out
from tests.prove.power_states import State, States
from tests.prove.power_trace import attach, calls, wait_to_be_traced
from tests.prove.power_workloads import Run, Workload
from tests.prove.world import World
from tests.support.practice import Accepted, AnsweredSynchronously

_PATIENCE = 120.0  # seconds for a recorded run


@dataclass
class Outcome:
    """What the states of a recording came to. `found` has the first state of each kind of finding."""

    states: int = 0  # distinct
    resumed: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    found: dict[str, tuple[Finding, str]] = field(default_factory=dict)  # by kind: the finding, and how it came about

    def add(self, finding: Finding, how: str) -> None:
        """Add a finding; of findings that differ in numbers and names only, the first is kept with its words."""
        self.counts[finding.breach.value] += 1
        kind = f"{finding.breach.value} {re.sub(r'[0-9a-f-]{8,}|[0-9]+|job [a-z0-9]+', '#', finding.words)}"
        self.found.setdefault(kind, (finding, how))


def record(world: World, run: Run, variant: Prepare = child.nothing) -> Recording:
    """Record a run. Raises CannotBeRecorded."""

    def prepare() -> None:
        run.prepare()
        note_promises()
        variant()
        wait_to_be_traced()

    before = tree_of(world.root, is_left_out)
    process = world.begin(run.command, prepare=prepare)
    log = world.root.with_name(f"{world.root.name}.trace")
    with attach(process, log) as tracer:
        ended = child.end(process, patience=_PATIENCE)
        tracer.wait()
    if ended.status not in (0, 1, 3):
        raise CannotBeRecorded(f"the run ended with {ended}: {(world.root / 'child.log').read_text()[-2000:]}")
    recording = Recorder(world.root, before, is_left_out).read(calls(log))
    log.unlink()
    log.with_suffix(".err").unlink()
    differing = [name for name, _ in tree_of(world.root, is_left_out).items() ^ _all_there(recording).items()]
    if differing:
        raise CannotBeRecorded(f"files are not as the recorded calls would have left them: {sorted(set(differing))}")
    return recording


def _all_there(recording: Recording) -> Tree:
    """The tree with every operation, as the program sees it at the end."""
    disk, _ = recording.disk()
    for number, operation in enumerate(recording.operations):
        disk.take(number, operation)
    contents = {
        file: applied(disk.files[file], [data_of(each) for each in pending]) for file, pending in disk.data.items()
    }
    return disk.tree({each.number for each in disk.names}, contents)


@dataclass
class Cutting:
    """The states of one recorded run, examined one after the other.

    `known` are the ids of batches that were accepted before the recording. `share`, number and count of parts, selects
    operations behind which the states are examined, `every` so many-th of them. In each `resumed_every`-th state the
    real program is started and runs to its end as well; 0 for never.
    """

    world: World
    run: Run
    recording: Recording
    seed: int
    known: frozenset[str]
    share: tuple[int, int] = (0, 1)
    every: int = 1
    draws: int = 8
    is_short: bool = False
    resumed_every: int = 0

    def __post_init__(self) -> None:
        with self.run.around():
            self.examination = Examination(
                self.world,
                self.known,
                self.recording.before,
                tree_of(self.world.root, is_left_out),
                compares=self.run.compares,
                told_again=self.run.told_again,
                deletable=self.run.deletable,
                more=self.run.more,
            )
            self.run.at_end()

    def findings(self, outcome: Outcome) -> Iterator[Finding]:
        """Examine the states; findings as they come, which are added to `outcome` as well."""
        disk, _ = self.recording.disk()
        operations = self.recording.operations
        index, count = self.share
        places = range(len(operations) * index // count, len(operations) * (index + 1) // count, self.every)
        states = States(operations, disk, self.seed, self.draws, self.is_short, places)
        marks, digests, scene = Marks(operations), Digests(), Scene(self.world.root)
        seen: set[bytes] = set()
        checked: set[tuple[bytes, int]] = set()
        with self.run.around():
            for state in states:
                promises = marks.until(state.number)
                digest = digests.of(state.tree)
                if (digest, promises.version) in checked:
                    continue
                checked.add((digest, promises.version))
                outcome.states += digest not in seen
                seen.add(digest)
                scene.show(state.tree)
                found = self.examination.look(promises)
                is_turn = self.resumed_every and len(checked) % self.resumed_every == 0
                if is_turn and self.run.resumes and not found and not self.examination.has_asked:
                    scene.show(state.tree)
                    found = self._resumed(promises)
                    outcome.resumed += 1
                for finding in found:
                    outcome.add(finding, self._told(state))
                    yield finding

    def _resumed(self, promises: Promises) -> list[Finding]:
        """Findings when the real program is started on the state and runs to its end."""
        world = self.world
        accepted, answered = {each.request_id for each in world.accepted}, len(world.answered)
        ended = world.start(world.resume())
        new: list[Accepted | AnsweredSynchronously] = [
            *(each for each in world.accepted if each.request_id not in accepted),
            *world.answered[answered:],
        ]
        found = [Finding(Breach.STUCK, f"“cfbatch resume” ended with {ended}")] if ended.status not in (0, 1, 3) else []
        return found + self.examination.settled(promises, new)

    def _told(self, state: State) -> str:
        """How a state came about: what was cut, and the operations before."""
        operations = self.recording.operations[: state.number + 1][-6:]
        before = "; ".join(told(each) for each in operations)
        return f"{state.model.value}, after operation {state.number}, {state.how}; the last operations: {before}"


def told(operation: Operation) -> str:
    """An operation in words."""
    match operation:
        case Write():
            return f"write of {len(operation.data)} bytes at {operation.offset} of file {operation.file}"
        case Resize():
            return f"file {operation.file} cut to {operation.size}"
        case Flush():
            return f"fsync of {operation.node}"
        case Name(node=None):
            return f"{operation.name} removed from folder {operation.folder}"
        case Name():
            return f"{operation.name} made in folder {operation.folder} as {operation.node}"
        case Move():
            return f"{operation.name} renamed to {operation.to_name} in folder {operation.to_folder}"
        case Mark():
            return operation.words


def cut(world: World, workload: Workload, seed: int, variant: Prepare = child.nothing) -> Cutting:
    """Make a world ready and record the run of the program, or of a variant. Raises CannotBeRecorded."""
    run = workload.make(world)
    known = frozenset(each.request_id for each in world.accepted)
    return Cutting(world, run, record(world, run, variant), seed, known)
