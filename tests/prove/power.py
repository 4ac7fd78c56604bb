"""Power cuts: one run is recorded, cut behind each of its operations, and what may be on the disk then is opened.

The run starts the program for the first time, submits and collects scores, vectors and synchronous calls, and exports
scores over older files. See docs/proof.md, "Power cuts".
"""

import json
import logging
import random
import re
import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from cfbatch_gui.cli import export as export_command
from cfbatch_gui.cli import working
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.data_folder import place_of
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.store.recovery import open_or_recover
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.core.system.paths import Paths, state_root
from tests.prove import child
from tests.prove.child import Prepare, wrap
from tests.prove.compare import Breach, Comparison, Finding
from tests.prove.power_disk import Disk, Mark, Tree, states
from tests.prove.power_record import mark, record, tree_of, wait_to_be_traced
from tests.prove.world import World
from tests.support.practice import Accepted

MEMORY = Path("/dev/shm")  # writing and flushing there takes no time
FIRST, LAST = "job 1", "job 3"  # exported, and exported over it
_NOT_COUNTED = ("data/traffic.jsonl", "tmp/")  # read by no comparison
_PROGRESS = (
    *({BatchState.PLANNED}, {BatchState.SENDING, BatchState.OUTCOME_UNKNOWN}, {BatchState.QUEUED}),
    *({BatchState.RUNNING}, {BatchState.COLLECTING}),
)


@contextmanager
def in_memory(otherwise: Path) -> Iterator[Path]:
    """A folder whose files are in memory, where there is one; without warnings of damage, which is in many states."""
    folder = Path(tempfile.mkdtemp(prefix="cfbatch-power-", dir=MEMORY if MEMORY.is_dir() else otherwise))
    logging.disable(logging.ERROR)
    try:
        yield folder
    finally:
        logging.disable(logging.NOTSET)
        shutil.rmtree(folder, ignore_errors=True)


def everything(world: World) -> child.Command:
    """The run that is recorded."""
    runs = [world.new_job(kind, rows=45, with_output=True) for kind in (Kind.RANK, Kind.EMBED)]
    runs.append(world.new_job(Kind.RANK, rows=12, synchronous=True))

    def command() -> int:
        ended = sum(run() for run in runs)
        with closing(Ledger.open_read_only(world.paths)) as ledger:
            ids = {job.name: job.id for job in ledger.jobs()}
        for job, name in ((FIRST, "first"), (FIRST, "second"), (LAST, "second")):
            to = [
                word
                for form, suffix in (("csv", ".csv"), ("beir", ""))
                for word in ("--to", form, world.out / f"{name}{suffix}")
            ]
            ended += child.cfbatch("export", ids[job], *to, "--data-dir", world.paths.root)()
        return ended

    return command


def _note_promises() -> None:
    """In the child: leave a mark behind each call after which something has to outlast a power cut."""

    def saved(job: Job, *_: Any, **__: Any) -> None:
        mark({"job": job.id, "sent": job.is_sent, "batches": {each.number: each.state.value for each in job.batches}})

    for name in ("put", "change", "save_batch"):
        wrap(Ledger, name, after=saved)
    for module in (working, export_command):
        wrap(module, "export", after=lambda done, *_, **__: mark({"written": done.path.name}))


@dataclass
class Promises:
    """What was promised up to an operation."""

    left: Counter[str] = field(default_factory=Counter)  # bodies that had left whole, by SHA-256
    sent: set[str] = field(default_factory=set)
    jobs: dict[str, dict[int, int]] = field(default_factory=dict)  # how far each batch is
    written: Counter[str] = field(default_factory=Counter)  # exports
    version: int = 0

    def take(self, words: dict[str, Any]) -> None:
        self.version += 1
        match words:
            case {"left": str(body)}:
                self.left[body] += 1
            case {"job": str(job), "sent": is_sent, "batches": dict(batches)}:
                self.jobs[job] = {int(number): _progress(BatchState(state)) for number, state in batches.items()}
                self.sent |= {job} if is_sent else set()
            case {"written": str(name)}:
                self.written[name] += 1


