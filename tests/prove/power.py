"""Power cuts: one run is recorded, cut behind each of its operations, and what may be on the disk then is opened.

The run starts the program for the first time, submits and collects scores, vectors and synchronous calls, and exports
scores over older files. See docs/proof.md, "Power cuts".

A recording has the operations on a folder in order, as `strace` saw the program's calls; places in files are followed
from call to call. What cannot be followed (a memory map that is written to, a copy within the system) is noticed at the
end, when the operations do not give the files that are there.
"""

import ctypes
import json
import logging
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
import traceback
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from cfbatch_gui.cli import export as export_command
from cfbatch_gui.cli import working
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.jobs.store.data_folder import open_or_recover, place_of
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.core.system.paths import Paths, state_root
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.prove.compare import Breach, Comparison, Finding
from tests.prove.power_disk import Disk, Flush, Mark, Move, Name, Operation, Resize, Tree, Write, states
from tests.prove.steps import PAID
from tests.prove.world import Command, Prepare, World, end_child, nothing, wrap
from tests.support.practice import Accepted

# The recording

CALLS = (
    "open,openat,lseek,read,write,writev,pwrite64,ftruncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,"
    "unlink,unlinkat,mkdir,mkdirat,rmdir"
)
_TRACE = ("strace", "-f", "-y", "-xx", "-s", "67108864", "-e", f"trace={CALLS}", "-e", "raw=read")
_SET_PTRACER, _ANY_TRACER = 0x59616D61, ctypes.c_ulong(-1)

_LINE = re.compile(r"(\d+) +(?!\+\+\+|---)(.*)", re.DOTALL)
_ENDED = re.compile(r"\) += (-?\d+)(?:<([^>]*)>)?.*$", re.DOTALL)
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>")
_PATHS = re.compile(r'(?:<([^>]*)>, )?"([^"]*)"')
_DATA = re.compile(r'(?:iov_base=|, )"([^"]*)"')


class CannotBeRecorded(Exception):
    """The program changed a file in a way that is not seen in its calls, or did not end as it should."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that succeeded: `text` are its arguments. `began` and `number` count the log's lines at its two ends."""

    name: str
    text: str
    result: int
    opened: str
    began: int
    number: int

    @property
    def descriptor(self) -> int:
        return int(re.split(r"[<,]", self.text, maxsplit=1)[0], 0)

    @property
    def place(self) -> str:
        """The path of the descriptor."""
        return _text(self.text.partition("<")[2].partition(">")[0])

    @property
    def last_number(self) -> int:
        return int(self.text.rpartition(", ")[2])

    def data(self) -> bytes:
        return b"".join(_bytes(text) for text in _DATA.findall(self.text))[: max(self.result, 0) or None]

    def paths(self) -> list[str]:
        """The arguments that are paths, each in the folder that stands before it."""
        return [str(Path(_text(folder), _text(name))) for folder, name in _PATHS.findall(self.text)]


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _text(text: str) -> str:
    return os.fsdecode(_bytes(text)) if text.startswith("\\x") else text


def calls(log: Path) -> Iterator[Call]:
    """The calls that succeeded and the marks, in the order in which they ended."""
    halves: dict[str, tuple[int, str]] = {}
    with log.open(encoding="ascii") as lines:
        for number, line in enumerate(lines):
            found = _LINE.match(line.rstrip("\n"))
            if found is None:
                continue
            process, text, began = found[1], found[2], number
            if text.endswith("<unfinished ...>"):
                halves[process] = number, text.removesuffix("<unfinished ...>")
                continue
            if resumed := _RESUMED.match(text):
                began, first = halves.pop(process, (number, f"{resumed[1]}("))
                text = first + text[resumed.end() :]
            ended = _ENDED.search(text)
            name, _, rest = text[: ended.start() if ended else 0].partition("(")
            if ended and (int(ended[1]) >= 0 or rest.startswith("-1,")):
                yield Call(name, rest.strip(), int(ended[1]), ended[2] or "", began, number)


