"""Embedded texts: the table with the chosen text and its vector, and the search by a text of one's own or the job's."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import VectorChecks
from cfbatch_gui.core.results.exports.rows import vector_texts
from cfbatch_gui.core.results.nearest import LONGEST, embed_sentence, nearest_to
from cfbatch_gui.core.system.threads import in_thread
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_upper
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.results_page import (
    ListedText,
    TextList,
    VectorPage,
    below,
    id_column,
    named_cells,
    original_columns,
    row_column,
    several_selected,
    similarity_column,
    status_words,
    text_column,
)
from cfbatch_gui.ui.tables.table_rows import Column
from cfbatch_gui.ui.tables.table_view import ColumnsButton, PagedRows, TableView
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import (
    ElidedLabel,
    Flow,
    IconLine,
    Label,
    LinkButton,
    MaybeEmpty,
    PrimaryButton,
    boxed,
    column,
    row,
)
from cfbatch_gui.ui.widgets.text_panel import TextPanel
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import score_text
from cfbatch_gui.words.languages import tr
from cfbatch_gui.words.states import connection_title, is_practice, short_model, title_words


def vector_columns(original: Sequence[str], *, with_ids: bool, labelled: bool) -> tuple[Column[ListedText], ...]:
    return (
        row_column(width=58, tip=tr("The row in your file, as its own program counts.")),
        id_column(width=78, hidden=not with_ids),
        text_column(),
        Column(tr("Label"), lambda row: row.text.label, key="label", width=100, hidden=not labelled),
        *original_columns(original, lambda row: row.text.cells, width=130),
    )


def checks_line(checks: VectorChecks) -> tuple[str, bool]:
    """What is known of all vectors, and whether they can be used."""
    if not checks.dimension or checks.missing == checks.texts:
        return tr("No vector has come back yet."), True
    words = [figures.plural(checks.dimension, "{n} number a text", "{n} numbers a text")]
    if not checks.unit_length:
        lengths = f"{score_text(checks.norm_min)}–{score_text(checks.norm_max)}"
        words.append(tr("lengths {range}").format(range=lengths))
    counts = {
        tr("empty: {n}"): checks.zero,
        tr("repeated: {n}"): checks.repeated,
        tr("with values that are no numbers: {n}"): checks.non_finite,
        tr("without a vector: {n}"): checks.missing,
    }
    wrong = [pattern.format(n=figures.number(count)) for pattern, count in counts.items() if count]
    words += wrong or [tr("no empty or repeated vectors")]
    return " · ".join(words), not (checks.zero or checks.non_finite)


_VALUES = 8


class VectorsView(VectorPage):
    """Reads pages of the table when they are painted. `similar_wanted` brings the number of the chosen item."""

    similar_wanted = Signal(int)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "waypoints")
        self._items: Sequence[int] = range(0)  # those in the table; all of them are a range
        self._found_name = ""  # what chose the rows that are shown, "" for a search or all
        self._chosen: ListedText | None = None
        self._make_widgets()
        bar = Flow(self.find_field, self.count, self.all_link, None, ColumnsButton(self.table))
        self._table_stack = MaybeEmpty("search", self.table)
        self._below = below(self.panel, row((self.values, 1), self.copy_button, self.similar_button, gap=MEDIUM))
        self.lay_out(boxed(column((self._table_stack, 1), self._below, gap=0)), bar)

    def show_items(self, items: Sequence[int], name: str) -> None:
        """Show these texts alone, in this order; `name` says what chose them. A search, or “Show all”, ends it."""
        self.find_field.reset()
        self.tasks.cancel("find")
        self._show_found(items, name)
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)  # the widget that was clicked is hidden now

    def show_all(self) -> None:
        self.show_items(self._all(), "")

    def row_choices(self) -> tuple[RowChoice, ...]:
        found = self._found_name or self.tr("“{text}”").format(text=self.find_field.text())
        return row_choices(
            (found, self._items if not isinstance(self._items, range) else ()),
            several_selected([self.rows.row(index).text.item_no for index in self.table.selected_rows()]),
            proposed=self._found_name,
        )

    # Making

    def _make_widgets(self) -> None:
        self.count = Label("", "quiet")
        self.all_link = LinkButton(self.tr("Show all"), "x", self.show_all)
        self.all_link.hide()
        self.table = TableView("vectors/texts", self.tr("Texts"), on_picked=self._picked)
        self.table.opened.connect(lambda _: self._want_similar())
        self.rows: PagedRows[ListedText] = PagedRows((), count=0, fetch=self._fetch)
        self.panel = TextPanel()
        self.values = ElidedLabel("", "quiet")
        self.copy_button = LinkButton(self.tr("Copy vector"), "copy", self.copy_vector)
        self.similar_button = LinkButton(self.tr("Texts like this"), "search", self._want_similar)
        self.find_field = self.add_search(self.tr("Find in texts and ids"), self.table, self.panel)

    # Reading

    def clear(self) -> None:
        self.find_field.reset()
        self._items, self._chosen, self._found_name = range(0), None, ""
        self.rows.refresh(0)
        self.all_link.hide()

    def arrived(self, *, is_first: bool) -> None:
        read = self.vectors_read
        if read is None:
            return
        if isinstance(self._items, range):
            self._items = self._all()
        if is_first:
            embeddings = read.embeddings
            columns = vector_columns(embeddings.columns(), with_ids=embeddings.has_ids, labelled=read.labelled)
            self.rows = PagedRows(columns, count=len(self._items), fetch=self._fetch, parent=self)
            self.table.show_rows(self.rows)
        self._show_found(self._items, self._found_name)
        self.stack.show_content()
        self.tasks.start("check", self._check())

    def _all(self) -> range:
        return range(1, self.embeddings.count + 1)

    def _fetch(self, start: int, stop: int) -> Sequence[ListedText]:
        return tuple(ListedText(text) for text in self.texts(self._items[start:stop]))

    async def find_text(self, text: str) -> None:
        if self.vectors_read is not None:
            self._show_found(await in_thread(self.embeddings.find, text) if text else self._all())

    def _show_found(self, found: Sequence[int], name: str = "") -> None:
        self._items, self._found_name = found, name
        scrolled, chosen = self.table.verticalScrollBar().value(), self._chosen
        self.rows.refresh(len(found))
        self._below.setVisible(bool(found))
        if found:
            item_no = chosen.text.item_no if chosen is not None else 0
            self.table.selectRow(found.index(item_no) if item_no in found else 0)
            self.table.verticalScrollBar().setValue(scrolled)
            self._table_stack.show_content()
        else:
            self._table_stack.show_sentence(self.tr("No text has “{text}” in it.").format(text=self.find_field.text()))
        self._show_count()

    async def _check(self) -> None:
        with self.waiting(self.tr("Looking at the vectors…")):
            sentence, is_well = checks_line(await in_thread(self.embeddings.checks))
        if is_practice(self.job):
            sentence += " · " + self.tr("practice, not {model}").format(model=short_model(self.job))
        icon = ("circle-check", "done") if is_well else ("triangle-alert", "attention")
        self.foot.set_line(sentence, *icon)

    # Showing

    def copy_vector(self) -> None:
        """All numbers as a JSON array, each in the shortest form that reads back as the same float32."""
        vector = self.embeddings.vector(self._chosen.text.item_no) if self._chosen is not None else None
        if vector is not None:
            QGuiApplication.clipboard().setText(vector_texts(vector[None, :])[0].decode())

    def _want_similar(self) -> None:
        if self._chosen is not None and self.similar_button.isEnabled():
            self.similar_wanted.emit(self._chosen.text.item_no)

    def _picked(self, index: int) -> None:
        chosen = self.rows.row(index)
        if chosen == self._chosen:
            return
        self._chosen, text = chosen, chosen.text
        self.panel.show_text(
            self.tr("Row {n}").format(n=figures.number(text.row)),
            text.text,
            about=" · ".join(filter(None, (text.id, text.label))),
            problem=status_words(text.status, text.error),
            rest=named_cells(self.embeddings.columns(), text.cells, text.text, text.label),
        )
        vector = self.embeddings.vector(text.item_no)
        for button in (self.copy_button, self.similar_button):
            button.setEnabled(vector is not None)
        self.values.setText(self.tr("No vector") if vector is None else _first_values(vector))

    def _show_count(self) -> None:
        read = self.vectors_read
        if read is None:
            return
        self.all_link.setVisible(bool(self._found_name))
        of, pattern, number = read.embeddings.count, self.tr("{n} of {total} texts"), len(self._items)
        words = figures.plural(of, "{n} text", "{n} texts")
        if not isinstance(self._items, range):
            words = pattern.format(n=figures.number(number), total=figures.number(of))
        elif read.done < of:
            pattern = self.tr("{n} of {total} texts have a vector")
            words = pattern.format(n=figures.number(read.done), total=figures.number(of))
        self.count.setText(" · ".join(filter(None, (words, figures.one_line(self._found_name, 60)))))


def _first_values(vector: NDArray[np.float32]) -> str:
    values = [score_text(value) for value in vector[:_VALUES].tolist()]
    if len(vector) > _VALUES:
        values.append(tr("… {n} more").format(n=figures.number(len(vector) - _VALUES)))
    return " · ".join(values)  # a comma is the decimal sign of many languages


_MOST = 100


class SearchView(VectorPage):
    """Finds what is most like a text of one's own, by one request, which is billed, or like a text of the job, by its
    vector.
    """

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "search")
        self._vector: NDArray[np.float32] | None = None
        self._asked = ""
        self._wanted: tuple[Job, int] | None = None  # an item whose like is to be found once its job is read
        self._make_widgets()
        ask = column(row((self.sentence, 1), self.button), self.price, gap=TINY, margins=(0, SMALL, MEDIUM, SMALL))
        self.lay_out(self.found, ask)

    def clear(self) -> None:
        self._vector, self._asked = None, ""
        self.sentence.clear()

    def arrived(self, *, is_first: bool) -> None:
        self._show_price()
        if self._wanted is not None and self._wanted[0].id == self.job.id:
            self.show_like(*self._wanted)
        elif self._vector is not None:
            self.tasks.start("compare", self._compare(self._vector))
        elif is_first:
            self.say(self.tr("The texts that are most like yours will stand here, the most similar first."))

    def show_like(self, job: Job, item_no: int) -> None:
        """The neighbours of a text of a job; nothing is sent."""
        self._wanted = (job, item_no)
        if self.vectors_read is not None and job.id == self.job.id:
            self._wanted = None
            self.tasks.start("compare", self._show_nearest(item_no))

    def row_choices(self) -> tuple[RowChoice, ...]:
        if self.is_empty():
            return ()
        return row_choices((self.found.name, self.found.all_items()), self.found.selected(), proposed=self.found.name)

    # Making

    def _make_widgets(self) -> None:
        self.sentence = QLineEdit()
        self.sentence.setMaxLength(LONGEST)
        self.sentence.setAccessibleName(self.tr("A text to look for"))
        self.sentence.setPlaceholderText(self.tr("Type a question, a sentence or a few words, in any language"))
        self.sentence.textChanged.connect(self._show_price)
        self.sentence.returnPressed.connect(self.search)
        self.button = PrimaryButton(self.tr("Search"), "search", self.search)
        self.button.setProperty("large", "true")
        self.sentence.setMinimumHeight(scaled(34))
        self.price = IconLine("", wrap=True)
        columns = (row_column(), text_column(), id_column(width=110), similarity_column(width=170, bar=True))
        self.found = TextList(self, "vectors/similar", self.tr("Similar texts"), columns=columns)
        self.found.opened.connect(lambda item_no: self.show_like(self.job, item_no))

    # Searching

    def search(self) -> None:
        """Request the vector of the sentence, unless it was requested last, then compare."""
        text = self.sentence.text().strip()
        if not self.button.isEnabled():
            return
        if text == self._asked and self._vector is not None:
            self.tasks.start("compare", self._compare(self._vector))
        elif not self.tasks.is_running("ask"):
            self.tasks.start("ask", self._ask(text))

    async def _ask(self, text: str) -> None:
        title = connection_title(self.program, self.job)
        self.button.set_possible(self.tr("The text is on its way."))
        self.foot.set_line(self.tr("Asking {title}…").format(title=title_words(title)), "loader")
        try:
            client = self.program.address_book.client(self.job.connection)
            self._vector = await embed_sentence(client, self.job, self.embeddings, text)
            self._asked = text
        finally:
            self._show_price()
            self.show_foot()
        await self._compare(self._vector)

    async def _compare(self, vector: NDArray[np.float32]) -> None:
        with self.waiting(self.tr("Comparing…")):
            found = await in_thread(nearest_to, self.embeddings, vector, _MOST)
        name = self.tr("Most like “{text}”").format(text=figures.one_line(self._asked, 90))
        self.found.show_found(found, name=name)
        self._show_list()

    async def _show_nearest(self, item_no: int) -> None:
        with self.waiting(self.tr("Comparing…")):
            await self.found.show_nearest(item_no)
        self._show_list()

    def _show_list(self) -> None:
        self.stack.show_content()
        self.show_foot(self.tr("Open a text with Enter or a double click to find what is like it; that sends nothing."))

    # Showing

    def _show_price(self) -> None:
        text = self.sentence.text().strip()
        if self.vectors_read is None:
            return
        self.button.set_possible("" if text else self.tr("Type a text first."))
        job = self.job
        if is_practice(job):
            self.price.set_line(
                self.tr("Asks the practice service on this computer: one request, which costs nothing.")
            )
            return
        low, high = tokens_lower(text), tokens_upper(text)
        amount = self.tr("{low} to {high} tokens").format(low=figures.number(low), high=figures.number(high))
        self.price.set_line(
            self.tr("Sends this text to {title}, {model}: one request{amount}, billed like any other.").format(
                title=title_words(connection_title(self.program, job)),
                model=short_model(job),
                amount=f", {amount}" if text else "",
            )
        )
