"""The chosen text of a table of vectors: the whole text, its vector's first values, and the texts nearest to it."""

import asyncio

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports.vector_rows import vector_texts
from cfbatch_gui.core.results.nearest import Neighbour, nearest
from cfbatch_gui.core.results.numbers import vector_value_text
from cfbatch_gui.ui import display
from cfbatch_gui.ui.results.ranking_columns import status_words
from cfbatch_gui.ui.results.vector_rows import VectorRow, neighbour_columns
from cfbatch_gui.ui.tables.table_view import Memory, Rows, TableView
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import ElidedLabel, Label, LinkButton, column, row
from cfbatch_gui.ui.widgets.text_panel import TextPanel

_VALUES, _NEIGHBOURS = 5, 25
_RESTING = 0.1  # seconds on a text before its neighbours are looked for


class VectorPanel(QWidget):
    """`opened` brings the item number of a neighbour that is to be shown itself."""

    opened = Signal(int)

    def __init__(self, tasks: Tasks, *, memory: Memory | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._row: VectorRow | None = None
        self._near_of = 0  # the number of the text whose neighbours are shown
        self._vector: NDArray[np.float32] | None = None
        self.text_panel = TextPanel(lines=5)
        self.values = ElidedLabel("", "quiet")
        self.copy_button = LinkButton(self.tr("Copy vector"), "copy")
        self.copy_button.clicked.connect(self.copy_vector)
        self.nearest_title = ElidedLabel("", "strong")
        self._hint = Label(
            self.tr("Similarity is the cosine of two vectors: 1 is the same direction."), "small", wrap=True
        )
        self.neighbours: Rows[Neighbour] = Rows(neighbour_columns(), key=lambda each: each.text.item_no, parent=self)
        self.table = TableView("vectors/neighbours", memory=memory)
        self.table.setAccessibleName(self.tr("Nearest texts"))
        self.table.show_rows(self.neighbours)
        self.table.opened.connect(lambda index: self.opened.emit(self.neighbours.row(index).text.item_no))
        values = row(self.values)
        values.setStretch(0, 1)
        values.addWidget(self.copy_button)
        self.setLayout(
            column(
                column(self.text_panel, values, margins=(MEDIUM, MEDIUM, MEDIUM, SMALL)),
                column(self.nearest_title, self._hint, gap=2, margins=(MEDIUM, SMALL, MEDIUM, 0)),
                self.table,
                gap=0,
            )
        )

    def shows(self, chosen: VectorRow) -> bool:
        """Whether this very row is shown."""
        return chosen == self._row

    def show_row(self, chosen: VectorRow, embeddings: Embeddings) -> None:
        """Show another text; its neighbours follow."""
        self._row, text = chosen, chosen.text
        names = embeddings.columns()
        self.text_panel.show_text(
            self.tr("Row {n}").format(n=display.number(text.row)),
            text.text,
            about=" · ".join(filter(None, (text.id, text.label))),
            problem=status_words(text.status, text.error),
            rest=" · ".join(
                f"{name}: {cell}"
                for name, cell in zip(names, text.cells, strict=True)
                if cell and cell not in (text.text, text.label)
            ),
        )
        self._vector = embeddings.vector(text.item_no)
        self._show_values()
        self.nearest_title.setText(self.tr("Nearest to “{text}”").format(text=display.one_line(text.text, 80)))
        self._tasks.start("neighbours", self._look(embeddings, text.item_no))

    def mark(self, sought: str) -> None:
        """Mark the places of `sought` in the text and in those nearest to it; "" marks none."""
        self.text_panel.mark(sought)
        self.table.mark(sought)

    def items(self) -> tuple[int, ...]:
        """The numbers of the chosen text and of those nearest to it; none before they are found."""
        if self._row is None or self._near_of != self._row.text.item_no:
            return ()
        return (self._near_of, *(each.text.item_no for each in self.neighbours.rows()))

    def copy_vector(self) -> None:
        """All numbers as a JSON array, each in the shortest form that reads back as the same float32."""
        if self._vector is not None:
            QGuiApplication.clipboard().setText(vector_texts(self._vector[None, :])[0].decode())

    async def _look(self, embeddings: Embeddings, item_no: int) -> None:
        await asyncio.sleep(_RESTING)
        found = await asyncio.to_thread(nearest, embeddings, item_no, _NEIGHBOURS)
        self.neighbours.set_rows(found)
        self._near_of = item_no
        self.table.scrollToTop()

    def _show_values(self) -> None:
        self.copy_button.setEnabled(self._vector is not None)
        if self._vector is None:
            self.values.setText(self.tr("No vector"))
            return
        first = ", ".join(vector_value_text(value) for value in self._vector[:_VALUES].tolist())
        more = len(self._vector) - _VALUES
        self.values.setText(
            self.tr("{values}, … {n} more").format(values=first, n=display.number(more)) if more > 0 else first
        )