class Recorder:
    """Reads calls and writes `operations`. Paths for which `is_left_out` is true are not followed."""

    def __init__(self, root: Path, before: Tree) -> None:
        self.operations: list[Operation] = []
        self._root = f"{root}/"
        self._nodes = Disk.of(before)[1]
        self._sizes = {self._nodes[path]: len(content) for path, content in before.items() if content is not None}
        self._count = len(self._nodes)
        self._places: dict[int, int | None] = {}  # by descriptor; None: what is written is appended
        self._ends: list[int] = []  # for each operation, the line of the log at which it ended

    def take(self, call: Call) -> None:
        """The next call; nothing that is not followed makes an operation."""
        self.operations += (found := list(self._operations(call)))
        self._ends += [call.number] * len(found)

    def _operations(self, call: Call) -> Iterator[Operation]:
        match call.name:
            case "open" | "openat":
                yield from self._opened(call)
            case "lseek" if self._places.get(call.descriptor, 0) is not None:
                self._places[call.descriptor] = call.result
            case "read":
                self._move(call.descriptor, call.result)
            case "write" | "writev" | "pwrite64":
                yield from self._written(call)
            case "ftruncate" if (node := self._node(call)) is not None:
                yield self._resized(node, call.last_number)
            case "fallocate" if (node := self._node(call)) is not None:  # from the beginning of the file
                yield self._resized(node, max(call.last_number, self._sizes[node]))
            case "fsync" | "fdatasync" if (node := self._node(call)) is not None:
                yield Flush(node, bisect_right(self._ends, call.began))
            case "mkdir" | "mkdirat" if (name := self._name(call.paths()[0])) is not None:
                yield self._made(name, is_folder=True)
            case "unlink" | "unlinkat" | "rmdir" if (name := self._name(call.paths()[0])) is not None:
                del self._nodes[name]
                yield Name(*self._slot(name), None)
            case "rename" | "renameat" | "renameat2":
                yield from self._renamed(call)

    def _name(self, path: str) -> str | None:
        """A path relative to the root, None when it is not followed."""
        name = path.removeprefix(self._root)
        return None if name == path or is_left_out(name.rstrip("/")) else name

    def _node(self, call: Call) -> int | None:
        name = self._name(f"{call.place}/")
        return None if name is None else self._nodes.get(name.rstrip("/"))

    def _slot(self, name: str) -> tuple[int, str]:
        parent, _, last = name.rpartition("/")
        return self._nodes[parent], last

    def _opened(self, call: Call) -> Iterator[Operation]:
        name = self._name(_text(call.opened))
        self._places[call.result] = None if "O_APPEND" in call.text else 0
        if name is not None and name not in self._nodes:
            yield self._made(name)
        if name is not None and "O_TRUNC" in call.text and self._sizes[self._nodes[name]]:
            yield self._resized(self._nodes[name], 0)

    def _made(self, name: str, *, is_folder: bool = False) -> Operation:
        node, self._count = self._count, self._count + 1
        self._nodes[name], self._sizes[node] = node, 0
        return Name(*self._slot(name), node, is_folder)

    def _resized(self, node: int, size: int) -> Operation:
        self._sizes[node] = size
        return Resize(node, size)

    def _move(self, descriptor: int, by: int) -> None:
        place = self._places.get(descriptor)
        if place is not None:
            self._places[descriptor] = place + by

    def _written(self, call: Call) -> Iterator[Operation]:
        if call.descriptor == -1:
            yield Mark(call.data().decode())
        elif (node := self._node(call)) is not None:
            known = call.last_number if call.name == "pwrite64" else self._places.get(call.descriptor)
            if call.name != "pwrite64":
                self._move(call.descriptor, call.result)
            place = self._sizes[node] if known is None else known
            self._sizes[node] = max(self._sizes[node], place + call.result)
            yield Write(node, place, call.data())

    def _renamed(self, call: Call) -> Iterator[Operation]:
        old, new = (self._name(path) for path in call.paths())
        if old is None and new is None:
            return
        if old is None or new is None:
            raise CannotBeRecorded(f"{old} was renamed to {new}, across the edge of what is recorded")
        slot = self._slot(old)
        for path in [path for path in self._nodes if f"{path}/".startswith(f"{old}/")]:
            self._nodes[new + path[len(old) :]] = self._nodes.pop(path)
        yield Move(*slot, *self._slot(new), self._nodes[new])


def is_left_out(name: str) -> bool:
    """Paths that are not recorded: logs, notes, the file that only takes up room, input files, the child's output."""
    is_input = "/" not in name and name.endswith(".csv")
    return name in ("child.log", "data/ballast") or name.startswith(("data/logs/", "data/unfinished/")) or is_input


def tree_of(root: Path) -> Tree:
    """The files and folders below a folder, as they are now."""
    paths = ((path, path.relative_to(root).as_posix()) for path in sorted(root.rglob("*")))
    return {name: None if path.is_dir() else path.read_bytes() for path, name in paths if not is_left_out(name)}


