"""What the dots of a map can be coloured by, and the colours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.results.clusters import find_clusters, usual_number
from cfbatch_gui.core.results.colouring import Categories, colouring
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.text_map import TextMap
from cfbatch_gui.ui import display
from cfbatch_gui.ui.plots.colours import MOST_CATEGORIES, DotColours, PlacedName, by_category, by_number, plain

ONE, CLUSTERS, COLUMN = "one", "clusters", "column/"
_SAMPLE, _FEW = 300, 24
_NAME = 28  # characters of a typical text in the name of its cluster


@dataclass(frozen=True, eq=False)
class MapColours:
    """`cells[i]` is what the dot at index i is coloured by, for the CSV of the map; `title` is "" for one colour."""

    dots: DotColours
    title: str
    cells: Sequence[str]
    names: Sequence[PlacedName] = ()  # painted among the dots


def colour_choices(embeddings: Embeddings) -> tuple[tuple[tuple[str, str], ...], str]:
    """Keys and titles of what can be chosen, and the key to begin with: a column with a few different cells."""
    sample = embeddings.page(0, _SAMPLE)
    choices = [(ONE, _tr("One colour")), (CLUSTERS, _tr("Colour by cluster"))]
    first = ""
    for index, name in enumerate(embeddings.columns()):
        cells = [text.cells[index] for text in sample if index < len(text.cells)]
        if not cells or cells == [text.text for text in sample]:
            continue
        choices.append((f"{COLUMN}{index}", _tr("Colour by {name}").format(name=name)))
        if not first and 2 <= len(set(cells)) <= min(_FEW, len(sample) // 2):
            first = f"{COLUMN}{index}"
    return tuple(choices), first or ONE


def read_cells(embeddings: Embeddings, key: str) -> Sequence[str] | None:
    """The cells of the column that a key names, None for other keys. Raises DataError."""
    return embeddings.column(int(key.removeprefix(COLUMN))) if key.startswith(COLUMN) else None


def read_colours(embeddings: Embeddings, shown: TextMap, key: str, whole: Sequence[str] | None = None) -> MapColours:
    """`whole`: all cells of the key's column, if already read. Blocking. Raises DataError."""
    found = _read(embeddings, shown.item_numbers, key, whole)
    return replace(found, names=found.dots.positions_of_names(shown.points))


def _read(embeddings: Embeddings, item_numbers: NDArray[np.int64], key: str, whole: Sequence[str] | None) -> MapColours:
    if key == CLUSTERS:
        return _of_clusters(embeddings, item_numbers)
    if not key.startswith(COLUMN):
        return MapColours(plain(len(item_numbers)), "", ())
    index = int(key.removeprefix(COLUMN))
    whole = embeddings.column(index) if whole is None else whole
    cells = [whole[item - 1] for item in item_numbers.tolist()]
    found = colouring(cells, MOST_CATEGORIES)
    if isinstance(found, Categories):
        names = [display.one_line(name, 60) for name in found.names]
        dots = by_category(found.codes, names) if names else plain(len(cells))
    else:
        dots = by_number(found.values, found.low, found.high)
    return MapColours(dots, embeddings.columns()[index], cells)


def _of_clusters(embeddings: Embeddings, item_numbers: NDArray[np.int64]) -> MapColours:
    found = find_clusters(embeddings, min(MOST_CATEGORIES, usual_number(len(item_numbers))))
    typical = embeddings.texts([cluster.typical[0] for cluster in found.clusters])
    names = [f"{number} · {display.one_line(text.text, _NAME)}" for number, text in enumerate(typical, 1)]
    indices = np.searchsorted(found.item_numbers, item_numbers)
    members = found.members[np.minimum(indices, max(0, len(found.members) - 1))]
    return MapColours(by_category(members, names), _tr("cluster"), [str(member + 1) for member in members.tolist()])


def _tr(text: str) -> str:
    return QCoreApplication.translate("map", text)
