"""All texts on a map: read under the mouse, coloured by a column, searched, and selected with a lasso."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.base import Cell
from cfbatch_gui.core.results.groups import find_clusters, usual_number
from cfbatch_gui.core.results.text_map import Layout, TextMap, cached_map, make_map, tsne_map
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import DotMap, PictureButtons, PlotData
from cfbatch_gui.ui.plots.colours import MOST_CATEGORIES, DotColours, PlacedName, by_category, by_cells, plain
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.vector_page import TextList, VectorPage
from cfbatch_gui.ui.theme import scaled
from cfbatch_gui.ui.widgets import Choice, ElidedLabel, Flow, IconButton, LinkButton, QuietButton, SearchField, split

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
    choices = [(ONE, tr("One colour")), (CLUSTERS, tr("Colour by cluster"))]
    first = ""
    for index, name in enumerate(embeddings.columns()):
        cells = [text.cells[index] for text in sample if index < len(text.cells)]
        if not cells or cells == [text.text for text in sample]:
            continue
        choices.append((f"{COLUMN}{index}", tr("Colour by {name}").format(name=name)))
        if not first and 2 <= len(set(cells)) <= min(_FEW, len(sample) // 2):
            first = f"{COLUMN}{index}"
    return tuple(choices), first or ONE


def read_colours(embeddings: Embeddings, shown: TextMap, key: str) -> MapColours:
    """Blocking. Raises DataError."""
    found = _read(embeddings, shown.item_numbers, key)
    return replace(found, names=found.dots.positions_of_names(shown.points))


def _read(embeddings: Embeddings, item_numbers: NDArray[np.int64], key: str) -> MapColours:
    if key == CLUSTERS:
        return _of_clusters(embeddings, item_numbers)
    if not key.startswith(COLUMN):
        return MapColours(plain(len(item_numbers)), "", ())
    index = int(key.removeprefix(COLUMN))
    whole = embeddings.column(index)
    cells = [whole[item - 1] for item in item_numbers.tolist()]
    return MapColours(by_cells(cells), embeddings.columns()[index], cells)


def _of_clusters(embeddings: Embeddings, item_numbers: NDArray[np.int64]) -> MapColours:
    found = find_clusters(embeddings, min(MOST_CATEGORIES, usual_number(len(item_numbers))))
    typical = embeddings.texts([cluster.typical[0] for cluster in found.clusters])
    names = [f"{number} · {display.one_line(text.text, _NAME)}" for number, text in enumerate(typical, 1)]
    indices = np.searchsorted(found.item_numbers, item_numbers)
    members = found.members[np.minimum(indices, max(0, len(found.members) - 1))]
    return MapColours(by_category(members, names), tr("cluster"), [str(member + 1) for member in members.tolist()])


_TYPING = 0.12
_ROOMY, _LEAST_LIST = 800, 160  # pixels
_LONGEST = 400  # characters in the tip under the mouse
_PAGE = 2_000
_BY_ITSELF = 20_000  # texts up to which the t-SNE map is started automatically
_MEMORY = "map/layout"


class MapView(VectorPage):
    def __init__(self, program: Program, notices: Notices, *, memory: Memory | None = None) -> None:
        super().__init__(program, notices, "chart-scatter")
        self._memory = memory
        self.map: TextMap | None = None  # the one that is shown
        self._maps: dict[Layout, TextMap] = {}
        self._asked = False  # whether the map that is being made was asked for
        self._colours: MapColours | None = None
        self._chosen = ""  # the key of the colours, see `colour_choices`
        self._make_widgets(memory)
        self._lay_out()

    def clear(self) -> None:
        self.map, self._colours, self._chosen = None, None, ""
        self._maps = {}
        self.stop_link.hide()
        self.find_field.reset()
        self.list.table.mark("")
        self.dots.show_points(np.zeros((0, 2), dtype=np.float32), str, lambda: PlotData((), ()))
        self.list.hide()

    def row_choices(self) -> tuple[RowChoice, ...]:
        if self.list.isHidden():
            return ()
        return row_choices((self.list.name, self.list.all_items()), self.list.selected(), proposed=self.list.name)

    def arrived(self, *, is_first: bool) -> None:
        self.picture.set_name(self.tr("{name}, map").format(name=self.job.name))
        self.tasks.cancel("neighbours")
        self.tasks.start("map", self._lay_out_map())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < _ROOMY
        self.summary.setVisible(not is_narrow)
        self.lasso_button.setText("" if is_narrow else self.tr("Lasso"))

    # Making

    def _make_widgets(self, memory: Memory | None) -> None:
        self.find_field = SearchField(self.tr("Find a text"), shortcut=True)
        self.find_field.setMinimumWidth(scaled(86))
        self.find_field.setMaximumWidth(scaled(220))
        self.find_field.searched.connect(lambda _: self.tasks.start("find", self._find()))
        self.colour_choice = Choice(self.tr("Colour of the dots"), on_picked=self._colour_picked)
        self.colour_choice.setMaximumWidth(scaled(236))
        layouts = ((self.tr("By direction"), Layout.DIRECTION), (self.tr("By neighbours"), Layout.NEIGHBOURS))
        self.layout_choice = Choice(self.tr("What decides where a text stands"), layouts, self._layout_picked)
        self._explain_layouts()
        self.stop_link = LinkButton(self.tr("Stop"), on_click=self._stop)
        self.stop_link.hide()
        self.lasso_button = QuietButton(
            self.tr("Lasso"), "lasso", tip=self.tr("Draw around texts to list them; with Shift it works at any time")
        )
        self.lasso_button.setAccessibleName(self.tr("Lasso"))
        self.lasso_button.setCheckable(True)
        self.whole_button = LinkButton(self.tr("Whole map"))
        self.summary = ElidedLabel("", "quiet")
        self.dots = DotMap(self.tr("Map of the texts"))
        self.lasso_button.toggled.connect(self.dots.set_lasso)
        self.whole_button.clicked.connect(self.dots.show_all)
        self.whole_button.hide()
        self.dots.view_changed.connect(lambda: self.whole_button.setVisible(self.dots.is_moved()))
        self.dots.picked.connect(self._picked)
        self.dots.lassoed.connect(self._lassoed)
        self.close_button = IconButton("x", self.tr("Close the list"), lambda: self._picked(-1))
        title = self.tr("Listed texts")
        self.list = TextList(self, "vectors/near", title, memory=memory, beside=self.close_button, has_panel=False)
        self.list.setMinimumHeight(_LEAST_LIST)
        self.list.hide()
        self.find_field.textChanged.connect(self.list.table.mark)
        self.list.opened.connect(self.show_text)
        folder = self.program.remembered_folder(FolderUse.PICTURES)
        self.picture = PictureButtons(self.dots, self.notices, self.tasks, folder)

    def _explain_layouts(self) -> None:
        tips = (
            self.tr("All directions of the vectors, seen from the side on which the texts differ most; there at once"),
            self.tr("Each text stands beside those that are most like it, so that groups can be seen; takes seconds"),
        )
        for index, tip in enumerate(tips):
            self.layout_choice.setItemData(index, tip, Qt.ItemDataRole.ToolTipRole)
        names = (self.layout_choice.itemText(index) for index in range(len(tips)))
        self.layout_choice.setToolTip("\n".join(f"{name}: {tip}" for name, tip in zip(names, tips, strict=True)))

    def _lay_out(self) -> None:
        self.summary.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        bar = Flow(
            self.find_field,
            self.layout_choice,
            self.colour_choice,
            self.lasso_button,
            self.whole_button,
            self.summary,
            self.picture,
        )
        body = split(self.dots, self.list, sizes=(420, 220), stretched=0, vertical=True)
        self.lay_out_content(body, above=bar, after_foot=self.stop_link)

    # Reading

    async def _lay_out_map(self) -> None:
        embeddings = self.embeddings
        if embeddings is None:
            return
        wanted, self._maps = self._wanted_layout(embeddings), {}
        kept = None
        if wanted is Layout.NEIGHBOURS:
            kept = await asyncio.to_thread(cached_map, self.program.folder(self.job.id), embeddings)
        await self._offer_colours(embeddings)
        key = self._chosen
        made = kept or await self._by_direction(embeddings)
        colours = await asyncio.to_thread(read_colours, embeddings, made, key)
        self._show_first(made, colours, embeddings)
        self._say()
        if self._chosen != key:
            self.tasks.start("colour", self._colour())
        if self.find_field.text():
            self.tasks.start("find", self._find())
        if wanted is Layout.NEIGHBOURS and kept is None:
            self._make_tsne_map(asked=False)

    def _wanted_layout(self, embeddings: Embeddings) -> Layout:
        chosen = self._memory.get(_MEMORY) if self._memory is not None else ""
        if not all(batch.state.is_final for batch in self.job.batches):
            return Layout.DIRECTION
        if chosen in tuple(Layout):
            return Layout(chosen)
        return Layout.NEIGHBOURS if embeddings.count <= _BY_ITSELF else Layout.DIRECTION

    async def _by_direction(self, embeddings: Embeddings) -> TextMap:
        count = display.plural(embeddings.count, "{n} text", "{n} texts")
        sentence = self.tr("Laying out {texts}…").format(texts=count)
        return await self.worked_out(sentence, lambda tell: make_map(embeddings, tell))

    def _make_tsne_map(self, *, asked: bool) -> None:
        self._asked = asked or (self._asked and self.tasks.is_running("neighbours"))
        if self.embeddings is not None and not self.tasks.is_running("neighbours"):
            self.tasks.start("neighbours", self._by_neighbours(self.embeddings))

    async def _by_neighbours(self, embeddings: Embeddings) -> None:
        folder = self.program.folder(self.job.id)
        sentence = self.tr("Putting beside each other what is alike. You can read the map meanwhile.")
        self.stop_link.show()
        try:
            made = await self.worked_out(sentence, lambda tell: tsne_map(folder, embeddings, tell))
        finally:
            self.stop_link.hide()
        self._maps[made.layout] = made
        if self._asked or not self.dots.is_touched():
            await self._show(made)
        else:
            self._say(self.tr("The map by neighbours is ready: choose it above."))

    def _show_first(self, made: TextMap, colours: MapColours, embeddings: Embeddings) -> None:
        self.map = self._maps[made.layout] = made
        self._colours = colours
        self.dots.show_points(made.points, self._describe, lambda: PlotData(self._columns(), self._rows(embeddings)))
        self.dots.set_colours(colours.dots, colours.names)  # painted once, not without colours and then with them
        self.list.hide()

    async def _show(self, made: TextMap) -> None:
        colours = self._colours
        names = () if colours is None else await asyncio.to_thread(colours.dots.positions_of_names, made.points)
        self.map = made
        self.dots.move_points(made.points, names)
        self._say()

    def _say(self, *more: str) -> None:
        made = self.map
        if made is None:
            return
        self.layout_choice.set_value(made.layout)
        summary = display.plural(len(made.points), "{n} text", "{n} texts")
        sentences = [self.tr("Texts stand beside those most like them; distances between islands mean little.")]
        if made.layout is Layout.DIRECTION:
            share = self.tr("{share} % of the spread").format(share=round(made.share * 100))
            summary = f"{summary} · {share}"
            sentences = [
                self.tr("2 of {n} directions are seen.").format(n=display.number(made.dimension)),
                self.tr("Similar texts are near each other, but nearby dots are not always similar."),
            ]
        self.summary.setText(summary)
        self.show_foot(*sentences, *more, without_direction=made.without_direction)

    async def _offer_colours(self, embeddings: Embeddings) -> None:
        choices, first = await asyncio.to_thread(colour_choices, embeddings)
        self._chosen = self._chosen or first
        self.colour_choice.clear()
        for key, title in choices:
            self.colour_choice.add(title, key)
        self.colour_choice.set_value(self._chosen)

    async def _colour(self) -> None:
        embeddings, made = self.embeddings, self.map
        if embeddings is not None and made is not None:
            self._colours = found = await asyncio.to_thread(read_colours, embeddings, made, self._chosen)
            names = found.names
            while self.map is not made and (made := self.map) is not None:  # the dots have moved meanwhile
                names = await asyncio.to_thread(found.dots.positions_of_names, made.points)
            self.dots.set_colours(found.dots, names)

    async def _find(self) -> None:
        await asyncio.sleep(_TYPING)
        text = self.find_field.text()
        if self.embeddings is None or self.map is None:
            return
        if not text:
            self.dots.mark(None)
            self.list.hide()
            return
        found = np.array(await asyncio.to_thread(self.embeddings.find, text), dtype=np.int64)
        self._show_list(np.flatnonzero(np.isin(self.map.item_numbers, found)), self.tr("“{text}”").format(text=text))

    # Showing

    def show_text(self, item_no: int) -> None:
        if self.map is not None:
            index = int(np.searchsorted(self.map.item_numbers, item_no))
            if index < len(self.map.item_numbers) and self.map.item_numbers[index] == item_no:
                self._picked(index)

    def _describe(self, index: int) -> str:
        if self.map is None:
            return ""
        (text,) = self.texts([int(self.map.item_numbers[index])])
        below = " · ".join(filter(None, (text.id or self.tr("Row {n}").format(n=display.number(text.row)), text.label)))
        return f"{display.one_line(text.text, _LONGEST)}\n{below}"

    def _picked(self, index: int) -> None:
        self.dots.set_current(index)
        self.dots.mark(None)
        if index < 0 or self.embeddings is None or self.map is None:
            self.list.hide()
        else:
            self.tasks.start("near", self._list_nearest(int(self.map.item_numbers[index])))

    async def _list_nearest(self, item_no: int) -> None:
        await self.list.show_nearest(item_no)
        self.list.show()

    def _lassoed(self, indices: NDArray[np.int64]) -> None:
        self.lasso_button.setChecked(False)
        if len(indices):
            self._show_list(indices, self.tr("Lasso"))
        else:
            self._picked(-1)

    def _show_list(self, indices: NDArray[np.int64], name: str) -> None:
        self.dots.set_current(-1)
        self.dots.mark(indices)
        if self.map is not None:
            self.tasks.cancel("near")
            count = display.plural(len(indices), "{n} text", "{n} texts")
            items = self.map.item_numbers[indices].tolist()
            self.list.show_items(items, name=name, title=f"{count} · {name}")
            self.list.show()

    def _layout_picked(self, key: object) -> None:
        layout = Layout(str(key))
        if self._memory is not None:
            self._memory.set(_MEMORY, layout)
        if layout is Layout.DIRECTION:
            self.tasks.cancel("neighbours")
        if self.map is None or layout is self.map.layout:
            self._say()
            return
        if layout in self._maps:
            self.tasks.start("layout", self._show(self._maps[layout]))
        elif layout is Layout.NEIGHBOURS:
            self._make_tsne_map(asked=True)
        else:
            self.tasks.start("layout", self._turn_to_direction())

    async def _turn_to_direction(self) -> None:
        if self.embeddings is not None:
            self._maps[Layout.DIRECTION] = await self._by_direction(self.embeddings)
            await self._show(self._maps[Layout.DIRECTION])

    def _stop(self) -> None:
        self.tasks.cancel("neighbours")
        if self._memory is not None and self.map is not None:
            self._memory.set(_MEMORY, self.map.layout)
        self._say()

    def _colour_picked(self, key: object) -> None:
        self._chosen = str(key)
        self.tasks.start("colour", self._colour())

    # The data behind it

    def _columns(self) -> tuple[str, ...]:
        colour = (self._colours.title,) if self._colours is not None and self._colours.title else ()
        return ("row", "id", "text", "x", "y", *colour)

    def _rows(self, embeddings: Embeddings) -> Iterator[Sequence[Cell]]:
        """Every dot, in the order of the file. Runs in a thread."""
        made, colours = self.map, self._colours
        if made is None:
            return
        for start in range(0, len(made.points), _PAGE):
            items = made.item_numbers[start : start + _PAGE].tolist()
            for index, text in enumerate(embeddings.texts(items), start):
                x, y = made.points[index].tolist()
                cell = (colours.cells[index],) if colours is not None and colours.title else ()
                yield (text.row, text.id, text.text, x, y, *cell)
