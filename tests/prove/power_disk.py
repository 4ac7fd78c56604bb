"""A disk behind a volatile cache: what is on it for certain after a sequence of operations, and what may be.

The rules are what POSIX says of fsync(), and nothing that a particular file system adds:
- Bytes and the size of a file are certain once fsync() or fdatasync() of that file, begun after the write had ended,
  has returned. Until then each write may be there, be missing, or be there in part, in pieces of 512 bytes, whatever
  became of others, in this file or elsewhere (POSIX, fsync()). A file may have grown without its bytes: zeros.
- A name (made, removed or moved) is certain once fsync() of its folder, begun afterwards, has returned; fsync() of the
  file does not make its name certain (Linux, fsync(2), NOTES). The name of a new folder is an entry of its own parent.
- Changes of one name are not swapped with one another; changes of different names are.
- A rename is one step, and certain once either of the two folders has been flushed (POSIX, rename()).
- 512 bytes that are written together are not torn, and bytes beside a write are not harmed (SQLite's "powersafe
  overwrite", sqlite.org/psow.html).
What a file system with a journal may leave is among these states. Left out is a disk that says it has flushed and has
not, and one that changes bytes that nobody writes.
"""

import random
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

SECTOR = 512  # bytes
ROOT = 0  # number of the recorded folder
_DRAWS = 4  # states at random, at one place
_SINGLE = 6  # pending operations that are lost alone and kept alone, at one place


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes at a place of a file."""

    file: int
    offset: int
    data: bytes


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
    """A rename; the target's former file loses its name."""

    folder: int
    name: str
    to_folder: int
    to_name: str
    node: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that is no operation on the disk, such as a request that has left. `words` are JSON."""

    words: str


Data = Write | Resize
Entry = Name | Move
Operation = Data | Flush | Entry | Mark
Tree = dict[str, bytes | None]  # by path; None for a folder


def _slots(entry: Entry) -> set[tuple[int, str]]:
    """The names that an operation changes."""
    found = {(entry.folder, entry.name)}
    return found | {(entry.to_folder, entry.to_name)} if isinstance(entry, Move) else found


@dataclass
class Disk:
    """`files` and `entries` are what is certain; `pending` are the operations that are not, with their numbers."""

    files: dict[int, bytes] = field(default_factory=dict)
    entries: dict[int, dict[str, int]] = field(default_factory=lambda: {ROOT: {}})
    pending: list[tuple[int, Data | Entry]] = field(default_factory=list)

    @staticmethod
    def of(tree: Tree) -> "tuple[Disk, dict[str, int]]":
        """A disk on which all of this is certain, and the numbers of its files and folders by path."""
        disk, nodes = Disk(), {"": ROOT}
        for path, content in sorted(tree.items()):
            parent, _, name = path.rpartition("/")
            node = nodes[path] = len(nodes)
            disk.entries[nodes[parent]][name] = node
            if content is None:
                disk.entries[node] = {}
            else:
                disk.files[node] = content
        return disk, nodes

    def take(self, number: int, operation: Operation) -> None:
        """The next operation of the sequence."""
        if isinstance(operation, Flush):
            self._flush(operation)
        elif not isinstance(operation, Mark):
            if isinstance(operation, Name) and operation.node is not None:
                new: dict[int, dict[str, int]] | dict[int, bytes] = self.entries if operation.is_folder else self.files
                new.setdefault(operation.node, {} if operation.is_folder else b"")  # type: ignore[arg-type]
            self.pending.append((number, operation))

    def _flush(self, flush: Flush) -> None:
        covered = [(number, each) for number, each in self.pending if number < flush.since]
        data = [each for _, each in covered if isinstance(each, Data) and each.file == flush.node]
        if data:
            self.files[flush.node] = applied(self.files[flush.node], data)
        names = self.with_needed(
            number
            for number, each in covered
            if isinstance(each, Entry) and flush.node in {folder for folder, _ in _slots(each)}
        )
        done = set(map(id, data))
        for number, each in self.pending:
            if number in names and isinstance(each, Entry):
                _change(self.entries, each)
                done.add(id(each))
        self.pending = [(number, each) for number, each in self.pending if id(each) not in done]

    def with_needed(self, numbers: Iterable[int]) -> set[int]:
        """These pending changes of names, with the earlier ones of the same names."""
        kept, touched = set(numbers), set[tuple[int, str]]()
        for number, each in reversed(self.pending):
            if isinstance(each, Entry) and (number in kept or touched & _slots(each)):
                kept.add(number)
                touched |= _slots(each)
        return kept

    def tree(self, kept: set[int], torn: Mapping[int, Sequence[Data]] | None = None, *, is_long: bool = False) -> Tree:
        """What is there after a crash, with the pending operations of these numbers, and `torn` ones in their place.

        With `is_long` files have grown to their full size, whatever became of their bytes.
        """
        entries = {folder: dict(found) for folder, found in self.entries.items()}
        data: dict[int, list[Data]] = {}
        sizes: dict[int, int] = {}
        for number, each in self.pending:
            if isinstance(each, Entry):
                if number in kept:
                    _change(entries, each)
                continue
            size = sizes.get(each.file, len(self.files[each.file]))
            sizes[each.file] = each.size if isinstance(each, Resize) else max(size, each.offset + len(each.data))
            parts = (torn or {}).get(number, [each] if number in kept else [])
            data.setdefault(each.file, []).extend(parts)
        contents = {file: applied(self.files[file], parts) for file, parts in data.items()}
        if is_long:
            contents = {file: content.ljust(sizes[file], b"\0") for file, content in contents.items()}
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

    def within_reach(self) -> list[tuple[int, Data | Entry]]:
        """The pending operations without bytes of files that have no name any more."""
        named = {node for found in self.entries.values() for node in found.values()}
        named |= {each.node for _, each in self.pending if isinstance(each, Entry) and each.node is not None}
        return [(number, each) for number, each in self.pending if isinstance(each, Entry) or each.file in named]


def _change(entries: dict[int, dict[str, int]], entry: Entry) -> None:
    entries[entry.folder].pop(entry.name, None)
    if isinstance(entry, Move):
        entries[entry.to_folder][entry.to_name] = entry.node
    elif entry.node is not None:
        entries[entry.folder][entry.name] = entry.node


def applied(content: bytes, operations: Sequence[Data]) -> bytes:
    """A file's bytes after these operations."""
    if not operations:
        return content
    result = bytearray(content)
    for each in operations:
        start = each.size if isinstance(each, Resize) else each.offset
        result.extend(bytes(max(0, start - len(result))))
        if isinstance(each, Resize):
            del result[start:]
        else:
            result[start : start + len(each.data)] = each.data
    return bytes(result)


