"""How all points of a plane push each other away, in a time that grows with their number and not with its square.

As charges are computed in plasmas ("particle mesh", R. W. Hockney, J. W. Eastwood, "Computer Simulation Using
Particles", 1988): each point is spread over nine nodes of a grid, the grid's potential comes from a fast Fourier
transform, and the push is its slope where the point stands. What the spreading blurs is made sharp again in the
transform. G. C. Linderman et al. ("Fast interpolation-based t-SNE", Nature Methods 16, 2019) interpolate the sums of
the push instead, which takes four times as many transforms.
"""

import numpy as np
from numpy.typing import NDArray

_SPACING = 0.45  # between nodes, where there are no more than _MOST of them; the potential is about 1 wide
_FEWEST, _MOST = 32, 380  # nodes in a row
_NODES_A_POINT = 1.2  # times the square root of their number, from which on there may be more
_ROOM = 1.2  # times as wide as the points, so that they can drift apart before a new grid is wanted
_BLOCK = 16_384


class Repulsion:
    """The potential 1 / (1 + distance²) of `count` points that move a little from call to call.

    Right to a few in a hundred where points stand as close as they settle, about one to a square of 1.
    """

    def __init__(self, count: int) -> None:
        self._most = max(_MOST, round(_NODES_A_POINT * count**0.5))
        self._width = 0.0
        self._step = 1.0
        self._nodes, self._padded = 0, 0
        self._transform = np.empty((0, 0), dtype=np.complex128)

    def push(self, points: NDArray[np.complex64]) -> tuple[NDArray[np.complex64], float]:
        """For each point (n,), x + i·y, the sum over all others of difference / (1 + distance²)²; and their potential.

        The potential is the sum of 1 / (1 + distance²) over all ordered pairs.
        """
        low = complex(points.real.min(), points.imag.min())
        high = complex(points.real.max(), points.imag.max())
        self._fit(max((high - low).real, (high - low).imag, 1e-9))
        corner = (low + high) / 2 - complex(1, 1) * (self._nodes / 2 * self._step)
        blocks = [
            _Spread((points[start : start + _BLOCK] - corner) / self._step, self._nodes)
            for start in range(0, len(points), _BLOCK)
        ]
        density = np.zeros(self._nodes**2)
        for block in blocks:
            block.add_to(density)
        shape = (self._padded, self._padded)
        changed = np.fft.rfft2(density.reshape(self._nodes, self._nodes), shape) * self._transform
        potential = np.fft.irfft2(changed, shape)[: self._nodes, : self._nodes].ravel()
        push = np.empty(len(points), dtype=np.complex64)
        total = -float(len(points))  # each would count itself, with 1
        for place, block in enumerate(blocks):
            slope, level = block.read(potential)
            push[place * _BLOCK : (place + 1) * _BLOCK] = slope * (-0.5 / self._step)
            total += level
        return push, max(total, 1e-12)

    def _fit(self, width: float) -> None:
        """A grid around points of this width: the last one, when it is about as wide."""
        if self._width / 1.4 <= width <= self._width:
            return
        self._width = width * _ROOM
        nodes = int(np.clip(np.ceil(self._width / _SPACING), _FEWEST, self._most))
        self._step = self._width / nodes
        self._nodes = nodes + 4  # a point at the edge reaches beyond it
        self._padded = _quick(2 * self._nodes)
        places = np.arange(self._padded)
        away = np.minimum(places, self._padded - places) * self._step
        kernel = 1 / (1 + away[:, None] ** 2 + away[None, :] ** 2)
        blur = np.sinc(np.fft.fftfreq(self._padded)) ** 6  # of spreading and of reading, a quadratic spline each
        self._transform = np.fft.rfft2(kernel) / (blur[:, None] * blur[None, : self._padded // 2 + 1])


class _Spread:
    """Points on a grid: the nine nodes of each, and its part of them."""

    def __init__(self, points: NDArray[np.complex64], nodes: int) -> None:
        across, up = points.real.astype(np.float64), points.imag.astype(np.float64)
        column, row = np.rint(across), np.rint(up)
        across -= column
        up -= row
        base = ((column - 1) * nodes + (row - 1)).astype(np.int64)
        self._places = base + (np.arange(3)[:, None] * nodes + np.arange(3)[None, :])[:, :, None]
        self._across, self._up = _spline(across), _spline(up)
        self._slope_across, self._slope_up = _slope(across), _slope(up)

    def add_to(self, density: NDArray[np.float64]) -> None:
        parts = self._across[:, None, :] * self._up[None, :, :]
        first, last = int(self._places.min()), int(self._places.max())
        density[first : last + 1] += np.bincount((self._places - first).ravel(), parts.ravel())

    def read(self, potential: NDArray[np.float64]) -> tuple[NDArray[np.complex128], float]:
        """The slope at each point, x + i·y, in steps of the grid; and the sum of the potential."""
        around = potential.take(self._places)
        lines = (around * self._up).sum(axis=1)
        slope = np.empty(around.shape[2], dtype=np.complex128)
        slope.real = (lines * self._slope_across).sum(axis=0)
        slope.imag = ((around * self._slope_up).sum(axis=1) * self._across).sum(axis=0)
        return slope, float((lines * self._across).sum())


def _spline(offset: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([0.5 * (0.5 - offset) ** 2, 0.75 - offset * offset, 0.5 * (0.5 + offset) ** 2])


def _slope(offset: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([offset - 0.5, -2 * offset, offset + 0.5])


def _quick(least: int) -> int:
    """The next number of nodes whose transform is quick: of small factors only."""
    return min(factor << (-(-least // factor) - 1).bit_length() for factor in (1, 3, 5, 9, 15))
