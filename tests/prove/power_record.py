"""A recording: the operations on a folder that a run of the program made, in order, as `strace` saw its calls.

Places in files are followed from call to call. What cannot be followed (a memory map that is written to, a copy within
the system) is noticed at the end, when the operations do not give the files that are there.
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tests.prove import child
from tests.prove.power_disk import Disk, Flush, Mark, Move, Name, Operation, Resize, Tree, Write

CALLS = (
    "open,openat,lseek,read,write,writev,pwrite64,ftruncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,"
    "unlink,unlinkat,mkdir,mkdirat,rmdir,sendto,sendmsg"
)
_LONGEST = 1 << 26  # bytes of a buffer that are written out
_TRACE = ("strace", "-f", "-y", "-xx", "-s", str(_LONGEST), "-e", f"trace={CALLS}", "-e", "raw=read")
_PATIENCE = 60.0  # seconds for strace to attach
_SET_PTRACER, _ANY_TRACER = 0x59616D61, ctypes.c_ulong(-1)

_LINE = re.compile(r"(\d+) +(.*)", re.DOTALL)
_ENDED = re.compile(r"\) += (-?\d+)(?:<([^>]*)>)?.*$", re.DOTALL)
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>")
_PATHS = re.compile(r'(?:<([^>]*)>, )?"([^"]*)"')
_DATA = re.compile(r'(?:iov_base=|, )"([^"]*)"')
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


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
            if found is None or found[2].startswith(("+++", "---")):
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
    """Reads calls and writes operations. Paths below `root` for which `is_left_out` is true are not followed."""

    def __init__(self, root: Path, before: Tree) -> None:
        self.operations: list[Operation] = []
        self._root = f"{root}/"
        self._nodes = Disk.of(before)[1]
        self._count = len(self._nodes)
        self._sizes = {self._nodes[path]: len(content) for path, content in before.items() if content is not None}
        self._places: dict[int, int | None] = {}  # by descriptor; None: what is written is appended
        self._streams: dict[str, bytes] = {}  # sent by socket, as far as no request is complete
        self._ends: list[int] = []  # for each operation, the line of the log at which it ended

    def read(self, log: Path) -> list[Operation]:
        """All operations of a run."""
        for call in calls(log):
            self._take(call)
        return self.operations

    def _add(self, call: Call, operation: Operation) -> None:
        self._ends.append(call.number)
        self.operations.append(operation)

    def _name(self, path: str) -> str | None:
        """A path relative to the root, None when it is not followed."""
        name = path.removeprefix(self._root)
        return None if name == path or is_left_out(name.rstrip("/")) else name

    def _take(self, call: Call) -> None:
        match call.name:
            case "open" | "openat":
                self._opened(call)
            case "lseek" if self._places.get(call.descriptor, 0) is not None:
                self._places[call.descriptor] = call.result
            case "read":
                self._move(call.descriptor, call.result)
            case "write" | "writev" | "pwrite64" | "sendto" | "sendmsg":
                self._written(call)
            case "ftruncate" if (node := self._node(call)) is not None:
                self._resize(call, node, call.last_number)
            case "fallocate" if (node := self._node(call)) is not None:  # from the beginning of the file
                self._resize(call, node, max(call.last_number, self._sizes[node]))
            case "fsync" | "fdatasync" if (node := self._node(call)) is not None:
                self._add(call, Flush(node, bisect_right(self._ends, call.began)))
            case "mkdir" | "mkdirat" if (name := self._name(call.paths()[0])) is not None:
                self._make(call, name, is_folder=True)
            case "unlink" | "unlinkat" | "rmdir" if (name := self._name(call.paths()[0])) is not None:
                del self._nodes[name]
                self._add(call, Name(*self._slot(name), None))
            case "rename" | "renameat" | "renameat2":
                self._renamed(call)

    def _node(self, call: Call) -> int | None:
        name = self._name(f"{call.place}/")
        return None if name is None else self._nodes.get(name.rstrip("/"))

    def _slot(self, name: str) -> tuple[int, str]:
        parent, _, last = name.rpartition("/")
        return self._nodes[parent], last

    def _opened(self, call: Call) -> None:
        name = self._name(_text(call.opened))
        self._places[call.result] = None if "O_APPEND" in call.text else 0
        if name is None:
            return
        if name not in self._nodes:
            self._make(call, name, is_folder=False)
        if "O_TRUNC" in call.text and self._sizes[self._nodes[name]]:
            self._resize(call, self._nodes[name], 0)

    def _make(self, call: Call, name: str, *, is_folder: bool) -> None:
        node, self._count = self._count, self._count + 1
        self._nodes[name] = node
        self._sizes[node] = 0
        self._add(call, Name(*self._slot(name), node, is_folder))

    def _resize(self, call: Call, node: int, size: int) -> None:
        self._sizes[node] = size
        self._add(call, Resize(node, size))

    def _move(self, descriptor: int, by: int) -> None:
        place = self._places.get(descriptor)
        if place is not None:
            self._places[descriptor] = place + by

    def _written(self, call: Call) -> None:
        if call.descriptor == -1:
            self._add(call, Mark(call.data().decode()))
        elif call.place.startswith("socket:"):
            self._sent(call)
        elif (node := self._node(call)) is not None:
            if call.name == "pwrite64":
                place = call.last_number
            else:
                known = self._places.get(call.descriptor)
                place = self._sizes[node] if known is None else known
                self._move(call.descriptor, call.result)
            self._sizes[node] = max(self._sizes[node], place + call.result)
            self._add(call, Write(node, place, call.data()))

    def _sent(self, call: Call) -> None:
        """Note each whole request that has left: that the service has accepted it is possible from then on."""
        sent = self._streams.get(call.place, b"") + call.data()
        while b"\r\n\r\n" in sent:
            head, _, rest = sent.partition(b"\r\n\r\n")
            length = _LENGTH.search(head)
            size = int(length[1]) if length else 0
            if len(rest) < size:
                break
            sent = rest[size:]
            if size:
                self._add(call, Mark(json.dumps({"left": sha256(rest[:size]).hexdigest()})))
        self._streams[call.place] = sent

    def _renamed(self, call: Call) -> None:
        old, new = (self._name(path) for path in call.paths())
        if old is None or new is None:
            if old != new:
                raise CannotBeRecorded(f"{old} was renamed to {new}, across the edge of what is recorded")
            return
        slot = self._slot(old)
        for path in [path for path in self._nodes if f"{path}/".startswith(f"{old}/")]:
            self._nodes[new + path[len(old) :]] = self._nodes.pop(path)
        self._add(call, Move(*slot, *self._slot(new), self._nodes[new]))


def is_left_out(name: str) -> bool:
    """Paths that are not recorded: logs, notes, the file that only takes up room, input files, the child's output."""
    is_input = "/" not in name and name.endswith(".csv")
    return name in ("child.log", "data/ballast") or name.startswith(("data/logs/", "data/unfinished/")) or is_input