def record(world: World, command: Command, mutant: Prepare, before: Tree) -> list[Operation]:
    """Record a run of the program, or of a mutant. Raises CannotBeRecorded."""

    def prepare() -> None:
        _note_promises()
        mutant()
        wait_to_be_traced()

    process = world.begin(command, prepare)
    with tempfile.TemporaryDirectory(dir=world.root.parent) as name:
        log = Path(name, "trace")
        with subprocess.Popen([*_TRACE, "-o", log, "-p", str(process)], stderr=subprocess.DEVNULL):
            status = end_child(process, patience=300.0)
        recorder = Recorder(world.root, before)
        for call in calls(log):
            recorder.take(call)
    if status:
        raise CannotBeRecorded(f"the run ended with {status}: {world.log.read_text()[-2000:]}")
    disk, _ = Disk.of(before)
    for number, operation in enumerate(recorder.operations):
        disk.take(number, operation)
    now = disk.tree({each for each, _ in disk.pending})
    differing = {name for name, _ in tree_of(world.root).items() ^ now.items()}
    if differing:
        raise CannotBeRecorded(f"files are not as the recorded calls would have left them: {sorted(differing)}")
    return recorder.operations


def wait_to_be_traced() -> None:
    """To be called in the child: return when strace has attached to it."""
    with suppress(OSError, AttributeError):  # systems that let only ancestors trace, unless told so
        ctypes.CDLL(None).prctl(_SET_PTRACER, _ANY_TRACER, 0, 0, 0)
    due = time.monotonic() + 60.0
    while "TracerPid:\t0\n" in Path("/proc/self/status").read_text():
        if time.monotonic() > due:
            raise TimeoutError("strace did not attach")
        time.sleep(0.001)


def mark(words: object) -> None:
    """Leave words in the log, at this place in the order of calls: a write to a descriptor that no process has."""
    with suppress(OSError):
        os.write(-1, json.dumps(words).encode())


