"""What the pages about vectors share: reading them, the progress of work, the line at the foot, rows and columns."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLayout, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings
from cfbatch_gui.core.results.nearest import Neighbour, nearest
from cfbatch_gui.core.results.outcomes import Status
from cfbatch_gui.core.results.unit_vectors import Progress
from cfbatch_gui.core.system.threads import check_stopped, in_thread
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.loaded_results import ResultsPage, failed_batches, nothing_yet
from cfbatch_gui.ui.state_names import is_practice, short_model
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, ScoreColumn
from cfbatch_gui.ui.tables.table_view import PagedRows, TableView
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE
from cfbatch_gui.ui.widgets import ElidedLabel, LinkButton, ThinProgress, boxed, column, line, row
from cfbatch_gui.ui.widgets.text_panel import TextPanel

T = TypeVar("T")
_SAMPLE = 200  # texts in which a label is looked for
_NEIGHBOURS = 25


@dataclass(frozen=True, slots=True)
class VectorsRead:
    embeddings: Embeddings
    done: int
    labelled: bool


class VectorPage(ResultsPage[VectorsRead]):
    """`arrived` is called with vectors that can be shown, and again when more have come. `rows_wanted` brings item
    numbers to be shown in the table, and what they are called there.
    """

    rows_wanted = Signal(object, str)

    def __init__(self, program: Program, notices: Notices, icon: str) -> None:
        super().__init__(program, notices, icon)
        self.vectors_read: VectorsRead | None = None
        self._progress = ThinProgress()
        self._progress.setVisible(False)
        size_policy = self._progress.sizePolicy()
        size_policy.setRetainSizeWhenHidden(True)  # the content above must not move
        self._progress.setSizePolicy(size_policy)

    def lay_out_content(self, body: QWidget, *, above: QLayout | None = None, bar: QWidget | None = None) -> None:
        """`above` the body are its fields; the `bar` is shown without the rest, too."""
        foot = row((self.foot, 1), margins=(LARGE, SMALL, MEDIUM, MEDIUM))
        fields = column(boxed(above), margins=(WIDE, SMALL, MEDIUM, SMALL)) if above is not None else None
        whole = column(*filter(None, [fields]), (body, 1), self._progress, line(), foot, gap=0)
        self.lay_out(boxed(whole), bar)

    # For the pages

    def clear(self) -> None:
        raise NotImplementedError

    def arrived(self, *, is_first: bool) -> None:
        raise NotImplementedError

    @property
    def job(self) -> Job:
        assert self.shown is not None  # noqa: S101 - pages work on a job only
        return self.shown

    @property
    def embeddings(self) -> Embeddings:
        assert self.vectors_read is not None  # noqa: S101 - fields and tasks are there only after `arrived`
        return self.vectors_read.embeddings

    def texts(self, items: Sequence[int]) -> Sequence[EmbeddedText]:
        """Also while painting, where no task would report that they cannot be read: then empty ones, after a notice."""
        try:
            return self.embeddings.texts(items)
        except UserError as error:
            self.notices.show_error(error)
            return [EmbeddedText(number, "", "", "", number, (), Status.FAILED, "", 0) for number in items]

    async def worked_out(self, sentence: str, function: Callable[[Progress], T]) -> T:
        """Run `function` in a thread, its progress below; a cancel stops it when it reports progress next."""
        loop = asyncio.get_running_loop()

        def tell(share: float) -> None:
            check_stopped()
            loop.call_soon_threadsafe(self._progress.set_parts, round(share * 1000), 1000)

        self.foot.set_line(sentence, "hourglass")
        self._progress.set_parts(0, 1000)
        self._progress.setVisible(True)
        try:
            return await in_thread(function, tell)
        finally:
            self._progress.setVisible(False)

    def show_foot(self, *sentences: str, without_direction: int = 0) -> None:
        read = self.vectors_read
        if read is None:
            return
        said = []
        missing = read.embeddings.count - read.done
        if missing:
            pattern = self.tr("So far: {n} of {total} texts have a vector.")
            said.append(pattern.format(n=display.number(read.done), total=display.number(read.embeddings.count)))
        if without_direction:
            pattern = self.tr("Vectors that are zero or not finite, left out: {n}.")
            said.append(pattern.format(n=display.number(without_direction)))
        if is_practice(self.job):
            said.append(self.tr("Practice vectors, not of {model}.").format(model=short_model(self.job)))
        needs_attention = bool(missing or without_direction)
        self.foot.set_line(
            " ".join([*said, *filter(None, sentences)]),
            "triangle-alert" if needs_attention else "info",
            "attention" if needs_attention else "quiet",
        )

    def show_error(self, error: UserError) -> None:
        if self.vectors_read is None:
            super().show_error(error)
        else:
            self.foot.set_line("")
            self.notices.show_error(error)

    def begin(self, job: Job) -> None:
        self.vectors_read = None
        super().begin(job)
        self.clear()

    async def read(self, job: Job) -> VectorsRead:
        return await asyncio.to_thread(_read, self.program.folder(job.id), failed_batches(job))

    async def show_read(self, job: Job, read: VectorsRead) -> None:
        is_first = self.vectors_read is None or not self.vectors_read.done
        self.vectors_read = read
        if read.done:
            self.show_content()
            self.arrived(is_first=is_first)
        else:
            self.show_sentence(nothing_yet(job))


def _read(folder: JobFolder, failed: dict[int, str]) -> VectorsRead:
    embeddings = Embeddings(folder, failed)
    sample = embeddings.page(0, _SAMPLE)
    return VectorsRead(embeddings, embeddings.outcome_counts().done, labelled=any(text.label for text in sample))


@dataclass(frozen=True, slots=True)
class ListedText:
    """A text with its similarity to something, or the length of its vector; None while it has none."""

    text: EmbeddedText
    number: float | None


class TextList(QWidget):
    """Texts by their item numbers, each with its similarity to something, and the chosen one whole below.

    `of` is the text that they are nearest to, which is not in the list; `name` says what chose them. `opened` brings
    an item number.
    """

    opened = Signal(int)

    def __init__(
        self,
        page: VectorPage,
        name: str,
        title: str,
        *,
        columns: Sequence[Column[ListedText]] = (),
        beside: QWidget | None = None,
        has_panel: bool = True,
    ) -> None:
        super().__init__()
        self._page = page
        self.of: tuple[int, ...] = ()
        self.items: tuple[int, ...] = ()
        self.name = ""
        self._similarities: tuple[float | None, ...] = ()
        self.title = ElidedLabel("", "strong")
        self.table_link = LinkButton(tr("Show in table"), "table", self._show_in_table)
        columns = columns or (row_column(), text_column(), id_column(hidden=True), similarity_column())
        self.rows: PagedRows[ListedText] = PagedRows(columns, count=0, fetch=self._fetch, parent=self)
        self.table = TableView(name, title, self.rows, on_picked=self._picked)
        self.table.opened.connect(lambda index: self.opened.emit(self.items[index]))
        self.panel = TextPanel(lines=4)
        head = row((self.title, 1), self.table_link, *filter(None, [beside]), margins=(MEDIUM, TINY, SMALL, TINY))
        self._head = boxed(head)
        self._head.hide()
        self._below = boxed(column(self.panel, margins=(MEDIUM, SMALL, MEDIUM, SMALL)))
        self._below.setVisible(has_panel)
        self.setLayout(column(self._head, (self.table, 1), self._below, gap=0))

    def show_items(
        self,
        items: Sequence[int],
        similarities: Sequence[float | None] = (),
        *,
        of: tuple[int, ...] = (),
        name: str = "",
        title: str = "",
    ) -> None:
        """Without a name there is no line above the table."""
        self.of, self.items, self.name = of, tuple(items), name
        self._similarities = tuple(similarities) or (None,) * len(self.items)
        self.title.setText(title or name)
        self._head.setVisible(bool(name))
        self.rows.refresh(len(self.items))
        self.table.scrollToTop()
        if not self._below.isHidden():
            self.table.selectRow(0)

    def show_found(self, found: Sequence[Neighbour], *, of: tuple[int, ...] = (), name: str = "") -> None:
        self.show_items([each.text.item_no for each in found], [each.similarity for each in found], of=of, name=name)

    async def show_nearest(self, item_no: int) -> None:
        (asked,) = self._page.texts([item_no])
        found = await asyncio.to_thread(nearest, self._page.embeddings, item_no, _NEIGHBOURS)
        name = tr("Nearest to “{text}”").format(text=display.one_line(asked.text, 80))
        self.show_found(found, of=(item_no,), name=name)

    def all_items(self) -> tuple[int, ...]:
        return (*self.of, *self.items)

    def selected(self) -> tuple[str, Sequence[int]]:
        """Several selected texts, as a choice for an export."""
        return several_selected([self.items[index] for index in self.table.selected_rows()])

    def _fetch(self, start: int, stop: int) -> Sequence[ListedText]:
        texts = self._page.texts(self.items[start:stop])
        return tuple(map(ListedText, texts, self._similarities[start:stop]))

    def _picked(self, index: int) -> None:
        text = self.rows.row(index).text
        about = " · ".join(filter(None, (text.id, text.label)))
        self.panel.show_text(tr("Row {n}").format(n=display.number(text.row)), text.text, about=about)

    def _show_in_table(self) -> None:
        self._page.rows_wanted.emit(self.all_items(), self.name)


def several_selected(items: Sequence[int]) -> tuple[str, Sequence[int]]:
    return tr("selected"), items if len(items) > 1 else ()


def row_column(*, width: int = 70, gives_way: bool = False, tip: str = "") -> Column[Any]:
    """This and the next ones are columns of rows whose `text` is an EmbeddedText."""
    return NumberColumn(tr("Row"), lambda each: each.text.row, key="row", width=width, gives_way=gives_way, tip=tip)


def text_column() -> Column[Any]:
    return Column(tr("Text"), lambda each: each.text.text, key="text", stretch=True, is_searched=True)


def id_column(*, width: int = 90, hidden: bool = False) -> Column[Any]:
    return Column(tr("ID"), lambda each: each.text.id, key="id", width=width, hidden=hidden, is_searched=True)


def similarity_column(*, width: int = 96, bar: bool = False) -> Column[Any]:
    return ScoreColumn(
        tr("Similarity"),
        lambda each: each.number,
        key="similarity",
        align="left" if bar else "right",
        width=width,
        gives_way=not bar,
        bar=(lambda each: max(0.0, each.number)) if bar else None,
        tip=tr("The cosine of both vectors: 1 is the same direction."),
    )
