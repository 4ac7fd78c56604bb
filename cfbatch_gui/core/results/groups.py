"""Groups of similar texts: by their number, by spherical k-means on a sample; what a person changes in groups; and how
they share the values of a column.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.embeddings import Embeddings, Progress, UnitVectors, unit_vectors
from cfbatch_gui.core.results.numbers import starts
from cfbatch_gui.core.system.threads import check_stopped

MOST_CLUSTERS = 200
_SAMPLE = 8_192
_ROUNDS = 30
_SEED = 20_250_402
_TEXTS_FOR_EACH = 40
_TOGETHER = 512  # clusters whose means are made at once


@dataclass(frozen=True, slots=True)
class Cluster:
    """`typical` has item numbers, nearest to the centre first; `similarity` is the mean cosine to the centre."""

    size: int
    typical: tuple[int, ...]
    similarity: float


@dataclass(frozen=True, eq=False)
class Clusters:
    """The largest first, equal sizes by their first item; arrays have an element for each text with a direction.

    `item_numbers` ascend; `members` are indices in `clusters`, -1 for a text in none; `similarities` cosines to the
    centre, NaN in none. `known_by` is as `members`, but has a text that a person removed still in its cluster.
    """

    item_numbers: NDArray[np.int64]
    members: NDArray[np.int64]
    similarities: NDArray[np.float32]
    clusters: tuple[Cluster, ...]
    missing: int
    without_direction: int
    known_by: NDArray[np.int64]

    def items_of(self, cluster: int) -> NDArray[np.int64]:
        indices = np.flatnonzero(self.members == cluster)
        return self.item_numbers[indices[np.argsort(-self.similarities[indices], kind="stable")]]


def usual_number(texts: int) -> int:
    """The number of clusters to propose for so many texts, 2 to 12."""
    return int(np.clip(round(np.sqrt(texts / _TEXTS_FOR_EACH)), 2, 12))


def find_clusters(
    embeddings: Embeddings, number: int, typical: int = 5, progress: Progress = lambda share: None
) -> Clusters:
    """Group all texts that have a vector into at most `number` clusters, from 1. For a thread. Raises DataError."""
    unit = unit_vectors(embeddings)
    if not unit.count:
        return described(unit, np.empty(0, dtype=np.int64), 0)
    progress(0.1)
    number = max(1, min(number, MOST_CLUSTERS, unit.count))
    centres = _from_sample(unit.rows(unit.sample(_SAMPLE)), number)
    progress(0.6)
    if unit.count > _SAMPLE:
        centres = _normalised(_assigned(unit, centres)[2], centres)
    progress(0.8)
    members, similarities, _ = _assigned(unit, centres)
    return described(unit, members, typical, similarities)


def _from_sample(sample: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """The centres, (at most `number`, dimension)."""
    centres = _first_centres(sample, number)
    before: NDArray[np.int64] | None = None
    for _ in range(_ROUNDS):
        members = (sample @ centres.T).argmax(axis=1)
        if before is not None and np.array_equal(members, before):
            break
        before = members
        centres = _normalised(_sums(sample, members, len(centres)), centres)
    return centres


def _first_centres(sample: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """k-means++ (D. Arthur, S. Vassilvitskii, SODA 2007): of some centres that are drawn, the best."""
    draw = np.random.default_rng(_SEED)
    candidates = 2 + int(np.log(number))
    chosen = [int(draw.integers(len(sample)))]
    away = _distances(sample, chosen)[:, 0]
    while len(chosen) < number:
        total = away.sum()
        if total <= 0:
            break
        drawn = np.searchsorted(np.cumsum(away), draw.random(candidates) * total, side="right")
        drawn = np.minimum(drawn, len(sample) - 1)
        nearer = np.minimum(away[:, None], _distances(sample, drawn))
        best = int(nearer.sum(axis=0).argmin())
        chosen.append(int(drawn[best]))
        away = nearer[:, best]
    return sample[chosen]


def _distances(sample: NDArray[np.float32], chosen: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
    """1 - cosine of each text to each of these texts, of shape (texts, chosen); 0 for the same direction."""
    away = np.maximum(0.0, 1.0 - (sample @ sample[chosen].T).astype(np.float64))
    away[away < 1e-6] = 0.0  # the same direction, but for rounding
    return away


def _assigned(
    unit: UnitVectors, centres: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float64]]:
    """The nearest centre of each text, its cosine, and the sums of the texts of each centre."""
    members, similarities = np.empty(unit.count, dtype=np.int64), np.empty(unit.count, dtype=np.float32)
    sums = np.zeros(centres.shape)
    for start, rows, factors in unit.blocks():
        block, unit_rows = slice(start, start + len(rows)), rows * factors[:, None]
        cosines = unit_rows @ centres.T
        members[block], similarities[block] = cosines.argmax(axis=1), cosines.max(axis=1)
        sums += _sums(unit_rows, members[block], len(centres))
    return members, similarities, sums


def _sums(rows: NDArray[np.float32], members: NDArray[np.int64], number: int) -> NDArray[np.float64]:
    belongs = np.zeros((number, len(rows)), dtype=np.float32)
    belongs[members, np.arange(len(rows))] = 1.0
    return (belongs @ rows).astype(np.float64)


def _normalised(sums: NDArray[np.float64], before: NDArray[np.float32]) -> NDArray[np.float32]:
    """Centres of length 1; a cluster without members keeps its centre of `before`."""
    lengths = np.linalg.norm(sums, axis=1)
    empty = lengths < 1e-9
    lengths[empty] = 1.0
    centres: NDArray[np.float32] = (sums / lengths[:, None]).astype(np.float32)
    centres[empty] = before[empty]
    return centres


def described(
    unit: UnitVectors, members: NDArray[np.int64], typical: int, similarities: NDArray[np.float32] | None = None
) -> Clusters:
    """The clusters of these members, which have any numbers, -1 for none; without `similarities` to their means."""
    inside = np.flatnonzero(members >= 0)
    inside = inside[np.argsort(members[inside], kind="stable")]
    begins = np.flatnonzero(starts(members[inside]))
    sizes = np.diff(begins, append=len(inside))
    order = np.lexsort((inside[begins], -sizes))
    numbers, turns = np.full(unit.count, -1), np.empty_like(order)
    turns[order] = np.arange(len(order))
    numbers[inside] = np.repeat(turns, sizes)
    if similarities is None:
        similarities = _to_means(unit, numbers)
    nearest = inside[np.lexsort((inside, -similarities[inside], numbers[inside]))]
    found = tuple(
        Cluster(
            len(part),
            tuple(unit.item_numbers[part[:typical]].tolist()),
            float(similarities[part].astype(np.float64).mean()),
        )
        for part in np.split(nearest, np.cumsum(sizes[order])[:-1])
        if len(part)
    )
    return Clusters(unit.item_numbers, numbers, similarities, found, unit.missing, unit.without_direction, numbers)


def _to_means(unit: UnitVectors, members: NDArray[np.int64]) -> NDArray[np.float32]:
    """The cosine of each text to the mean of its cluster; a few clusters at a time, as there may be very many."""
    similarities = np.full(unit.count, np.nan, dtype=np.float32)
    order = np.argsort(members, kind="stable")
    for first in range(0, int(members.max(initial=-1)) + 1, _TOGETHER):
        begin, end = np.searchsorted(members[order], (first, first + _TOGETHER))
        parts = [order[start : min(start + _SAMPLE, end)] for start in range(begin, end, _SAMPLE)]
        sums = np.zeros((_TOGETHER, unit.dimension))
        for part in parts:
            check_stopped()
            at = np.flatnonzero(starts(members[part]))
            sums[members[part][at] - first] += np.add.reduceat(unit.rows(part), at, axis=0, dtype=np.float64)
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        means = sums.astype(np.float32)
        for part in parts:
            check_stopped()
            similarities[part] = np.einsum("ij,ij->i", unit.rows(part), means[members[part] - first])
    return similarities


@dataclass(frozen=True, slots=True)
class GroupEdits:
    """What a person changed, in item numbers: a group is known by an item in it, however the groups are made."""

    names: tuple[tuple[int, str], ...] = ()  # an item and the name of its group; the latest holds
    joined: tuple[tuple[int, int], ...] = ()  # items whose groups are one
    removed: tuple[int, ...] = ()  # items that are in no group


def edited(embeddings: Embeddings, clusters: Clusters, edits: GroupEdits, typical: int = 5) -> Clusters:
    """The clusters as a person wants them; edits of items in no group change nothing. For a thread. Raises DataError.

    `clusters` are as they were found, without edits.
    """
    places = _places(clusters.item_numbers, clusters.members)
    joined = np.arange(len(clusters.clusters))
    for one, other in edits.joined:
        if one in places and other in places:
            pair = joined[places[one]], joined[places[other]]
            joined[joined == max(pair)] = min(pair)
    removed = np.isin(clusters.item_numbers, edits.removed) & (clusters.members >= 0)
    if np.array_equal(joined, np.arange(len(joined))) and not removed.any():
        return clusters
    known_by = np.append(joined, -1)[clusters.members]  # the last one for -1
    unit = unit_vectors(embeddings)
    found = described(unit, np.where(removed, -1, known_by), typical)
    after = np.full(len(joined) + 1, -1)
    after[known_by[~removed]] = found.members[~removed]
    return replace(found, known_by=after[known_by])


def names_of(clusters: Clusters, edits: GroupEdits) -> dict[int, str]:
    """The own names of clusters, by index; also where the item that was named has been removed."""
    places = _places(clusters.item_numbers, clusters.known_by)
    return {places[item]: name for item, name in edits.names if item in places}


def _places(item_numbers: NDArray[np.int64], members: NDArray[np.int64]) -> dict[int, int]:
    inside = members >= 0
    return dict(zip(item_numbers[inside].tolist(), members[inside].tolist(), strict=True))


def share_table(
    members: NDArray[np.int64], groups: int, values: Sequence[str], most: int = 8
) -> tuple[tuple[str | None, ...], NDArray[np.int64]]:
    """How often each group has each value: the `most` frequent values, then None for all others if there are others;
    counts (groups + 1, values), first of all texts, also those in no group. `members` and `values` are of the same
    texts; a blank value is "".
    """
    stripped = [value.strip() for value in values]
    ranked = Counter(stripped).most_common()  # equal ones by their first text
    names: tuple[str | None, ...] = tuple(name for name, _ in ranked[:most])
    columns = {name: index for index, name in enumerate(names)}
    index = np.array([columns.get(value, len(names)) for value in stripped], dtype=np.int64)
    names += (None,) if len(ranked) > most else ()
    width, inside = len(names), members >= 0
    counts = np.bincount(members[inside] * width + index[inside], minlength=groups * width).reshape(groups, width)
    return names, np.vstack((np.bincount(index, minlength=width), counts))
