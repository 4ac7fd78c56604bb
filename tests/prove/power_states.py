"""The states in which a power cut may leave a disk after each operation of a recording.

At each place a few states are made in every case (all that is not certain is lost, all is there, names without bytes,
bytes without names, ...), then each pending operation is lost alone and kept alone, then some are drawn at random. All
draws follow from the seed.
"""

import random
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from tests.prove.power_disk import Data, Disk, Mark, Move, Operation, Resize, Tree, applied, data_of, pieces

T = TypeVar("T")
_SINGLE = 10  # pending operations that are lost alone and kept alone, at one place


class Model(StrEnum):
    """The rules by which states are made; see power_disk.py."""

    STRICT = "strict"
    JOURNALLED = "journalled"


@dataclass(frozen=True)
class State:
    """What is on the disk after a power cut behind the operation of this number, and how it was chosen."""

    number: int
    how: str
    model: Model
    tree: Tree


@dataclass
class _Choice:
    """What is there of what is pending. `data` has the operations kept for each file; others are certain only.

    `longer` are files that have grown to their full size without all of their bytes.
    """

    names: set[int]
    data: Mapping[int, Sequence[Data]]
    longer: frozenset[int] = frozenset()


@dataclass
class States:
    """The states of a recording, in the order of its operations.

    `draws` is the number of random ones at each place, `places` are the numbers of operations at which states are made.
    """

    operations: Sequence[Operation]
    start: Disk
    seed: int
    draws: int = 8
    is_short: bool = False  # only the states that are made in every case
    places: Container[int] | None = None  # None: all

    def __iter__(self) -> Iterator[State]:
        disk = self.start
        rng = random.Random(self.seed)
        for number, operation in enumerate(self.operations):
            disk.take(number, operation)
            if self.places is not None and number not in self.places:
                continue
            for how, model, choice in self._choices(disk, operation, rng):
                contents = {
                    file: applied(disk.files[file], kept, size=disk.size(file) if file in choice.longer else None)
                    for file, kept in choice.data.items()
                }
                yield State(number, how, model, disk.tree(choice.names, contents))

    def _choices(self, disk: Disk, operation: Operation, rng: random.Random) -> Iterator[tuple[str, Model, _Choice]]:
        files = _within_reach(disk)
        all_names = {each.number for each in disk.names}
        all_data = {file: [data_of(each) for each in disk.data[file]] for file in files}
        none = _Choice(set(), {})
        yield "all that is not flushed is lost", Model.STRICT, none
        if not all_names and not any(all_data.values()):
            return
        everything = _Choice(all_names, all_data)
        yield "all is there", Model.STRICT, everything
        if all_names:
            yield "names without bytes", Model.STRICT, _Choice(all_names, {})
        if all_data:
            yield (
                "names and sizes without bytes",
                Model.STRICT,
                _Choice(all_names, {file: [] for file in files}, frozenset(files)),
            )
            yield "bytes without names", Model.STRICT, _Choice(set(), all_data)
        yield from ((how, Model.JOURNALLED, made) for how, made in self._journalled(disk, files, rng))
        if self.is_short or isinstance(operation, Mark):
            return
        for how, choice in self._alone(disk, files, everything, rng):
            yield how, Model.STRICT, choice
        for _ in range(self.draws):
            yield "at random", Model.STRICT, self._drawn(disk, files, rng)

    def _alone(
        self, disk: Disk, files: Sequence[int], everything: _Choice, rng: random.Random
    ) -> Iterator[tuple[str, _Choice]]:
        """Each pending operation lost alone, and kept alone; the last ones, and some of the others."""
        names = [each.number for each in disk.names]
        for number in _some(names, rng):
            later = {each for each in names if number in disk.with_needed({each})}
            yield (
                f"without the change of a name in operation {number}",
                _Choice(everything.names - later, everything.data),
            )
            yield f"with the change of a name in operation {number}", _Choice(disk.with_needed({number}), {})
        pending = [(each, kept.number) for each in files for kept in disk.data[each]]
        for file, number in _some(pending, rng):
            without = [data_of(each) for each in disk.data[file] if each.number != number]
            only = [data_of(each) for each in disk.data[file] if each.number == number]
            yield (
                f"without the bytes of operation {number}",
                _Choice(everything.names, {**everything.data, file: without}),
            )
            yield f"with the bytes of operation {number}", _Choice(everything.names, {file: only})
            torn = [_torn(each, rng) for each in only]
            yield (
                f"operation {number} torn",
                _Choice(everything.names, {**everything.data, file: _put_in(everything.data[file], only, torn)}),
            )

    def _drawn(self, disk: Disk, files: Sequence[int], rng: random.Random) -> _Choice:
        """A choice by chance: how likely it is to keep something is drawn first, so that extremes are frequent too."""
        share = rng.choice((0.15, 0.5, 0.85))
        names = disk.with_needed({each.number for each in disk.names if rng.random() < share})
        data: dict[int, Sequence[Data]] = {}
        longer = set()
        for file in files:
            kept: list[Data] = []
            for each in disk.data[file]:
                chance = rng.random()
                if chance < share * 0.8:
                    kept.append(data_of(each))
                elif chance < share:
                    kept += _torn(data_of(each), rng)
            data[file] = kept
            if rng.random() < 0.3:
                longer.add(file)
        return _Choice(names, data, frozenset(longer))

    def _journalled(self, disk: Disk, files: Sequence[int], rng: random.Random) -> Iterator[tuple[str, _Choice]]:
        """Beginnings of the journal, with the bytes written over older ones there, missing, or drawn."""
        least = disk.committed
        numbers = sorted(each.number for each in disk.names if each.number >= least)
        places = [least, *(number + 1 for number in numbers)]
        chosen = {places[0], places[-1], rng.choice(places)}
        for place in sorted(chosen):
            yield (
                f"journal as far as operation {place}, nothing written over",
                self._beginning(disk, files, place, 0, rng),
            )
        if not self.is_short:
            place = rng.choice(places)
            yield f"journal as far as operation {place}, at random", self._beginning(disk, files, place, 0.5, rng)
            yield (
                f"journal as far as operation {places[-1]}, at random",
                self._beginning(disk, files, places[-1], 0.7, rng),
            )

    def _beginning(self, disk: Disk, files: Sequence[int], place: int, share: float, rng: random.Random) -> _Choice:
        names = disk.with_needed({each.number for each in disk.names if each.number < place})
        moved = {
            each.operation.node: each.number
            for each in disk.names
            if each.number in names and isinstance(each.operation, Move) and each.operation.replaced
        }
        data: dict[int, Sequence[Data]] = {}
        for file in files:
            kept: list[Data] = []
            size = len(disk.files.get(file, b""))
            grows = True
            for each in disk.data[file]:
                operation = data_of(each)
                if each.number < moved.get(file, 0):
                    kept.append(operation)
                    size = operation.size if isinstance(operation, Resize) else max(size, operation.end)
                elif isinstance(operation, Resize):
                    if each.number < place:
                        kept.append(operation)
                        size = operation.size
                elif operation.end > size:
                    grows = grows and operation.offset <= size and rng.random() < share
                    if grows:
                        kept.append(operation)
                        size = operation.end
                elif rng.random() < share:
                    kept.append(operation)
            data[file] = kept
        return _Choice(names, data)


