"""A recording: the operations on a folder that a run of the program made, in order, from the calls it was seen to make.

Descriptors, their places in files and their folders are followed from call to call, so that each write is known by file
and place. What cannot be followed (memory maps that are written to, writes of other processes' data) is an error and
never left out in silence.
"""

import json
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from tests.prove.power_disk import ROOT, Disk, Flush, Mark, Move, Name, Operation, Resize, Tree, Write
from tests.prove.power_trace import Call

_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class CannotBeRecorded(Exception):
    """The program changed a file in a way that is not seen in its calls."""


@dataclass
class _Open:
    """An open file description, which duplicated descriptors share."""

    node: int
    path: str
    place: int = 0
    appends: bool = False


@dataclass
class Recording:
    """The tree as it was at the start, and what was done to it."""

    before: Tree
    operations: list[Operation] = field(default_factory=list)

    def disk(self) -> tuple[Disk, dict[str, int]]:
        """The disk at the start, on which all is certain, and the numbers of its files and folders by path."""
        disk, nodes = Disk(), {"": ROOT}
        for path, content in sorted(self.before.items()):
            parent, _, name = path.rpartition("/")
            nodes[path] = len(nodes)
            disk.entries[nodes[parent]][name] = nodes[path]
            if content is None:
                disk.entries[nodes[path]] = {}
            else:
                disk.files[nodes[path]] = content
        return disk, nodes


def tree_of(root: Path, is_left_out: Callable[[str], bool]) -> Tree:
    """The files and folders below a folder, as they are now."""
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not is_left_out(name):
            found[name] = None if path.is_dir() else path.read_bytes()
    return found