def states(
    operations: Sequence[Operation], disk: Disk, rng: random.Random, *, places: Container[int], is_short: bool = False
) -> Iterator[tuple[int, str, Tree]]:
    """The states in which a power cut may leave the disk behind each operation: its number, how it was chosen, and it.

    `places` are the numbers of operations behind which the power is cut. In short, only what is made in every case.
    """
    for number, operation in enumerate(operations):
        disk.take(number, operation)
        if number in places:
            for how, tree in _choices(disk, rng, 0 if is_short or isinstance(operation, Mark) else _DRAWS):
                yield number, how, tree


def _choices(disk: Disk, rng: random.Random, draws: int) -> Iterator[tuple[str, Tree]]:
    pending = disk.within_reach()
    every = {number for number, _ in pending}
    names = {number for number, each in pending if isinstance(each, Entry)}
    yield "all that is not flushed is lost", disk.tree(set())
    if not pending:
        return
    yield "all is there", disk.tree(every)
    yield "names without bytes", disk.tree(names)
    yield "names and sizes without bytes", disk.tree(names, is_long=True)
    yield "bytes without names", disk.tree(every - names)
    first = rng.choice(sorted(every))
    yield f"all before operation {first}", disk.tree({number for number in every if number < first})
    some = pending if len(pending) <= _SINGLE else [*rng.sample(pending[:-3], _SINGLE - 3), *pending[-3:]]
    for number, each in some if draws else ():
        if isinstance(each, Entry):
            later = {other for other in names if number in disk.with_needed({other})}
            yield f"without operation {number}", disk.tree(every - later)
            yield f"with operation {number} alone", disk.tree(disk.with_needed({number}))
        else:
            yield f"without operation {number}", disk.tree(every - {number})
            yield f"with names and operation {number}", disk.tree(names | {number})
            yield f"operation {number} torn", disk.tree(every, {number: _torn(each, rng)})
            yield f"operation {number} with a hole", disk.tree(every, {number: _torn(each, rng, is_hole=True)})
    for _ in range(draws):
        share = rng.choice((0.15, 0.5, 0.85))
        kept = disk.with_needed(number for number in every if rng.random() < share)
        torn = {number: _torn(each, rng) for number, each in pending if isinstance(each, Data) and rng.random() < 0.2}
        yield "at random", disk.tree(kept, torn, is_long=rng.random() < 0.3)


def _torn(operation: Data, rng: random.Random, *, is_hole: bool = False) -> list[Data]:
    """A write of which a beginning, an end, or some of its pieces are there; or all but one."""
    if isinstance(operation, Resize):
        return []
    cuts = range((operation.offset // SECTOR + 1) * SECTOR, operation.offset + len(operation.data), SECTOR)
    edges = [operation.offset, *cuts, operation.offset + len(operation.data)]
    parts: list[Data] = [
        Write(operation.file, start, operation.data[start - operation.offset : end - operation.offset])
        for start, end in pairwise(edges)
    ]
    cut = rng.randrange(len(parts))
    if is_hole:
        return [*parts[:cut], *parts[cut + 1 :]]
    return rng.choice((parts[:cut], parts[cut:], [each for each in parts if rng.random() < 0.5]))
