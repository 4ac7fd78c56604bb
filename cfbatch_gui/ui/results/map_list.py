"""The list under a map: the texts nearest to the chosen one, or those that a lasso or a search has selected."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.nearest import Neighbour, nearest
from cfbatch_gui.ui import display
from cfbatch_gui.ui.results.vector_rows import VectorRow, blank_rows, item_columns, neighbour_columns
from cfbatch_gui.ui.tables.table_view import Memory, PagedRows, Rows, TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import SMALL, TINY, WIDE
from cfbatch_gui.ui.widgets import ElidedLabel, IconButton, LinkButton, column, row

_NEIGHBOURS = 25


class MapList(QWidget):
    """`opened` brings an item number; `rows_wanted` item numbers and their name, for the table of all texts."""

    opened = Signal(int)
    rows_wanted = Signal(object, str)
    closed = Signal()

    def __init__(self, tasks: Tasks, *, memory: Memory | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._embeddings: Embeddings | None = None
        self._items: tuple[int, ...] = ()
        self._name = ""
        self.title = ElidedLabel("", "strong")
        self.table_link = LinkButton(self.tr("Show in table"), "table")
        self.table_link.clicked.connect(lambda: self.rows_wanted.emit(self._items, self._name))
        close = IconButton("x", self.tr("Close the list"))
        close.clicked.connect(self.closed)
        self.neighbours: Rows[Neighbour] = Rows(neighbour_columns(), key=lambda each: each.text.item_no, parent=self)
        self._near = near = TableView("vectors/near", memory=memory)
        near.setAccessibleName(self.tr("Nearest texts"))
        near.show_rows(self.neighbours)
        near.opened.connect(lambda index: self.opened.emit(self.neighbours.row(index).text.item_no))
        self.rows: PagedRows[VectorRow] = PagedRows(item_columns(), count=0, fetch=self._fetch, parent=self)
        self._chosen = items = TableView("vectors/chosen", memory=memory)
        items.setAccessibleName(self.tr("Chosen texts"))
        items.show_rows(self.rows)
        items.opened.connect(lambda index: self.opened.emit(self.rows.row(index).text.item_no))
        self._stack = QStackedWidget()
        self._stack.addWidget(near)
        self._stack.addWidget(items)
        head = row(self.title, self.table_link, close, gap=SMALL, margins=(WIDE, TINY, SMALL, TINY))
        head.setStretch(0, 1)
        content = column(head, gap=0)
        content.addWidget(self._stack, 1)
        self.setLayout(content)
        self.setMinimumHeight(160)
        self.hide()

    def show_neighbours(self, embeddings: Embeddings, item_no: int) -> None:
        """Show the texts nearest to this item."""
        self._tasks.start("near", self._look(embeddings, item_no))

    def show_items(self, embeddings: Embeddings, items: NDArray[np.int64], name: str) -> None:
        """Show these texts; `name` says what selected them."""
        self._tasks.cancel("near")
        self._embeddings, self._items, self._name = embeddings, tuple(items.tolist()), name
        count = display.plural(len(items), "{n} text", "{n} texts")
        self.title.setText(f"{count} · {name}")
        self.rows.refresh(len(items))
        self._stack.setCurrentIndex(1)
        self.show()

    def name(self) -> str:
        """What selected the texts."""
        return self._name

    def items(self) -> tuple[int, ...]:
        """The item numbers of the texts in the list."""
        return self._items

    def mark(self, sought: str) -> None:
        """Mark the places of `sought` in the texts; "" marks none."""
        self._near.mark(sought)
        self._chosen.mark(sought)

    def selected(self) -> tuple[int, ...]:
        """The item numbers of the rows that are selected in the list."""
        if self._stack.currentWidget() is self._near:
            return tuple(self.neighbours.row(index).text.item_no for index in self._near.selected_rows())
        return tuple(self.rows.row(index).text.item_no for index in self._chosen.selected_rows())

    async def _look(self, embeddings: Embeddings, item_no: int) -> None:
        (asked,) = embeddings.texts([item_no])
        found = await asyncio.to_thread(nearest, embeddings, item_no, _NEIGHBOURS)
        self.neighbours.set_rows(found)
        name = display.one_line(asked.text, 80)
        self._items = (item_no, *(each.text.item_no for each in found))
        self._name = self.tr("Nearest to “{text}”").format(text=name)
        self.title.setText(self._name)
        self._stack.setCurrentIndex(0)
        self.show()

    def _fetch(self, start: int, stop: int) -> Sequence[VectorRow]:
        if self._embeddings is None:
            return ()
        try:
            return tuple(VectorRow(text, None) for text in self._embeddings.texts(self._items[start:stop]))
        except UserError:  # raised while painting; the table of all texts shows why
            return blank_rows(start, stop)