def _within_reach(disk: Disk) -> list[int]:
    """Files with pending bytes that have a name, or may have one."""
    named = {node for found in disk.entries.values() for node in found.values()}
    for each in disk.names:
        node = getattr(each.operation, "node", None)
        if node is not None:
            named.add(node)
    return [file for file, pending in disk.data.items() if pending and file in named]


def _some(found: Sequence[T], rng: random.Random) -> list[T]:
    """The last ones, and some of the others."""
    if len(found) <= _SINGLE:
        return list(found)
    half = _SINGLE // 2
    return [*rng.sample(found[:-half], half), *found[-half:]]


def _torn(operation: Data, rng: random.Random) -> list[Data]:
    """A write of which a beginning, an end, or some pieces are there."""
    if isinstance(operation, Resize):
        return []
    parts = pieces(operation)
    if len(parts) == 1:
        return []
    cut = rng.randrange(1, len(parts))
    match rng.randrange(3):
        case 0:
            return list(parts[:cut])
        case 1:
            return list(parts[cut:])
    return [each for each in parts if rng.random() < 0.5]


def _put_in(whole: Sequence[Data], only: Sequence[Data], torn: Sequence[Sequence[Data]]) -> list[Data]:
    """The operations, with each of `only` replaced by its pieces."""
    found: list[Data] = []
    for each in whole:
        index = next((index for index, one in enumerate(only) if one is each), None)
        found += [each] if index is None else torn[index]
    return found