def _progress(state: BatchState) -> int:
    return next((place for place, found in enumerate(_PROGRESS) if state in found), len(_PROGRESS))


class Replay:
    """A recorded run of the program, or of a mutant, and what a start makes of each state of its disk.

    Raises CannotBeRecorded. `found` has the first finding of each kind, with how the state came about.
    """

    def __init__(self, world: World, seed: int, mutant: Prepare = child.nothing) -> None:
        def prepare() -> None:
            _note_promises()
            mutant()
            wait_to_be_traced()

        self.world, self.count, self.resumed = world, 0, 0
        self.found: dict[str, tuple[Finding, str]] = {}
        self._rng = random.Random(seed)
        command = everything(world)
        self._before = tree_of(world.root)
        self.operations = record(world.root, lambda: world.begin(command, prepare=prepare), self._before)
        self._accepted, self._answered = world.accepted, world.answered
        self._exported = {
            (job, suffix): _files(tree_of(world.root), f"out/{name}", suffix)
            for (job, name), suffix in product(((FIRST, "first"), (LAST, "second")), (".csv", ""))
        }

    def findings(
        self, *, share: slice = slice(None), is_short: bool = False, resumed_every: int = 0
    ) -> Iterator[Finding]:
        """Findings in the distinct states behind the operations of a share, in order; `count` them."""
        seen: set[int] = set()
        promises, taken = Promises(), 0
        places = range(len(self.operations))[share]
        disk, _ = Disk.of(self._before)
        for number, how, tree in states(self.operations, disk, self._rng, places=places, is_short=is_short):
            for operation in self.operations[taken : number + 1]:
                if isinstance(operation, Mark):
                    promises.take(json.loads(operation.words))
            taken = number + 1
            counted = frozenset(each for each in tree.items() if not each[0].startswith(_NOT_COUNTED))
            state = hash((counted, promises.version))
            if state in seen:
                continue
            seen.add(state)
            self.count += 1
            self._show(tree)
            found = self._look(promises)
            if not found and resumed_every and self.count % resumed_every == 0:
                self._show(tree)
                found = self._run_to_its_end(promises)
            for finding in found:
                kind = f"{finding.breach.value} {re.sub(r'[0-9a-f-]{8,}|[0-9]+|job [a-z0-9]+', '#', finding.words)}"
                self.found.setdefault(kind, (finding, f"after operation {number}, {how}"))
                yield finding

    def _show(self, tree: Tree) -> None:
        """Make the folder hold exactly this tree, apart from what is left out."""
        for folder in [each for each in self.world.root.iterdir() if each.is_dir()]:
            shutil.rmtree(folder)
        for path, content in sorted(tree.items()):
            if content is None:
                (self.world.root / path).mkdir(mode=0o700)
            else:
                (self.world.root / path).write_bytes(content)
                (self.world.root / path).chmod(0o600)

    def _look(self, promises: Promises) -> list[Finding]:
        try:
            return list(self._start(promises))
        except UserError as error:
            return [Finding(Breach.STUCK, f"{error.message} {error.detail}")]
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            return [Finding(Breach.STUCK, f"{type(error).__name__}: {error} in {where.name}, {where.filename}")]

    def _start(self, promises: Promises) -> Iterator[Finding]:
        """As `Program.open` starts, without a network."""
        paths = Paths(self.world.paths.root, state_root({"HOME": str(self.world.root)}))
        paths.create()
        opened = open_or_recover(paths, here=place_of(paths.root))
        with closing(opened.ledger) as ledger, listing(paths.unfinished):
            Drafts(ledger, paths).clear_deleted()
            jobs = {job.id: job for job in ledger.jobs()}
        if opened.doubt:
            yield Finding(Breach.STUCK, f"the program asks whether its folder was copied: {opened.doubt.value}")
        yield from self._jobs(jobs, promises)
        yield from self._comparison(promises).run(settled=False)
        yield from self._exports(promises)

    def _jobs(self, jobs: dict[str, Job], promises: Promises) -> Iterator[Finding]:
        """Jobs and batches that are less far than a write of the ledger had left them; answers and texts not there."""
        for job_id, saved in promises.jobs.items():
            job = jobs.get(job_id)
            if job is None or (job_id in promises.sent and not job.is_sent):
                yield Finding(Breach.LOST, "a job that was saved is gone, or is a draft again")
                continue
            now = {batch.number: _progress(batch.state) for batch in job.batches}
            for number, least in saved.items():
                if now.get(number, -1) < least:
                    yield Finding(Breach.LOST, f"batch {number} was as far as {least} and is at {now.get(number)}")
        for job in jobs.values():
            folder = JobFolder(self.world.paths.job(job.id))
            if job.source_name and not job.is_sent:
                with folder.open(read_only=True) as database:
                    (count,) = database.execute("SELECT count(*) FROM items").fetchone()
                if count != job.texts:
                    yield Finding(Breach.LOST, f"a draft of {job.texts} texts has {count}")
            yield from (each for batch in job.batches if batch.at_once for each in _answer(folder, batch))

    def _comparison(
        self, promises: Promises, accepted: Sequence[Accepted] = (), answered: Sequence[Accepted] = ()
    ) -> Comparison:
        """With what the service can have accepted by then, bodies that had left whole, and what it accepted since."""
        left = Counter(promises.left)

        def has_left(each: Accepted) -> bool:
            left[each.sha256] -= 1
            return left[each.sha256] >= 0

        accepted = [*filter(has_left, self._accepted), *accepted]
        answered = [*filter(has_left, self._answered), *answered]
        return Comparison(self.world.paths, accepted, answered, {})

    def _exports(self, promises: Promises) -> Iterator[Finding]:
        """Files that are neither old nor new, or are not those of which their manifest speaks."""
        for name, suffix in (*product(("first", "second"), (".csv", "")), (FIRST, ".csv")):
            made = [self._exported[FIRST, suffix], self._exported[LAST, suffix]][: 2 if name == "second" else 1]
            files = sorted({file for each in made for file in each})
            now = {file: _content(self.world.out / f"{name}{file}") for file in files}
            manifest = _content(self.world.out / f"{name}{suffix}.manifest.json")
            if any(content not in (None, *(each.get(file) for each in made)) for file, content in now.items()):
                yield Finding(Breach.TORN, f"{name}{suffix} is neither the old nor the new one")
            elif manifest and now != self._exported[json.loads(manifest)["job"]["name"], suffix]:
                yield Finding(Breach.TORN, f"the manifest of {name}{suffix} stands beside files of another export")
            times = promises.written[f"{name}{suffix}"]
            if times and now not in made[times - 1 :] and not (times == 1 and name == "second"):
                yield Finding(Breach.LOST, f"{name}{suffix} was reported as written, and is not there")

    def _run_to_its_end(self, promises: Promises) -> list[Finding]:
        """The real program is started on the state and runs to its end."""
        self.resumed += 1
        accepted, answered = len(self.world.accepted), len(self.world.answered)
        ended = self.world.start(self.world.resume())
        found = [] if ended.status in (0, 1, 3) else [Finding(Breach.STUCK, f"“cfbatch resume” ended with {ended}")]
        since = self.world.accepted[accepted:], self.world.answered[answered:]
        return [*found, *self._comparison(promises, *since).run(settled=True)]


def _files(tree: Tree, name: str, suffix: str) -> dict[str, bytes | None]:
    """The files of an export by the rest of their path."""
    start = f"{name}{suffix}" if suffix else f"{name}/"
    return {
        path.removeprefix(name): content
        for path, content in tree.items()
        if path.startswith(start) and content is not None and not path.endswith(".manifest.json")
    }


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _answer(folder: JobFolder, batch: Batch) -> Iterator[Finding]:
    """A synchronous call whose answer is said to be here and is not: it cannot be asked for again."""
    if batch.state in (BatchState.COLLECTING, BatchState.DONE):
        try:
            folder.read_reply(batch.number)
        except (OSError, EOFError) as error:
            yield Finding(Breach.LOST, f"the answer to call {batch.number}, {batch.state.value}: {error}")
