"""Embedded texts: the table, the chosen text with its vector and its neighbours, and the checks of all vectors."""

import asyncio
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.rows import vector_texts
from cfbatch_gui.core.results.numbers import score_text
from cfbatch_gui.ui import display
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.loaded_results import named_cells, search_bar, status_words
from cfbatch_gui.ui.results.vector_page import (
    TextList,
    VectorPage,
    VectorRow,
    checks_line,
    read_rows,
    several_selected,
    vector_columns,
)
from cfbatch_gui.ui.state_names import is_practice, short_model
from cfbatch_gui.ui.tables.table_view import PagedRows, TableView, say_too_much
from cfbatch_gui.ui.theme import MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import ElidedLabel, Label, LinkButton, MaybeEmpty, SearchField, column, row, split
from cfbatch_gui.ui.widgets.text_panel import TextPanel

_VALUES = 5
_RESTING = 0.1  # seconds on a text before its neighbours are looked for


class VectorPanel(QWidget):
    """The chosen text with its vector, and the texts nearest to it."""

    def __init__(self, page: VectorPage, *, memory: Memory | None = None) -> None:
        super().__init__()
        self._tasks = page.tasks
        self._row: VectorRow | None = None
        self._vector: NDArray[np.float32] | None = None
        self.text_panel = TextPanel(lines=5)
        self.values = ElidedLabel("", "quiet")
        self.copy_button = LinkButton(self.tr("Copy vector"), "copy", self.copy_vector)
        title = self.tr("Nearest texts")
        self.near = TextList(page, "vectors/neighbours", title, memory=memory, has_panel=False)
        values = row((self.values, 1), self.copy_button)
        above = column(self.text_panel, values, margins=(MEDIUM, MEDIUM, MEDIUM, SMALL))
        self.setLayout(column(above, (self.near, 1), gap=0))

    def shows(self, chosen: VectorRow) -> bool:
        return chosen == self._row

    def show_row(self, chosen: VectorRow, embeddings: Embeddings) -> None:
        self._row, text = chosen, chosen.text
        self.text_panel.show_text(
            self.tr("Row {n}").format(n=display.number(text.row)),
            text.text,
            about=" · ".join(filter(None, (text.id, text.label))),
            problem=status_words(text.status, text.error),
            rest=named_cells(embeddings.columns(), text.cells, text.text, text.label),
        )
        self._vector = embeddings.vector(text.item_no)
        self._show_values()
        self._tasks.start("neighbours", self._look(text.item_no))

    def mark(self, sought: str) -> None:
        self.text_panel.mark(sought)
        self.near.table.mark(sought)

    def items(self) -> tuple[int, ...]:
        is_of_this = self._row is not None and self.near.of == (self._row.text.item_no,)
        return self.near.all_items() if is_of_this else ()

    def copy_vector(self) -> None:
        """All numbers as a JSON array, each in the shortest form that reads back as the same float32."""
        if self._vector is not None:
            QGuiApplication.clipboard().setText(vector_texts(self._vector[None, :])[0].decode())

    async def _look(self, item_no: int) -> None:
        await asyncio.sleep(_RESTING)
        await self.near.show_nearest(item_no)

    def _show_values(self) -> None:
        self.copy_button.setEnabled(self._vector is not None)
        if self._vector is None:
            self.values.setText(self.tr("No vector"))
            return
        first = ", ".join(score_text(value) for value in self._vector[:_VALUES].tolist())
        more = len(self._vector) - _VALUES
        self.values.setText(
            self.tr("{values}, … {n} more").format(values=first, n=display.number(more)) if more > 0 else first
        )


_TYPING = 0.12  # seconds; a search begins when the keys rest
_PANEL_WIDTH = 384
_LEAST_TABLE = 370  # pixels; with less, texts would be an ellipsis


