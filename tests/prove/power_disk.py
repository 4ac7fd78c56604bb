"""A disk behind a volatile cache: what is on it for certain after a sequence of operations, and what may be.

The rules, in two models. Everything not named here is not promised by either.

STRICT: what POSIX says of fsync(), and nothing that a particular file system adds.
- Bytes and the size of a file are certain once fsync() or fdatasync() of that file, begun after the write had ended,
  has returned. Until then each write may be there, be missing, or be there in part, in pieces of 512 bytes, whatever
  became of writes before or after it, in this file or in others (POSIX, fsync(): "all data for the open file descriptor
  ... is to be transferred to the storage device"; nothing is said of any order without it).
- A file may have grown without its bytes: then they are zeros (the size and the data are written separately).
- A name (made, removed or moved) is certain once fsync() of its folder, begun afterwards, has returned; fsync() of the
  file does not make its name certain (Linux, fsync(2), NOTES). The name of a new folder is an entry of its own parent.
- Changes of one name are not swapped with one another. Changes of different names are.
- A rename is one step: after it there is the old state of both names or the new one (POSIX, rename(); every file
  system with a journal keeps this over a power cut). It is certain once either of the two folders has been flushed.
- 512 bytes that are written together are not torn, and bytes beside a write are not harmed (SQLite's "powersafe
  overwrite", sqlite.org/psow.html).

JOURNALLED: ext4 with data=ordered and delayed allocation, as most Linux systems have it (kernel documentation,
filesystems/ext4; fs/ext4/namei.c, ext4_alloc_da_blocks).
- Changes of names and sizes reach the disk in their order: what is there is a beginning of the sequence, at least as
  far as the last change of any file or folder that was flushed.
- A file never shows bytes that were not written: it has grown only as far as its data, in order. Bytes written over
  older ones may be there or not, in any order.
- A file that is renamed over another is written out before the rename is (auto_da_alloc).

What is left out: a disk that says it has flushed and has not, and one that changes bytes that nobody writes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

SECTOR = 512  # bytes
ROOT = 0  # number of the recorded folder


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes at a place of a file."""

    file: int
    offset: int
    data: bytes

    @property
    def end(self) -> int:
        """Where the write ends."""
        return self.offset + len(self.data)


@dataclass(frozen=True, slots=True)
class Resize:
    """A file is cut or made longer; what is new in it are zeros."""

    file: int
    size: int


