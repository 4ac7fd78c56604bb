"""Which part of a plane is seen: from points to pixels and back. Both axes have one scale; up is up."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_CLOSEST = 400.0  # the greatest zoom


@dataclass(frozen=True, slots=True)
class Viewport:
    """The point (x, y) is in the middle of a widget of `width` × `height` pixels; `scale` is in pixels for a unit."""

    x: float
    y: float
    scale: float
    width: float
    height: float
    whole: float  # the scale at which everything is seen

    @property
    def zoom(self) -> float:
        """The scale divided by that of the view of everything."""
        return self.scale / self.whole

    def pixels(self, points: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The pixels of points (n, 2), as x and y."""
        wide = points.astype(np.float64)
        across = (wide[:, 0] - self.x) * self.scale + self.width / 2
        down = self.height / 2 - (wide[:, 1] - self.y) * self.scale
        return across, down

    def moved(self, across: float, down: float) -> "Viewport":
        """The view after the picture was dragged by this many pixels."""
        return self._with(self.x - across / self.scale, self.y + down / self.scale, self.scale)

    def zoomed(self, factor: float, across: float, down: float) -> "Viewport":
        """The view nearer by a factor; the point at this pixel stays where it is."""
        scale = float(np.clip(self.scale * factor, self.whole * 0.5, self.whole * _CLOSEST))
        left, up = across - self.width / 2, self.height / 2 - down
        x = self.x + left / self.scale - left / scale
        y = self.y + up / self.scale - up / scale
        return self._with(x, y, scale)

    def resized(self, width: float, height: float, whole: float) -> "Viewport":
        """The same middle and the same zoom in a widget of another size."""
        return Viewport(self.x, self.y, self.zoom * whole, width, height, whole)

    def _with(self, x: float, y: float, scale: float) -> "Viewport":
        return Viewport(x, y, scale, self.width, self.height, self.whole)


def view_of_all(points: NDArray[np.float32], width: float, height: float, margin: float) -> Viewport:
    """The view of all points but the outermost thousandth on each axis, with a margin in pixels."""
    if not len(points):
        return Viewport(0.0, 0.0, 1.0, width, height, 1.0)
    low, high = np.quantile(points.astype(np.float64), (0.0005, 0.9995), axis=0)
    x, y = (float(each) for each in (low + high) / 2)
    across, up = (float(each) for each in np.maximum(high - low, 1e-9))
    room = max(20.0, width - 2 * margin), max(20.0, height - 2 * margin)
    scale = min(room[0] / across, room[1] / up)
    if not np.isfinite(scale) or scale > 1e8:
        scale = 1.0
    return Viewport(x, y, scale, width, height, scale)


def inside(polygon: NDArray[np.float64], x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points lie in a closed polygon (m, 2), by the even-odd rule."""
    found = np.zeros(len(x), dtype=np.bool_)
    if len(polygon) < 3:
        return found
    near = np.flatnonzero(
        (x >= polygon[:, 0].min())
        & (x <= polygon[:, 0].max())
        & (y >= polygon[:, 1].min())
        & (y <= polygon[:, 1].max())
    )
    across, down, within = x[near], y[near], np.zeros(len(near), dtype=np.bool_)
    for (x1, y1), (x2, y2) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        if y1 != y2:
            crosses = (y1 > down) != (y2 > down)
            within ^= crosses & (across < (x2 - x1) * (down - y1) / (y2 - y1) + x1)
    found[near] = within
    return found