def tree_of(root: Path) -> Tree:
    """The files and folders below a folder, as they are now."""
    paths = ((path, path.relative_to(root).as_posix()) for path in sorted(root.rglob("*")))
    return {name: None if path.is_dir() else path.read_bytes() for path, name in paths if not is_left_out(name)}


def record(root: Path, begin: Callable[[], int], before: Tree) -> list[Operation]:
    """Record a child, begun by `begin`, that calls `wait_to_be_traced` first. Raises CannotBeRecorded."""
    process = begin()
    log = root.with_name(f"{root.name}.trace")
    with log.with_suffix(".err").open("wb") as errors:
        tracer = subprocess.Popen([*_TRACE, "-o", log, "-p", str(process)], stdin=subprocess.DEVNULL, stderr=errors)
        ended = child.end(process, patience=300.0)
        tracer.wait()
    if ended.status:
        raise CannotBeRecorded(f"the run ended with {ended}: {(root / 'child.log').read_text()[-2000:]}")
    operations = Recorder(root, before).read(log)
    disk, _ = Disk.of(before)
    for number, operation in enumerate(operations):
        disk.take(number, operation)
    differing = {name for name, _ in tree_of(root).items() ^ disk.tree({each for each, _ in disk.pending}).items()}
    if differing:
        raise CannotBeRecorded(f"files are not as the recorded calls would have left them: {sorted(differing)}")
    log.unlink()
    log.with_suffix(".err").unlink()
    return operations


def wait_to_be_traced() -> None:
    """To be called in the child: return when strace has attached to it."""
    with suppress(OSError, AttributeError):  # systems that let only ancestors trace, unless told so
        ctypes.CDLL(None).prctl(_SET_PTRACER, _ANY_TRACER, 0, 0, 0)
    due = time.monotonic() + _PATIENCE
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
    if sys.platform != "linux":
        return "Calls are recorded with strace, which is a program for Linux."
    if not shutil.which("strace"):
        return "strace is missing; scripts/system-packages.sh tests installs it."
    tried = subprocess.run(["strace", "-qq", "-e", "trace=none", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "This system does not let strace trace a process."