@dataclass(frozen=True, slots=True)
class Flush:
    """fsync() of a file or a folder. It covers the operations with numbers below `since`."""

    node: int
    since: int


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a folder stands for a file or a folder from now on; for nothing when `node` is None."""

    folder: int
    name: str
    node: int | None
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """A rename; the target's former file loses its name. `replaced` says whether there was one."""

    folder: int
    name: str
    to_folder: int
    to_name: str
    node: int
    replaced: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that is no operation on the disk, such as a request that has left. `words` are JSON."""

    words: str


Data = Write | Resize
Entry = Name | Move
Operation = Data | Flush | Entry | Mark
Slot = tuple[int, str]  # a name in a folder
Tree = dict[str, bytes | None]  # by path; None for a folder


def slots(entry: Entry) -> tuple[Slot, ...]:
    """The names that an operation changes."""
    if isinstance(entry, Name):
        return ((entry.folder, entry.name),)
    return (entry.folder, entry.name), (entry.to_folder, entry.to_name)


@dataclass
class Pending:
    """An operation that is not certain, with its number in the sequence."""

    number: int
    operation: Data | Entry


@dataclass
class Disk:
    """`files` and `entries` are what is certain. `data` and `names` are what is pending, in order."""

    files: dict[int, bytes] = field(default_factory=dict)
    entries: dict[int, dict[str, int]] = field(default_factory=lambda: {ROOT: {}})
    data: dict[int, list[Pending]] = field(default_factory=dict)
    names: list[Pending] = field(default_factory=list)
    committed: int = 0  # JOURNALLED: changes of names and sizes with numbers below are on the disk
    _sizes: dict[int, int] = field(default_factory=dict)  # with everything pending
    _last_change: dict[int, int] = field(default_factory=dict)  # JOURNALLED: number after the last change of a node

    def take(self, number: int, operation: Operation) -> None:
        """The next operation of the sequence."""
        match operation:
            case Write() | Resize():
                self._take_data(number, operation)
            case Name():
                if operation.node is not None:
                    if operation.is_folder:
                        self.entries.setdefault(operation.node, {})
                    else:
                        self.files.setdefault(operation.node, b"")
                    self._last_change[operation.node] = number + 1
                self._take_entry(number, operation)
            case Move():
                self._last_change[operation.node] = number + 1
                self._last_change[operation.to_folder] = number + 1
                self._take_entry(number, operation)
            case Flush():
                self._flush(operation)

    def _take_data(self, number: int, operation: Data) -> None:
        self.data.setdefault(operation.file, []).append(Pending(number, operation))
        size = self.size(operation.file)
        new = operation.size if isinstance(operation, Resize) else max(size, operation.end)
        if new != size:
            self._sizes[operation.file] = new
            self._last_change[operation.file] = number + 1

    def _take_entry(self, number: int, operation: Entry) -> None:
        self.names.append(Pending(number, operation))
        self._last_change[operation.folder] = number + 1

    def size(self, file: int) -> int:
        """The size of a file as the program sees it."""
        return self._sizes.get(file, len(self.files.get(file, b"")))

    def _flush(self, flush: Flush) -> None:
        last = self._last_change.get(flush.node, 0)
        if last <= flush.since:
            self.committed = max(self.committed, last)
        covered = [each for each in self.data.get(flush.node, ()) if each.number < flush.since]
        if covered:
            self.files[flush.node] = applied(self.files[flush.node], [data_of(each) for each in covered])
            self.data[flush.node] = [each for each in self.data[flush.node] if each.number >= flush.since]
        wanted = {
            each.number
            for each in self.names
            if each.number < flush.since and flush.node in {folder for folder, _ in slots(_entry(each))}
        }
        if wanted:
            certain = self.with_needed(wanted)
            for each in self.names:
                if each.number in certain:
                    apply_entry(self.entries, _entry(each))
            self.names = [each for each in self.names if each.number not in certain]

    def with_needed(self, numbers: Iterable[int]) -> set[int]:
        """These pending changes of names, with the earlier ones of the same names."""
        kept = set(numbers)
        touched: set[Slot] = set()
        for each in reversed(self.names):
            own = slots(_entry(each))
            if each.number in kept or touched.intersection(own):
                kept.add(each.number)
                touched.update(own)
        return kept

    def tree(self, names: set[int], contents: Mapping[int, bytes]) -> Tree:
        """What is there after a crash, with the pending changes of names of these numbers.

        `contents` are the files that differ from what is certain.
        """
        entries = self.entries
        if names:
            entries = {folder: dict(found) for folder, found in self.entries.items()}
            for each in self.names:
                if each.number in names:
                    apply_entry(entries, _entry(each))
        tree: Tree = {}
        waiting = [(ROOT, "")]
        while waiting:
            folder, path = waiting.pop()
            for name, node in entries[folder].items():
                if node in entries:
                    tree[path + name] = None
                    waiting.append((node, f"{path}{name}/"))
                else:
                    tree[path + name] = contents.get(node, self.files[node])
        return tree


def data_of(pending: Pending) -> Data:
    """A pending operation that is known to change a file's bytes or size."""
    assert isinstance(pending.operation, Write | Resize)
    return pending.operation


def _entry(pending: Pending) -> Entry:
    assert isinstance(pending.operation, Name | Move)
    return pending.operation


def apply_entry(entries: dict[int, dict[str, int]], entry: Entry) -> None:
    """Make a change of names."""
    if isinstance(entry, Move):
        entries[entry.folder].pop(entry.name, None)
        entries[entry.to_folder][entry.to_name] = entry.node
    elif entry.node is None:
        entries[entry.folder].pop(entry.name, None)
    else:
        entries[entry.folder][entry.name] = entry.node


def applied(content: bytes, operations: Sequence[Data], *, size: int | None = None) -> bytes:
    """A file's bytes after these operations; with `size` it is at least that long, with zeros at the end."""
    result = bytearray(content)
    for operation in operations:
        if isinstance(operation, Resize):
            _stretch(result, operation.size)
            del result[operation.size :]
        else:
            _stretch(result, operation.offset)
            result[operation.offset : operation.end] = operation.data
    if size is not None:
        _stretch(result, size)
    return bytes(result)


def _stretch(content: bytearray, size: int) -> None:
    if len(content) < size:
        content.extend(bytes(size - len(content)))


def pieces(write: Write) -> list[Write]:
    """A write in the parts that reach the disk whole."""
    found = []
    start = write.offset
    while start < write.end:
        stop = min(write.end, (start // SECTOR + 1) * SECTOR)
        found.append(Write(write.file, start, write.data[start - write.offset : stop - write.offset]))
        start = stop
    return found


def digest_of(content: bytes) -> bytes:
    """A short hash of a file's bytes."""
    return blake2b(content, digest_size=12).digest()
