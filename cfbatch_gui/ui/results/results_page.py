"""The few parts that pages of results are made of: reading, search, foot, and what stands there while there is
nothing; the limits of a ranking; and for pages about vectors the lists of texts and their columns.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QRegularExpression, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QLayout, QLineEdit, QSizePolicy, QSpinBox, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.jobs.verifying import complete_results
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings, Progress
from cfbatch_gui.core.results.exports.base import ExportOptions
from cfbatch_gui.core.results.nearest import Neighbour, nearest
from cfbatch_gui.core.results.outcomes import Status
from cfbatch_gui.core.system.threads import check_stopped, in_thread
from cfbatch_gui.ui import widgets
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import ResultView
from cfbatch_gui.ui.tables.cells import CELL_MARGIN
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, PagedRows, ScoreColumn
from cfbatch_gui.ui.tables.table_view import TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import boxed, column, line, row
from cfbatch_gui.ui.widgets.text_panel import TextPanel
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import score_text, worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import is_practice, short_model

T = TypeVar("T")
W = TypeVar("W")
Version = tuple[object, ...]

LOADING = "load"  # the name of the reading among a page's tasks
TYPING = 0.12  # seconds; a search begins when the keys rest
_PATIENCE = 0.3  # seconds before a page says what takes long
_SIDE = WIDE - CELL_MARGIN  # pixels behind a table, as the stylesheet has them before it


class ResultsPage(ResultView, Generic[T]):
    """Reads the results of one job at a time, and again whenever there are others."""

    def __init__(self, program: Program, notices: Notices, icon: str) -> None:
        super().__init__()
        self.program, self.notices = program, notices
        self.tasks = Tasks(self, self.show_error)
        self.shown: Job | None = None
        self.loaded: Version = ()  # of what was read last
        self.foot = widgets.Saying("info")
        self.stop_link = widgets.LinkButton(tr("Stop"), "x", self.stop)
        self.stop_link.hide()
        self.progress = widgets.ThinProgress()
        self.progress.hide()
        for part in (self.foot, self.progress):  # the content above must not move
            size_policy = part.sizePolicy()
            size_policy.setRetainSizeWhenHidden(True)
            part.setSizePolicy(size_policy)
        self.stack = widgets.MaybeEmpty(icon)
        self.stack.empty.pressed.connect(self._pressed)
        self._on_pressed: Callable[[], object] = self.read_again

    def lay_out(
        self,
        content: QWidget,
        above: QLayout | None = None,
        *,
        beside_foot: Sequence[QWidget] = (),
        side: int = _SIDE,
        header: QWidget | None = None,
    ) -> None:
        """`above` the content are its fields, below it the foot; `side` is left free beside the content, in pixels. A
        page with a header of its own scrolls as a whole where it does not fit.
        """
        fields = [column(boxed(above), margins=(WIDE, SMALL, MEDIUM, SMALL))] if above is not None else []
        foot = row((self.foot, 1), self.stop_link, *beside_foot, margins=(WIDE, SMALL, MEDIUM, MEDIUM))
        foot.setAlignment(self.foot, Qt.AlignmentFlag.AlignVCenter)  # as high as its words
        self.stack.addWidget(boxed(column(content, margins=(0, 0, side, 0))))
        self._around = boxed(column(*fields, gap=0)), boxed(column(line(), foot, gap=0))
        whole = column(self._around[0], (self.stack, 1), self.progress, self._around[1], gap=0)
        self.setLayout(
            column(widgets.Roomy(boxed(column(header, (whole, 1), gap=0))), gap=0) if header is not None else whole
        )

    def add_search(self, hint: str, *marked: TableView | TextPanel) -> widgets.SearchField:
        """A field for what `find_text` looks for once the keys rest, and what is marked in these parts at once."""
        field = widgets.SearchField(hint)
        field.setMinimumWidth(scaled(86))
        field.setMaximumWidth(scaled(300))
        for part in marked:
            field.searched.connect(part.mark)
        field.searched.connect(lambda text: self.tasks.start("find", self._find_later(text)))
        return field

    async def _find_later(self, text: str) -> None:
        await asyncio.sleep(TYPING)
        await self.find_text(text)

    async def find_text(self, text: str) -> None:
        raise NotImplementedError

    def begin(self, job: Job) -> None:
        """Before another job is shown, while `shown` is still the one before."""
        self.say("")

    def version(self, job: Job) -> Version:
        """Changes exactly when there may be other results to read: an answer came, a batch ended without one, or the
        texts were removed.
        """
        ended = tuple((batch.number, batch.state) for batch in job.batches if batch.state.is_final)
        return (job.id, job.is_sent, ended, job.texts_forgotten_at)

    async def read(self, job: Job) -> T:
        """What the page shows. Raises UserError."""
        raise NotImplementedError

    async def show_read(self, job: Job, read: T) -> None:
        raise NotImplementedError

    def show_job(self, job: Job) -> None:
        if self.shown is None or job.id != self.shown.id:
            self._cancel_all()
            self.loaded = ()
            self.begin(job)
        self.shown = job
        if self.version(job) != self.loaded and not self.tasks.is_running(LOADING):
            self.tasks.start(LOADING, self._load())

    def read_again(self) -> None:
        self.loaded = ()
        if self.shown is not None:
            self.show_job(self.shown)

    async def _load(self) -> None:
        while (job := self.shown) is not None and self.loaded != (version := self.version(job)):
            with self.waiting(tr("Reading the results…")):
                if job.has_results:
                    await in_thread(complete_results, self.program.folder(job.id), job)
                read = await self.read(job)
            self.loaded = version
            for part in self._around:
                part.show()
            await self.show_read(job, read)

    # What stands there instead of the content

    def say(self, sentence: str, button: str = "", on_pressed: Callable[[], object] = lambda: None) -> None:
        self._on_pressed = on_pressed
        self.stack.show_sentence(sentence, button)

    def _pressed(self) -> None:
        self._on_pressed()

    def say_nothing_yet(self, job: Job) -> None:
        self.say(nothing_yet(job))
        for part in self._around:
            part.hide()

    def show_error(self, error: UserError) -> None:
        """Where the content is, unless this is there and can still be read."""
        if self.is_empty():
            self.say(said(error.message))
        else:
            self.foot.set_line("")
            self.notices.show_error(error)

    def is_empty(self) -> bool:
        return self.stack.currentIndex() == 0

    @contextmanager
    def waiting(self, sentence: str) -> Iterator[None]:
        """What takes longer than a moment is named, where the content is to be or in the foot, and can be stopped."""
        named = asyncio.get_running_loop().call_later(_PATIENCE, self._say_waiting, sentence)
        try:
            yield
        finally:
            named.cancel()
            self.stop_link.hide()
            self.progress.hide()

    def _say_waiting(self, sentence: str) -> None:
        if self.is_empty():
            self.say(sentence, tr("Stop"), self.stop)
        else:
            self.foot.set_line(sentence, "hourglass")
            self.stop_link.show()

    async def worked_out(self, sentence: str, function: Callable[[Progress], W]) -> W:
        """Run `function` in a thread, its progress below; a cancel stops it when it reports progress next."""
        loop = asyncio.get_running_loop()

        def tell(share: float) -> None:
            check_stopped()
            loop.call_soon_threadsafe(self.progress.set_parts, round(share * 1000), 1000)

        self.progress.set_parts(0, 1000)
        self.progress.show()
        with self.waiting(sentence):
            return await in_thread(function, tell)

    def stop(self) -> None:
        self._cancel_all()
        if self.is_empty():
            self.say(tr("Stopped."), tr("Go on"), self.read_again)
        else:
            self.foot.set_line(tr("Stopped."), "info")

    def _cancel_all(self) -> None:
        for name in self.tasks.running():
            self.tasks.cancel(name)


def labelled(words: str, *fields: QWidget) -> QWidget:
    """Fields in a row, of which the first has these words for its label."""
    label = widgets.Label(words, "quiet")
    label.setBuddy(fields[0])
    return boxed(row(label, *fields))


_MOST = 99_999
_NUMBER = QRegularExpression(r"-?\d{0,4}([.,]\d{0,6})?")


class ScoreField(QLineEdit):
    """The least score, none where nothing is typed."""

    def __init__(self) -> None:
        super().__init__()
        self.setPlaceholderText(tr("any"))
        self.setAccessibleName(tr("Score from"))
        self.setFixedWidth(scaled(84))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setMaxLength(12)
        self.setValidator(QRegularExpressionValidator(_NUMBER, self))

    def value(self) -> float | None:
        try:
            return float(self.text().replace(",", "."))
        except ValueError:  # nothing, or a sign alone
            return None


class LimitsBar(QWidget):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.top = QSpinBox()
        self.top.setRange(0, _MOST)
        self.top.setSpecialValueText(tr("All ranks"))
        self.top.setPrefix(tr("Top") + " ")
        self.top.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.top.setAccessibleName(tr("How many of each query"))
        self.top.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the wheel scrolls
        self.top.valueChanged.connect(lambda _: self.changed.emit())
        self.threshold = ScoreField()
        self.threshold.textChanged.connect(self.changed)
        self.setLayout(widgets.Flow(self.top, labelled(tr("Score from"), self.threshold), gap=MEDIUM))

    def limits(self) -> ExportOptions:
        return ExportOptions(top_k=self.top.value() or None, threshold=self.threshold.value())

    def show_limits(self, limits: ExportOptions) -> None:
        with QSignalBlocker(self.top), QSignalBlocker(self.threshold):
            self.top.setValue(limits.top_k or 0)
            self.threshold.setText("" if limits.threshold is None else score_text(limits.threshold))


def nothing_yet(job: Job) -> str:
    if job.state is JobState.FAILED:
        return tr("Nothing came back from this job. “Progress” says why.")
    if job.has_results:
        return tr("Nothing that is back has a result. “Export…” can write the rows that failed, and why.")
    return tr("Results can be read here as soon as the first batch is back.")


def original_columns(
    names: Sequence[str], cells: Callable[[Any], Sequence[str]], *, width: int
) -> Iterator[Column[Any]]:
    """A hidden column for each of the user's own."""
    for index, name in enumerate(names):
        cell = partial(lambda index, row: cells(row)[index] if cells(row) else None, index)
        yield Column(name, cell, width=width, hidden=True)


