"""A plane on which points stand beside those that are near them in many directions: t-SNE.

L. van der Maaten, G. Hinton, "Visualizing Data using t-SNE", JMLR 9 (2008).

Points near each other pull, as springs between each and its `NEIGHBOURS` nearest; all push each other away, see
`Repulsion`. It begins with the principal plane, ten thousand times smaller, pulls twelve times as hard for some rounds,
so that groups find together before they settle, and has a rate of learning that grows with the number of points: what
A. C. Belkina et al. (2019) and D. Kobak, P. Berens (2019), both in Nature Communications 10, found to matter. All
springs are equally strong, which N. Böhm et al. (JMLR 23, 2022) found to give the same picture as weights from
perplexities.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.repulsion import Repulsion
from cfbatch_gui.core.results.unit_vectors import Progress

NEIGHBOURS = 15
_GATHERING, _SETTLING = 75, 225  # rounds
_HARDER = 12.0
_BLOCK = 32_768  # springs at a time: they stay in the processor's cache
_START = 1e-4
_FARTHEST = 8.0  # that a point goes in a round: what very many springs pull at would swing further and further
_SEED = 20_250_404


@dataclass(frozen=True, eq=False)
class _Springs:
    """Springs at neighbouring points: from `start` on, to `others`. `firsts` is where each point's own begin."""

    start: int
    stop: int
    own: NDArray[np.int64]
    others: NDArray[np.int64]
    strengths: NDArray[np.float32]
    firsts: NDArray[np.int64]

    def pull(self, points: NDArray[np.complex64], into: NDArray[np.complex64]) -> None:
        way = points.take(self.others)
        way -= points.take(self.own)
        along, up = way.real, way.imag
        weights = along * along
        weights += up * up
        weights += np.float32(1)
        np.divide(self.strengths, weights, out=weights)
        way *= weights
        into[self.start : self.stop] = np.add.reduceat(way, self.firsts)


def neighbour_layout(
    near: NDArray[np.int32], plane: NDArray[np.float32], progress: Progress = lambda share: None
) -> NDArray[np.float32]:
    """Where each point stands, (n, 2). `near` (n, k) are the places of its nearest, `plane` (n, 2) where it begins.

    The same each time. What `progress` raises ends it.
    """
    count = len(plane)
    springs = _springs(near)
    repulsion = Repulsion(count)
    points = _first_points(plane)
    rate = np.float32(4 * count / _HARDER)
    speed, pull = np.zeros(count, dtype=np.complex64), np.empty(count, dtype=np.complex64)
    gains = np.ones((count, 2), dtype=np.float32)
    rounds = _GATHERING + _SETTLING
    for number in range(rounds):
        gathers = number < _GATHERING
        for part in springs:
            part.pull(points, pull)
        push, total = repulsion.push(points)
        force = pull * np.float32(_HARDER if gathers else 1.0) + push / np.float32(total)
        _adapt(gains, force, speed)
        speed *= np.float32(0.5 if gathers else 0.8)
        speed.view(np.float32)[:] += rate * gains.ravel() * force.view(np.float32)
        np.clip(speed.view(np.float32), -_FARTHEST, _FARTHEST, out=speed.view(np.float32))
        points += speed
        points -= points.mean()
        progress((number + 1) / rounds)
    return points.view(np.float32).reshape(-1, 2)


def _adapt(gains: NDArray[np.float32], force: NDArray[np.complex64], speed: NDArray[np.complex64]) -> None:
    """Faster where a point goes on in the same direction, slower where it swings (Jacobs, 1988)."""
    same = ((force.view(np.float32) > 0) == (speed.view(np.float32) > 0)).reshape(gains.shape)
    np.copyto(gains, np.maximum(np.where(same, gains + np.float32(0.2), gains * np.float32(0.8)), np.float32(0.01)))


def _first_points(plane: NDArray[np.float32]) -> NDArray[np.complex64]:
    """Small, and no two at the same place: what stands at one place is never told apart."""
    centred = plane - plane.mean(axis=0, dtype=np.float64)
    spread = float(np.abs(centred).std()) or 1.0
    draw = np.random.default_rng(_SEED)
    points = (centred / spread + 0.01 * draw.standard_normal(plane.shape)) * _START
    return np.ascontiguousarray(points, dtype=np.float32).view(np.complex64).ravel()


def _springs(near: NDArray[np.int32]) -> list[_Springs]:
    """One for each pair of which either is near the other, at both ends; twice as strong where both are."""
    count, each = near.shape
    own, other = np.repeat(np.arange(count), each), near.ravel().astype(np.int64)
    keys = np.concatenate([own * count + other, other * count + own])
    keys.sort()
    firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    strengths = (np.diff(firsts, append=len(keys)) / len(keys)).astype(np.float32)
    own, others = np.divmod(keys[firsts], count)
    begins = np.searchsorted(own, np.arange(count + 1))
    found, start = [], 0
    while start < count:
        stop = int(np.searchsorted(begins, begins[start] + _BLOCK, side="right")) - 1
        stop = min(count, max(start + 1, stop))
        low, high = int(begins[start]), int(begins[stop])
        cut = slice(low, high)
        found.append(_Springs(start, stop, own[cut], others[cut], strengths[cut], begins[start:stop] - low))
        start = stop
    return found