class Recorder:
    """Reads calls and writes operations. Paths below `root` for which `is_left_out` is true are not followed."""

    def __init__(self, root: Path, before: Tree, is_left_out: Callable[[str], bool]) -> None:
        self.recording = Recording(before)
        self._root, self._is_left_out = f"{root}/", is_left_out
        disk, self._nodes = self.recording.disk()
        self._count = len(self._nodes)
        self._live = {node: bytearray(content) for node, content in disk.files.items()}
        self._folders = set(disk.entries)
        self._tables: dict[int, dict[int, _Open]] = {}  # by process or thread
        self._streams: dict[str, bytes] = {}  # what was sent by socket, as far as no request is complete
        self._ends: list[int] = []  # for each operation, the line of the log at which it ended

    def read(self, calls: Iterable[Call]) -> Recording:
        """All calls of a run."""
        for call in calls:
            handler: Callable[[Call], None] | None = getattr(self, f"_{_NAMES.get(call.name, call.name)}", None)
            if handler is not None:
                handler(call)
        return self.recording

    def _add(self, call: Call, operation: Operation) -> None:
        self._ends.append(call.number)
        self.recording.operations.append(operation)

    def _since(self, call: Call) -> int:
        """The number of the first operation that had not ended when the call began."""
        return bisect_right(self._ends, call.began)

    def _table(self, call: Call) -> dict[int, _Open]:
        # A thread may be seen before the call that made it ends: it shares the descriptors of the others.
        if call.process not in self._tables:
            self._tables[call.process] = next(iter(self._tables.values()), {})
        return self._tables[call.process]

    def _name(self, path: str) -> str | None:
        """A path relative to the root, None when it is not followed."""
        clean = os.path.normpath(path)
        if not f"{clean}/".startswith(self._root):
            return None
        name = f"{clean}/"[len(self._root) :].rstrip("/")
        return None if self._is_left_out(name) else name

    def _path(self, call: Call, index: int, folder: int | None = None) -> str | None:
        path = call.path(index)
        return self._name(path if folder is None or path.startswith("/") else os.path.join(call.path(folder), path))  # noqa: PTH118

    def _found(self, call: Call, index: int = 0) -> _Open | None:
        found = self._table(call).get(call.descriptor(index))
        if found is None and call.arguments[index].endswith(">"):  # else it is closed, or its file has no name
            name = self._name(call.path(index))
            if name is not None and name in self._nodes:
                raise CannotBeRecorded(f"{call.name} of {name}, which was not seen to be opened")
        return found

    # Descriptors

    def _open(self, call: Call) -> None:
        self._opened(call, self._path(call, 0), call.arguments[1])

    def _openat(self, call: Call) -> None:
        self._opened(call, self._path(call, 1, 0), call.arguments[2])

    def _opened(self, call: Call, name: str | None, flags: str) -> None:
        table = self._table(call)
        table.pop(call.result, None)
        if name is None:
            return
        if "O_TMPFILE" in flags or "O_PATH" in flags:
            raise CannotBeRecorded(f"{name} was opened with {flags}")
        if name not in self._nodes:
            self._make(call, name, is_folder=False)
        node = self._nodes[name]
        if "O_TRUNC" in flags and self._live[node]:
            self._resize(call, node, 0)
        table[call.result] = _Open(node, name, appends="O_APPEND" in flags)

    def _close(self, call: Call) -> None:
        self._table(call).pop(call.descriptor(), None)

    def _dup(self, call: Call) -> None:
        if call.name == "fcntl" and "F_DUPFD" not in call.arguments[1]:
            return
        found, table = self._found(call), self._table(call)
        table.pop(call.result, None)
        if found is not None:
            table[call.result] = found

    def _clone(self, call: Call) -> None:
        own = self._table(call)
        shares = "CLONE_FILES" in ",".join(call.arguments)
        self._tables[call.result] = own if shares else dict(own)

    def _lseek(self, call: Call) -> None:
        if (found := self._found(call)) is not None:
            found.place = call.result

    def _read(self, call: Call) -> None:
        if (found := self._found(call)) is not None:
            found.place += call.result

    # Bytes

    def _write(self, call: Call) -> None:
        if call.descriptor() == -1:
            self._add(call, Mark(call.data().decode()))
            return
        found = self._found(call)
        if found is None:
            self._sent(call)
            return
        if found.appends:
            found.place = len(self._live[found.node])
        self._put(call, found.node, found.place, call.data()[: call.result])
        found.place += call.result

    def _pwrite(self, call: Call) -> None:
        if (found := self._found(call)) is not None:
            self._put(call, found.node, call.number_at(3), call.data()[: call.result])

    def _copied(self, call: Call) -> None:
        """sendfile and copy_file_range, of a file from its beginning, as shutil makes copies."""
        target, source = (0, 1) if call.name == "sendfile" else (2, 0)
        found, read = self._found(call, target), self._found(call, source)
        if found is None:
            return
        if read is None or not call.result:
            if call.result:
                raise CannotBeRecorded(f"{found.path} is a copy of what was not recorded")
            return
        place = read.place if "NULL" in call.arguments[source + 1] else _in_brackets(call.arguments[2])
        self._put(call, found.node, found.place, bytes(self._live[read.node][place : place + call.result]))
        found.place += call.result
        if "NULL" in call.arguments[source + 1]:
            read.place += call.result

    def _put(self, call: Call, node: int, place: int, data: bytes) -> None:
        live = self._live[node]
        live.extend(bytes(max(0, place - len(live))))
        live[place : place + len(data)] = data
        self._add(call, Write(node, place, data))

    def _resize(self, call: Call, node: int, size: int) -> None:
        live = self._live[node]
        live.extend(bytes(max(0, size - len(live))))
        del live[size:]
        self._add(call, Resize(node, size))

    def _truncate(self, call: Call) -> None:
        if call.name == "truncate":
            name = self._path(call, 0)
            if name is not None:
                self._resize(call, self._nodes[name], call.number_at(1))
        elif (found := self._found(call)) is not None:
            self._resize(call, found.node, call.number_at(1))

    def _fallocate(self, call: Call) -> None:
        found = self._found(call)
        if found is None:
            return
        end = call.number_at(2) + call.number_at(3)
        if call.arguments[1] != "0":
            raise CannotBeRecorded(f"fallocate of {found.path} with {call.arguments[1]}")
        if end > len(self._live[found.node]):
            self._resize(call, found.node, end)

    def _mmap(self, call: Call) -> None:
        if "MAP_SHARED" not in call.arguments[3] or "PROT_WRITE" not in call.arguments[2]:
            return
        if (found := self._found(call, 4)) is not None:
            raise CannotBeRecorded(f"{found.path} is written to through a memory map")

    def _fsync(self, call: Call) -> None:
        if (found := self._found(call)) is not None:
            self._add(call, Flush(found.node, self._since(call)))

    def _sync(self, call: Call) -> None:
        raise CannotBeRecorded(f"{call.name} flushes every file")

    # Names

    def _make(self, call: Call, name: str, *, is_folder: bool) -> None:
        node = self._count
        self._count += 1
        parent, _, last = name.rpartition("/")
        self._nodes[name] = node
        if is_folder:
            self._folders.add(node)
        else:
            self._live[node] = bytearray()
        self._add(call, Name(self._nodes[parent], last, node, is_folder))

    def _mkdir(self, call: Call) -> None:
        name = self._path(call, 0) if call.name == "mkdir" else self._path(call, 1, 0)
        if name is not None:
            self._make(call, name, is_folder=True)

    def _unlink(self, call: Call) -> None:
        name = self._path(call, 1, 0) if call.name == "unlinkat" else self._path(call, 0)
        if name is not None:
            parent, _, last = name.rpartition("/")
            del self._nodes[name]
            self._add(call, Name(self._nodes[parent], last, None))

    def _rename(self, call: Call) -> None:
        is_at = call.name != "rename"
        old = self._path(call, 1, 0) if is_at else self._path(call, 0)
        new = self._path(call, 3, 2) if is_at else self._path(call, 1)
        if old is None and new is None:
            return
        if old is None or new is None or "RENAME_EXCHANGE" in ",".join(call.arguments):
            raise CannotBeRecorded(f"{old} was renamed to {new}, across the edge of what is recorded")
        replaced = new in self._nodes
        for path in [path for path in self._nodes if f"{path}/".startswith(f"{old}/")]:
            self._nodes[new + path[len(old) :]] = self._nodes.pop(path)
        (parent, _, last), (to_parent, _, to_last) = old.rpartition("/"), new.rpartition("/")
        self._add(
            call, Move(self._nodes[parent], last, self._nodes[to_parent], to_last, self._nodes[new], replaced=replaced)
        )

    def _link(self, call: Call) -> None:
        names = [self._path(call, index) for index, text in enumerate(call.arguments) if text.startswith('"')]
        if any(name is not None for name in names):
            raise CannotBeRecorded(f"{names} were linked")

    # The network

    def _sendto(self, call: Call) -> None:
        self._sent(call)

    def _sent(self, call: Call) -> None:
        """Note each whole request that has left; that the service has accepted it is possible from then on."""
        path = call.path(0) if "<" in call.arguments[0] else ""
        if not path.startswith("socket:"):
            return
        sent = self._streams.get(path, b"") + call.data()[: call.result]
        while _HEAD_END in sent:
            head, _, rest = sent.partition(_HEAD_END)
            length = _LENGTH.search(head)
            size = int(length[1]) if length else 0
            if len(rest) < size:
                break
            sent = rest[size:]
            if size:
                self._add(call, Mark(json.dumps({"left": sha256(rest[:size]).hexdigest()})))
        self._streams[path] = sent


def _in_brackets(text: str) -> int:
    """The offset before the call, as of `[0] => [4096]`; an unchanged one stands alone."""
    found = re.search(r"\[(\d+)", text)
    assert found, text
    return int(found[1])


_NAMES = {
    "openat2": "openat",
    "creat": "sync",
    "dup2": "dup",
    "dup3": "dup",
    "fcntl": "dup",
    "clone3": "clone",
    "fork": "clone",
    "vfork": "clone",
    "readv": "read",
    "writev": "write",
    "pwrite64": "pwrite",
    "pwritev": "pwrite",
    "pwritev2": "pwrite",
    "sendfile": "copied",
    "copy_file_range": "copied",
    "splice": "copied",
    "ftruncate": "truncate",
    "fdatasync": "fsync",
    "syncfs": "sync",
    "msync": "ignored",
    "mkdirat": "mkdir",
    "rmdir": "unlink",
    "unlinkat": "unlink",
    "renameat": "rename",
    "renameat2": "rename",
    "linkat": "link",
    "symlink": "link",
    "symlinkat": "link",
    "sendmsg": "sendto",
    "io_uring_enter": "sync",
}