def named_cells(names: Sequence[str], cells: Sequence[str], *without: str) -> str:
    """The user's own cells, but for empty ones and those that are shown elsewhere."""
    pairs = zip(names, cells, strict=True)
    return " · ".join(f"{name}: {cell}" for name, cell in pairs if cell and cell not in without)


def status_words(status: Status, why: str) -> str:
    word = {
        Status.DONE: "",
        Status.FAILED: tr("Failed"),
        Status.WAITING: tr("Not back yet"),
        Status.LEFT_OUT: tr("Left out"),
        Status.SKIPPED: tr("Left out"),
    }[status]
    return f"{word}: {said(why)}" if why else word


_SAMPLE = 200  # texts in which a label is looked for
_NEIGHBOURS = 25


@dataclass(frozen=True, slots=True)
class VectorsRead:
    embeddings: Embeddings
    done: int
    labelled: bool


class VectorPage(ResultsPage[VectorsRead]):
    """`arrived` is called with vectors that can be shown, and again when more have come; the page then shows its
    content. `rows_wanted` and `map_wanted` bring the job, item numbers to be shown in its table or on its map, and what
    they are called there; `changed` a job whose options were changed.
    """

    rows_wanted = Signal(object, object, str)
    map_wanted = Signal(object, object, str)
    changed = Signal(object)
    vectors_read: VectorsRead | None = None
    _later: tuple[str, Callable[[], object]] | None = None  # what is to be done once this job is read
    _changes = 0

    # For the pages

    def clear(self) -> None:
        raise NotImplementedError

    def arrived(self, *, is_first: bool) -> None:
        raise NotImplementedError

    def once_read(self, job: Job, act: Callable[[], object]) -> None:
        """Do something with the vectors of a job, now or when they are shown."""
        if self.vectors_read is not None and job.id == self.job.id:
            act()
        else:
            self._later = job.id, act

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

    def keep(self, name: str, change: Callable[[Any], Any], undo_words: str) -> None:
        """Change the options of this name of the job that is shown, and offer to take it back."""
        self._changes += 1  # each to its end: what is done quickly is done as often
        self.tasks.start(f"keep {self._changes}", self._keep(self.job.id, name, change, undo_words))

    async def _keep(self, job_id: str, name: str, change: Callable[[Any], Any], undo_words: str = "") -> None:
        program = self.program

        def use() -> tuple[Any, Job]:
            before = getattr(program.ledger.job(job_id).options, name)
            return before, program.drafts.use_for(job_id, **{name: change(before)})

        before, job = await program.store.on_disk(use)
        if undo_words and before != getattr(job.options, name):

            def undo() -> None:
                self.tasks.start(f"keep {name}", self._keep(job_id, name, lambda _: before))

            self.notices.undos.offer(undo_words, undo)
        if self.shown is not None and self.shown.id == job_id:
            self.show_job(job)
        self.changed.emit(job)

    def show_foot(self, sentence: str = "", *, without_direction: int = 0) -> None:
        read = self.vectors_read
        if read is None:
            return
        sentences = []
        count = read.embeddings.count
        if read.done < count:
            sentences.append(worded("So far: {n} of {total} texts have a vector.", n=read.done, total=count))
        if without_direction:
            sentences.append(worded("Vectors that are empty or broken, left out: {n}.", n=without_direction))
        look = ("triangle-alert", "attention") if sentences else ("info", "quiet")
        if is_practice(self.job):
            sentences.append(worded("Practice vectors, not of {model}.", model=short_model(self.job)))
        self.foot.set_line(" ".join(filter(None, [*sentences, sentence])), *look)

    def begin(self, job: Job) -> None:
        self.vectors_read = None
        super().begin(job)
        self.foot.set_line("")
        self.clear()

    async def read(self, job: Job) -> VectorsRead:
        def read() -> VectorsRead:
            embeddings = Embeddings(self.program.folder(job.id), job.failed_batches)
            labelled = any(text.label for text in embeddings.page(0, _SAMPLE))
            return VectorsRead(embeddings, embeddings.outcome_counts().done, labelled)

        return await in_thread(read)

    async def show_read(self, job: Job, read: VectorsRead) -> None:
        is_first = self.vectors_read is None or not self.vectors_read.done
        self.vectors_read = read
        if not read.done:
            self.say_nothing_yet(job)
            return
        self.arrived(is_first=is_first)
        if self._later is not None and self._later[0] == job.id:
            later, self._later = self._later, None
            later[1]()