def why_not() -> str:
    """Why nothing can be traced here, as a sentence; "" if it can."""
    if not shutil.which("strace"):
        return "Calls are recorded with strace on Linux; scripts/system-packages.sh tests installs it."
    tried = subprocess.run(["strace", "-qq", "-e", "trace=none", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "This system does not let strace trace a process."


# The run, and what it promises

FIRST, LAST = "job 1", "job 3"  # exported, and exported over it
_NOT_COUNTED = ("data/traffic.db", "tmp/")  # read by no comparison
_PROGRESS = {
    **{BatchState.PLANNED: 0, BatchState.SENDING: 1, BatchState.OUTCOME_UNKNOWN: 1, BatchState.QUEUED: 2},
    **{BatchState.RUNNING: 3, BatchState.COLLECTING: 4},
}


@contextmanager
def in_memory(otherwise: Path) -> Iterator[Path]:
    """A folder whose files are in memory, where flushing takes no time, if there is one.

    Without warnings of damage, which is in many states.
    """
    logging.disable(logging.ERROR)
    try:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else otherwise) as folder:
            yield Path(folder)
    finally:
        logging.disable(logging.NOTSET)


def everything(world: World) -> Command:
    """The run that is recorded."""
    runs = [world.new_job(kind, rows=45, with_output=True) for kind in (Kind.RANK, Kind.EMBED)]
    runs.append(world.new_job(Kind.RANK, rows=12, at_once=True))

    def command() -> int:
        ended = sum(run() for run in runs)
        ids = {job.name: job.id for job in world.jobs()}
        for job, name in ((FIRST, "first"), (FIRST, "second"), (LAST, "second")):
            to = ("--to", "csv", world.out / f"{name}.csv", "--to", "beir", world.out / name)
            ended += world.cfbatch("export", ids[job], *to)()
        return ended

    return command


def _note_promises() -> None:
    """In the child: leave a mark behind each call after which something has to outlast a power cut.

    And before each body that is paid for, which the service may have accepted from then on.
    """

    def leaves(*_: Any, what: str = "", body: bytes = b"", **__: Any) -> None:
        if what in PAID:
            mark({"left": sha256(body).hexdigest()})

    def saved(job: Job, *_: Any, **__: Any) -> None:
        mark({"job": job.id, "sent": job.is_sent, "batches": {each.number: each.state.value for each in job.batches}})

    wrap(Transport, "send", before=leaves)
    for name in ("put", "change", "save_batch"):
        wrap(Ledger, name, after=saved)
    for module in (working, export_command):
        wrap(module, "export", after=lambda done, *_, **__: mark({"written": done.path.name}))


@dataclass
class Promises:
    """What was promised up to an operation."""

    left: Counter[str] = field(default_factory=Counter)  # bodies that were about to leave, by SHA-256
    sent: set[str] = field(default_factory=set)
    jobs: dict[str, dict[int, int]] = field(default_factory=dict)  # how far each batch is
    written: Counter[str] = field(default_factory=Counter)  # exports
    version: int = 0

    def take(self, operation: Operation) -> None:
        if not isinstance(operation, Mark):
            return
        self.version += 1
        match json.loads(operation.words):
            case {"left": str(body)}:
                self.left[body] += 1
            case {"job": str(job), "sent": is_sent, "batches": dict(batches)}:
                self.jobs[job] = {int(number): _progress(BatchState(state)) for number, state in batches.items()}
                self.sent |= {job} if is_sent else set()
            case {"written": str(name)}:
                self.written[name] += 1


def _progress(state: BatchState) -> int:
    return _PROGRESS.get(state, 5)


class Replay:
    """A recorded run of the program, or of a mutant, and what a start makes of each state of its disk.

    Raises CannotBeRecorded. `count` counts the states, and `resumed` those from which the program ran to its end.
    """

    def __init__(self, world: World, seed: int, mutant: Prepare = nothing) -> None:
        self.world, self.count, self.resumed = world, 0, 0
        self._rng = random.Random(seed)
        command = everything(world)
        self._before = tree_of(world.root)
        self.operations = record(world, command, mutant, self._before)
        self._accepted, self._answered = world.accepted(), world.accepted(is_queued=False)
        whole = tree_of(world.root)
        self._exported = {
            (job, suffix): _files(whole, f"out/{name}", suffix)
            for (job, name), suffix in product(((FIRST, "first"), (LAST, "second")), (".csv", ""))
        }

    def findings(
        self, *, share: slice = slice(None), is_short: bool = False, resumed_every: int = 0
    ) -> Iterator[tuple[str, Finding]]:
        """The first finding of each kind in the distinct states behind the operations of a share, in order, with how
        the state came about.
        """
        seen: set[int] = set()
        kinds: set[str] = set()
        promises, taken = Promises(), 0
        places = range(len(self.operations))[share]
        disk, _ = Disk.of(self._before)
        for number, how, tree in states(self.operations, disk, self._rng, places=places, is_short=is_short):
            for operation in self.operations[taken : number + 1]:
                promises.take(operation)
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
                if kind not in kinds:
                    kinds.add(kind)
                    yield f"after operation {number}, {how}", finding

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
        if opened.is_doubtful:
            yield Finding(Breach.STUCK, "the program asks whether its folder was copied")
        yield from _less_far(jobs, promises)
        for job in jobs.values():
            yield from _texts_and_answers(job, JobFolder(paths.job(job.id)))
        yield from self._comparison(promises).run(settled=False)
        yield from self._exports(promises)

    def _comparison(
        self, promises: Promises, accepted: Sequence[Accepted] = (), answered: Sequence[Accepted] = ()
    ) -> Comparison:
        """With what the service can have accepted by then, and what it accepted since."""
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
        before = len(self.world.accepted()), len(self.world.accepted(is_queued=False))
        status = self.world.start(self.world.resume())
        found = [] if status in (0, 1, 3) else [Finding(Breach.STUCK, f"“cfbatch resume” ended with {status}")]
        since = self.world.accepted()[before[0] :], self.world.accepted(is_queued=False)[before[1] :]
        return [*found, *self._comparison(promises, *since).run(settled=True)]


def _less_far(jobs: dict[str, Job], promises: Promises) -> Iterator[Finding]:
    """Jobs and batches that are less far than a write of the ledger had left them."""
    for job_id, saved in promises.jobs.items():
        job = jobs.get(job_id)
        if job is None or (job_id in promises.sent and not job.is_sent):
            yield Finding(Breach.LOST, "a job that was saved is gone, or is a draft again")
            continue
        now = {batch.number: _progress(batch.state) for batch in job.batches}
        for number, least in saved.items():
            if now.get(number, -1) < least:
                yield Finding(Breach.LOST, f"batch {number} was as far as {least} and is at {now.get(number)}")


def _texts_and_answers(job: Job, folder: JobFolder) -> Iterator[Finding]:
    """Texts of a draft that are not there, and answers at once that are said to be: they cannot be asked for again."""
    if job.source_name and not job.is_sent:
        with folder.open(read_only=True) as database:
            (count,) = database.execute("SELECT count(*) FROM items").fetchone()
        if count != job.texts:
            yield Finding(Breach.LOST, f"a draft of {job.texts} texts has {count}")
    for batch in job.batches:
        if batch.at_once and batch.state in (BatchState.COLLECTING, BatchState.DONE):
            try:
                folder.read_reply(batch.number)
            except (OSError, EOFError) as error:
                yield Finding(Breach.LOST, f"the answer to call {batch.number}, {batch.state.value}: {error}")


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
