"""Vectors as dots: all texts on a map, coloured by a column, searched, and selected with a lasso."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QSizePolicy

from cfbatch_gui.core.jobs.states import GroupOptions, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.base import Cell
from cfbatch_gui.core.results.job_groups import JobGroups, read_groups
from cfbatch_gui.core.results.text_map import Layout, TextMap, make_map, tsne_map
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.memory import memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.plots import DotMap, PictureButtons, PlotData
from cfbatch_gui.ui.plots.colours import MOST_CATEGORIES, DotColours, by_category, by_cells, plain
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.results_page import TextList, VectorPage
from cfbatch_gui.ui.theme import scaled
from cfbatch_gui.ui.widgets import QuietButton
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import tr

ONE, CLUSTERS, COLUMN = "one", "clusters", "column/"
_SAMPLE, _FEW = 300, 24
_NAME = 28  # characters of a typical text in the name of its cluster


def colour_choices(embeddings: Embeddings) -> tuple[tuple[tuple[str, str], ...], str]:
    """Titles and keys of what can be chosen, and the key to begin with: a column with a few different cells."""
    sample = embeddings.page(0, _SAMPLE)
    choices = [(tr("One colour"), ONE), (tr("Colour by group"), CLUSTERS)]
    first = ""
    for index, name in enumerate(embeddings.columns()):
        cells = [text.cells[index] for text in sample if index < len(text.cells)]
        if not cells or cells == [text.text for text in sample]:
            continue
        choices.append((worded("Colour by {name}", name=name), f"{COLUMN}{index}"))
        if not first and 2 <= len(set(cells)) <= min(_FEW, len(sample) // 2):
            first = f"{COLUMN}{index}"
    return tuple(choices), first or ONE


def read_colours(
    embeddings: Embeddings, item_numbers: NDArray[np.int64], key: str, read: Callable[[], JobGroups]
) -> DotColours:
    """`read` reads the groups of the job. Blocking. Raises DataError."""
    if key.startswith(COLUMN):
        index = int(key.removeprefix(COLUMN))
        whole = embeddings.column(index)
        return by_cells([whole[item - 1] for item in item_numbers.tolist()], embeddings.columns()[index])
    if key != CLUSTERS:
        return plain(len(item_numbers))
    found = read()
    members = found.members[found.item_numbers.searchsorted(item_numbers)]
    names = [figures.one_line(each.name, _NAME) for each in found.groups[:MOST_CATEGORIES]]
    return by_category(np.where(members < len(names), members, -1), names, title=tr("group"))


_LEAST_LIST = 160  # pixels
_LONGEST = 400  # characters of a text in the tip under the mouse
_PAGE = 2_000
_BY_ITSELF = 20_000  # texts up to which the t-SNE map is started automatically
_MEMORY = "map/layout"


class MapView(VectorPage):
    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "chart-scatter")
        self.map: TextMap | None = None  # the one that is shown
        self._colours, self._grouped_by = plain(0), GroupOptions()
        self._wanted: Callable[[], object] = int  # what is to be shown once there is a map
        self._make_widgets()
        self.lay_out(
            widgets.split(self.dots, self.list, sizes=(420, 220), stretched=0, vertical=True, name="map"),
            widgets.Flow(
                *(self.find_field, self.layout_choice, self.colour_choice, self.lasso_button, self.whole_button),
                *(self.summary, self.picture),
            ),
        )

    def clear(self) -> None:
        self.map = None
        self.colour_choice.clear()
        self.find_field.clear()
        self.tasks.cancel("find")
        self.dots.show_points(np.zeros((0, 2), dtype=np.float32), str, self._data)
        self.list.hide()

    def show_job(self, job: Job) -> None:
        super().show_job(job)
        if self.colour_choice.value() == CLUSTERS and job.options.grouping != self._grouped_by:
            self.tasks.start("colour", self._colour())

    def row_choices(self) -> tuple[RowChoice, ...]:
        if self.list.isHidden():
            return ()
        return row_choices((self.list.name, self.list.all_items()), self.list.selected(), proposed=self.list.name)

    def arrived(self, *, is_first: bool) -> None:
        self.picture.set_name(worded("{name}, map", name=self.job.name))
        self.tasks.cancel("layout")
        self.tasks.start("map", self._begin_map())

    # Making

    def _make_widgets(self) -> None:
        self.colour_choice = widgets.Choice(
            tr("Colour of the dots"), on_picked=lambda _: self.tasks.start("colour", self._colour())
        )
        self.colour_choice.setMaximumWidth(scaled(236))
        layouts = ((tr("Rough map"), Layout.DIRECTION), (tr("Fine map"), Layout.NEIGHBOURS))
        self.layout_choice = widgets.Choice(tr("What decides where a text stands"), layouts, self._layout_picked)
        self.layout_choice.setToolTip(
            tr(
                "Rough map: there at once; what differs most is farthest apart.\nFine map: each text stands beside"
                " those that are most like it, so that groups can be seen; takes seconds."
            )
        )
        self.lasso_button = QuietButton(
            tr("Lasso"), "lasso", tip=tr("Draw around texts to list them; with Shift it works at any time")
        )
        self.lasso_button.setCheckable(True)
        self.whole_button = widgets.LinkButton(tr("Whole map"))
        self.summary = widgets.ElidedLabel("", "quiet")
        self.summary.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.dots = DotMap(tr("Map of the texts"))
        self.lasso_button.toggled.connect(self.dots.set_lasso)
        self.whole_button.clicked.connect(self.dots.show_all)
        self.whole_button.hide()
        self.dots.moved.connect(self.whole_button.setVisible)
        self.dots.picked.connect(self._picked)
        self.dots.lassoed.connect(self._lassoed)
        self.close_button = widgets.IconButton("x", tr("Close the list"), lambda: self._picked(-1))
        title = tr("Listed texts")
        self.list = TextList(self, "vectors/near", title, self.close_button, has_panel=False)
        self.list.setMinimumHeight(_LEAST_LIST)
        self.list.hide()
        self.find_field = self.add_search(tr("Find a text"), self.list.table)
        self.list.opened.connect(self.show_text)
        folder = self.program.remembered_folder(FolderUse.PICTURES)
        self.picture = PictureButtons(self.dots, self.notices, self.tasks, folder)

    # Reading

    async def _begin_map(self) -> None:
        """Show the map that is there at once; the colours, and the other layout if it is wanted, follow."""
        choices, first = await in_thread(colour_choices, self.embeddings)
        self.colour_choice.refill(choices, first)
        self.map = made = await self._made(Layout.DIRECTION)
        self._colours = plain(len(made.points))
        self.stack.show_content()
        self.dots.show_points(made.points, self._describe, self._data, self._colours)
        self.list.hide()
        self._say()
        self.tasks.start("colour", self._colour())
        if self.find_field.text():
            self.tasks.start("find", self.find_text(self.find_field.text()))
        self._show_wanted()
        wanted = self._wanted_layout()
        self.layout_choice.set_value(wanted)
        if wanted is Layout.NEIGHBOURS:
            self.tasks.start("layout", self._show_layout(wanted))

    def _wanted_layout(self) -> Layout:
        chosen = memory.get(_MEMORY)
        if not all(batch.state.is_final for batch in self.job.batches):
            return Layout.DIRECTION
        if chosen in tuple(Layout):
            return Layout(chosen)
        return Layout.NEIGHBOURS if self.embeddings.count <= _BY_ITSELF else Layout.DIRECTION

    async def _show_layout(self, layout: Layout) -> None:
        """The map before stays and can be read until this one is made."""
        self.map = await self._made(layout)
        self.dots.move_points(self.map.points)
        self._say()

    async def _made(self, layout: Layout) -> TextMap:
        embeddings, folder = self.embeddings, self.program.folder(self.job.id)
        if layout is Layout.DIRECTION:
            return await self.worked_out(tr("Drawing the map…"), lambda tell: make_map(embeddings, tell))
        sentence = tr("Putting beside each other what is alike. You can read the map meanwhile.")
        return await self.worked_out(sentence, lambda tell: tsne_map(folder, embeddings, tell))

    def _say(self) -> None:
        made = self.map
        if made is None:
            return
        self.summary.setText(figures.plural(len(made.points), "{n} text", "{n} texts"))
        sentence = tr("Texts stand beside those most like them; distances between islands mean little.")
        if made.layout is Layout.DIRECTION:
            sentence = tr("Similar texts are near each other, but nearby dots are not always similar.")
        self.show_foot(sentence, without_direction=made.without_direction)

    async def _colour(self) -> None:
        if self.map is not None:
            items, key = self.map.item_numbers, str(self.colour_choice.value())
            folder, job, embeddings = self.program.folder(self.job.id), self.job, self.embeddings
            self._grouped_by = job.options.grouping
            self._colours = await self.worked_out(
                tr("Grouping the texts…"),
                lambda tell: read_colours(embeddings, items, key, lambda: read_groups(folder, job, tell)),
            )
            self.dots.set_colours(self._colours)
            self._say()

    async def find_text(self, text: str) -> None:
        if self.map is None:
            return
        if not text:
            self.dots.mark(None)
            self.list.hide()
            return
        found = np.array(await in_thread(self.embeddings.find, text), dtype=np.int64)
        self._show_list(np.flatnonzero(np.isin(self.map.item_numbers, found)), worded("“{text}”", text=text))

    # Showing

    def show_items(self, job: Job, items: Sequence[int], name: str) -> None:
        """Mark and list these texts of a job, once there is a map; `name` says what chose them."""

        def show() -> None:
            if self.map is not None:
                self._show_list(np.flatnonzero(np.isin(self.map.item_numbers, list(items))), name)

        self._wanted = show
        self.once_read(job, lambda: None if self.tasks.is_running("map") else self._show_wanted())

    def _show_wanted(self) -> None:
        wanted, self._wanted = self._wanted, int
        wanted()

    def show_text(self, item_no: int) -> None:
        if self.map is not None:
            self._picked(next(iter(np.flatnonzero(self.map.item_numbers == item_no).tolist()), -1))

    def _describe(self, index: int) -> str:
        if self.map is None:
            return ""
        (text,) = self.texts([int(self.map.item_numbers[index])])
        below = " · ".join(filter(None, (text.id or worded("Row {n}", n=text.row), text.label)))
        return f"{figures.one_line(text.text, _LONGEST)}\n{below}"

    def _picked(self, index: int) -> None:
        self.dots.set_current(index)
        self.dots.mark(None)
        if index < 0 or self.map is None:
            self.list.hide()
        else:
            self.tasks.start("near", self._list_nearest(int(self.map.item_numbers[index])))

    async def _list_nearest(self, item_no: int) -> None:
        await self.list.show_nearest(item_no)
        self.list.show()

    def _lassoed(self, indices: NDArray[np.int64]) -> None:
        self.lasso_button.setChecked(False)
        if len(indices):
            self._show_list(indices, tr("Lasso"))
        else:
            self._picked(-1)

    def _show_list(self, indices: NDArray[np.int64], name: str) -> None:
        self.dots.set_current(-1)
        self.dots.mark(indices)
        if self.map is not None:
            self.tasks.cancel("near")
            count = figures.plural(len(indices), "{n} text", "{n} texts")
            items = self.map.item_numbers[indices].tolist()
            self.list.show_items(items, name=name, title=f"{count} · {name}")
            self.list.show()

    def _layout_picked(self, key: object) -> None:
        memory.set(_MEMORY, str(key))
        if self.map is not None:
            self.tasks.start("layout", self._show_layout(Layout(str(key))))

    # The data behind it

    def _data(self) -> PlotData:
        if self.map is None:
            return PlotData((), ())
        title = (self._colours.title,) if self._colours.title else ()
        return PlotData(("row", "id", "text", "x", "y", *title), _rows(self.embeddings, self.map, self._colours))


def _rows(embeddings: Embeddings, made: TextMap, colours: DotColours) -> Iterator[Sequence[Cell]]:
    """Every dot, in the order of the file. Runs in a thread."""
    for start in range(0, len(made.points), _PAGE):
        items = made.item_numbers[start : start + _PAGE].tolist()
        for index, text in enumerate(embeddings.texts(items), start):
            cell = (colours.name_of(index),) if colours.title else ()
            yield (text.row, text.id, text.text, *made.points[index].tolist(), *cell)