@dataclass(frozen=True, slots=True)
class ListedText:
    """A text with its similarity to something, None for one that is compared with nothing."""

    text: EmbeddedText
    similarity: float | None = None


class TextList(QWidget):
    """Texts by their item numbers, each with its similarity to something, and the chosen one whole above, with `parts`
    below it; `beside` its own title are further buttons.

    `of` is the text that they are nearest to, which is not in the list; `name` says what chose them. `opened` and
    `picked` bring an item number.
    """

    opened, picked = Signal(int), Signal(int)

    def __init__(
        self,
        page: "VectorPage",
        name: str,
        title: str,
        *beside: QWidget,
        columns: Sequence[Column[ListedText]] = (),
        parts: Sequence[QLayout] = (),
        has_panel: bool = True,
    ) -> None:
        super().__init__()
        self._page, self._has_panel = page, has_panel
        self.of: tuple[int, ...] = ()
        self.items: Sequence[int] = ()
        self.name = ""
        self._similarities: Sequence[float | None] = ()
        self.title = widgets.ElidedLabel("", "strong")
        self.table = TableView(name, title, on_picked=self._picked)
        self.table.opened.connect(lambda index: self.opened.emit(self.items[index]))
        self.show_columns(columns or (row_column(), text_column(), id_column(hidden=True), similarity_column()))
        self.panel = TextPanel(lines=2)
        table_link = widgets.LinkButton(tr("Show in table"), "table", self._show_in_table)
        self._head = boxed(row((self.title, 1), table_link, *beside, margins=(WIDE, SMALL, CELL_MARGIN, 0)))
        self._head.hide()
        self._whole = boxed(column(self.panel, *parts, margins=(WIDE, MEDIUM, CELL_MARGIN, SMALL)))
        self.setLayout(column(self._head, self._whole, (self.table, 1), gap=0))

    def show_columns(self, columns: Sequence[Column[ListedText]]) -> None:
        self.rows: PagedRows[ListedText] = PagedRows(columns, count=0, fetch=self._fetch, parent=self)
        self.table.show_rows(self.rows)

    def show_items(
        self,
        items: Sequence[int],
        similarities: Sequence[float | None] = (),
        *,
        of: tuple[int, ...] = (),
        name: str = "",
        title: str = "",
        chosen: int = 0,
    ) -> None:
        """`chosen` is the item to begin with, else the first. Without a title there is no line above."""
        self.of, self.items, self.name = of, items, name
        self._similarities = similarities
        self.title.setText(title)
        self._head.setVisible(bool(title))
        self.rows.refresh(len(items))
        self._whole.setVisible(self._has_panel and len(items) > 0)
        if self._has_panel and len(items):
            self.table.selectRow(items.index(chosen) if chosen in items else 0)

    def show_found(self, found: Sequence[Neighbour], name: str, of: tuple[int, ...] = ()) -> None:
        items, similarities = [each.text.item_no for each in found], [each.similarity for each in found]
        self.show_items(items, similarities, of=of, name=name, title=name)

    async def show_nearest(self, item_no: int) -> None:
        (asked,) = self._page.texts([item_no])
        found = await in_thread(nearest, self._page.embeddings, item_no, _NEIGHBOURS)
        name = worded("Most like “{text}”", text=figures.one_line(asked.text, 80))
        self.show_found(found, name, (item_no,))

    def all_items(self) -> tuple[int, ...]:
        return (*self.of, *self.items)

    def selected(self) -> tuple[str, Sequence[int]]:
        """Several selected texts, as a choice for an export."""
        items = [self.items[index] for index in self.table.selected_rows()]
        return tr("selected"), items if len(items) > 1 else ()

    def _fetch(self, start: int, stop: int) -> Sequence[ListedText]:
        similarities = self._similarities[start:stop] or [None] * (stop - start)
        return tuple(map(ListedText, self._page.texts(self.items[start:stop]), similarities))

    def _picked(self, index: int) -> None:
        text = self.rows.row(index).text
        self.panel.show_text(
            worded("Row {n}", n=text.row),
            text.text,
            about=" · ".join(filter(None, (text.id, text.label))),
            problem=status_words(text.status, text.error),
            rest=named_cells(self._page.embeddings.columns(), text.cells, text.text, text.label),
        )
        self.picked.emit(text.item_no)

    def _show_in_table(self) -> None:
        self._page.rows_wanted.emit(self._page.job, self.all_items(), self.name)


def below(*parts: QWidget | QLayout) -> QWidget:
    """What stands below a table, apart from its last row."""
    return boxed(column(line(), column(*parts, margins=(WIDE, MEDIUM, CELL_MARGIN, MEDIUM)), gap=0))


def row_column(*, width: int = 70, gives_way: bool = False, tip: str = "") -> Column[Any]:
    """This and the next ones are columns of rows whose `text` is an EmbeddedText."""
    return NumberColumn(tr("Row"), lambda each: each.text.row, width=width, gives_way=gives_way, tip=tip)


def text_column() -> Column[Any]:
    return Column(tr("Text"), lambda each: each.text.text, stretch=True, is_searched=True)


def id_column(*, width: int = 90, hidden: bool = False) -> Column[Any]:
    return Column(tr("ID"), lambda each: each.text.id, width=width, hidden=hidden, is_searched=True)


def similarity_column() -> Column[Any]:
    return ScoreColumn(
        tr("Similarity"),
        lambda each: each.similarity,
        width=96,
        gives_way=True,
        tip=tr("How much alike both texts are: 1 is the same meaning, 0 has nothing to do with it."),
    )