class VectorsView(VectorPage):
    """Reads pages of the table when they are painted, everything else in threads."""

    def __init__(self, program: Program, notices: Notices, *, memory: Memory | None = None) -> None:
        super().__init__(program, notices, "waypoints")
        self._found: tuple[int, ...] | None = None
        self._found_name = ""  # what chose the rows that are shown, "" for a search or all
        self._item_no = 0
        self._asked_for: tuple[tuple[int, ...], str] | None = None  # requested before the rows were read
        self._make_widgets(memory)
        self._lay_out()

    def show_items(self, items: tuple[int, ...], name: str) -> None:
        """Show these texts alone, in this order; `name` says what chose them. A search, or “Show all”, ends it."""
        if self.vectors_read is not None:
            self._clear_search()
            self._show_found(items, name)
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)  # the widget that was clicked is hidden now
        else:
            self._asked_for = (items, name)

    def show_all(self) -> None:
        self._clear_search()
        self._show_found(None)

    def row_choices(self) -> tuple[RowChoice, ...]:
        found = self._found_name or self.tr("“{text}”").format(text=self.find_field.text())
        return row_choices(
            (found, self._found or ()),
            several_selected([self.rows.row(index).text.item_no for index in self.table.selected_rows()]),
            (self.tr("nearest to the chosen text"), self.panel.items()),
            proposed=self._found_name,
        )

    # Making

    def _make_widgets(self, memory: Memory | None) -> None:
        self.find_field = SearchField(self.tr("Find in texts and ids"), shortcut=True)
        self.find_field.searched.connect(lambda _: self.tasks.start("find", self._find()))
        self.find_field.textChanged.connect(self._mark)
        self.count = Label("", "quiet")
        self.all_link = LinkButton(self.tr("Show all"), "x", self._all_clicked)
        self.all_link.hide()
        self.panel = VectorPanel(self, memory=memory)
        self.panel.near.opened.connect(self.choose)
        self.table = TableView("vectors/texts", self.tr("Texts"), memory=memory, on_picked=self._picked)
        self.table.too_much_to_copy.connect(partial(say_too_much, self.notices))
        self.rows: PagedRows[VectorRow] = PagedRows((), count=0, fetch=self._fetch)

    def _lay_out(self) -> None:
        bar = search_bar(self.find_field, (self.count, self.all_link), self.table)
        self._table_stack = MaybeEmpty("search", self.table)
        self._table_stack.setMinimumWidth(scaled(_LEAST_TABLE))
        sizes = (1000 - _PANEL_WIDTH, _PANEL_WIDTH)
        self.lay_out_content(split(self._table_stack, self.panel, sizes=sizes, stretched=0), bar=bar)

    # Reading

    def clear(self) -> None:
        self._clear_search()
        self._table_stack.show_content()
        self._found, self._item_no = None, 0
        self._found_name, self._asked_for = "", None
        self.all_link.hide()

    def arrived(self, *, is_first: bool) -> None:
        read = self.vectors_read
        if read is None:
            return
        if is_first:
            embeddings = read.embeddings
            columns = vector_columns(embeddings.columns(), with_ids=embeddings.has_ids, labelled=read.labelled)
            self.rows = PagedRows(columns, count=embeddings.count, fetch=self._fetch, parent=self)
            self.table.show_rows(self.rows)
            self.table.selectRow(0)
        else:
            self._refresh(self._shown_count())
        if self._asked_for is not None:
            (items, name), self._asked_for = self._asked_for, None
            self._show_found(items, name)
        elif is_first and self.find_field.text():
            self.tasks.start("find", self._find())
        self._show_count()
        self.foot.set_line(self.tr("Looking at the vectors…"), "hourglass")
        self.tasks.start("check", self._check(self.job, read.embeddings))

    def _refresh(self, count: int) -> None:
        scrolled, item_no = self.table.verticalScrollBar().value(), self._item_no
        self.rows.refresh(count)
        index = self._index_of(item_no)
        if count:
            self.table.selectRow(index if 0 <= index < count else 0)
            self.table.verticalScrollBar().setValue(scrolled)

    def _shown_count(self) -> int:
        if self._found is not None:
            return len(self._found)
        return self.vectors_read.embeddings.count if self.vectors_read is not None else 0

    def _index_of(self, item_no: int) -> int:
        if self._found is None:
            return item_no - 1
        return self._found.index(item_no) if item_no in self._found else -1

    def _fetch(self, start: int, stop: int) -> Sequence[VectorRow]:
        if self.vectors_read is None:
            return ()
        items = range(start + 1, stop + 1) if self._found is None else self._found[start:stop]
        return read_rows(self.vectors_read.embeddings, self.texts(items))

    async def _find(self) -> None:
        await asyncio.sleep(_TYPING)
        text = self.find_field.text()
        if self.vectors_read is None:
            return
        found = await asyncio.to_thread(self.vectors_read.embeddings.find, text) if text else None
        self._show_found(found)

    def _show_found(self, found: tuple[int, ...] | None, name: str = "") -> None:
        if self.vectors_read is None:
            return
        self._found, self._found_name = found, name
        count = self._shown_count()
        self._refresh(count)
        if count:
            self._table_stack.show_content()
        else:
            self._table_stack.show_sentence(self.tr("No text has “{text}” in it.").format(text=self.find_field.text()))
        self._show_count()

    def _mark(self, sought: str) -> None:
        self.table.mark(sought)
        self.panel.mark(sought)

    def _clear_search(self) -> None:
        self.tasks.cancel("find")
        self.find_field.reset()
        self._mark("")

    async def _check(self, job: Job, embeddings: Embeddings) -> None:
        checks = await asyncio.to_thread(embeddings.checks)
        sentence, is_well = checks_line(checks)
        if is_practice(job):
            sentence += " · " + self.tr("practice, not {model}").format(model=short_model(job))
        self.foot.set_line(
            sentence, "circle-check" if is_well else "triangle-alert", "done" if is_well else "attention"
        )

    # Showing

    def choose(self, item_no: int) -> None:
        if self._index_of(item_no) < 0:
            self.show_all()
        index = self._index_of(item_no)
        if 0 <= index < self.rows.rowCount():
            self.table.selectRow(index)
            self.table.scrollTo(self.rows.index(index, 0))

    def _all_clicked(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)  # the link is about to be hidden
        self.show_all()

    def _picked(self, index: int) -> None:
        if self.vectors_read is None:
            return
        chosen = self.rows.row(index)
        if chosen.text.item_no == self._item_no and self.panel.shows(chosen):
            return
        self._item_no = chosen.text.item_no
        self.panel.show_row(chosen, self.vectors_read.embeddings)

    def _show_count(self) -> None:
        if self.vectors_read is None:
            return
        self.all_link.setVisible(bool(self._found_name))
        total = display.number(self.vectors_read.embeddings.count)
        if self._found is not None:
            pattern, number = self.tr("{n} of {total} texts"), len(self._found)
            if self._found_name:
                self.count.setText(
                    pattern.format(n=display.number(number), total=total)
                    + f" · {display.one_line(self._found_name, 60)}"
                )
                return
        elif self.vectors_read.done < self.vectors_read.embeddings.count:
            pattern, number = self.tr("{n} of {total} texts have a vector"), self.vectors_read.done
        else:
            self.count.setText(display.plural(self.vectors_read.embeddings.count, "{n} text", "{n} texts"))
            return
        self.count.setText(pattern.format(n=display.number(number), total=total))
