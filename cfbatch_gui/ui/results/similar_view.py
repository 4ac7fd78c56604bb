"""Search by a typed sentence: one request gets its vector, the comparison runs on this computer."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QLineEdit

from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.nearest import LONGEST, Neighbour, embed_sentence, nearest_to
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_upper
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.vector_page import (
    VectorPage,
    id_column,
    item_no_of,
    row_column,
    selected_items,
    show_whole,
    table_over_text,
    text_column,
)
from cfbatch_gui.ui.state_names import connection_title, is_practice, short_model, title_words
from cfbatch_gui.ui.tables.table_view import Column, Rows, TableView
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    ElidedLabel,
    IconLine,
    LinkButton,
    MaybeEmpty,
    PrimaryButton,
    boxed,
    column,
    line,
    row,
)
from cfbatch_gui.ui.widgets.text_panel import TextPanel

_MOST = 100


class SimilarView(VectorPage):
    """Pressing the button sends one request, which is billed; nothing else is sent."""

    def __init__(self, program: Program, notices: Notices, *, memory: Memory | None = None) -> None:
        super().__init__(program, notices, "search")
        self._vector: NDArray[np.float32] | None = None
        self._asked = ""
        self._make_widgets(memory)
        self._lay_out()

    def clear(self) -> None:
        self._vector, self._asked = None, ""
        self.sentence.clear()
        self._show_found(())

    def arrived(self, *, is_first: bool) -> None:
        self._show_price()
        self.show_foot(self.tr("Similarity is the cosine of two vectors: 1 is the same direction."))
        if self._vector is not None:
            self.tasks.start("compare", self._compare(self._vector))

    def row_choices(self) -> tuple[RowChoice, ...]:
        found = [each.text.item_no for each in self.found.rows()]
        name = self.title.whole_text()
        return row_choices((name, found), selected_items(self.table, self.found), proposed=name)

    # Making

    def _make_widgets(self, memory: Memory | None) -> None:
        self.sentence = QLineEdit()
        self.sentence.setMaxLength(LONGEST)
        self.sentence.setAccessibleName(self.tr("A sentence to look for"))
        self.sentence.setPlaceholderText(self.tr("Type a question, a sentence or a few words, in any language"))
        self.sentence.textChanged.connect(self._show_price)
        self.sentence.returnPressed.connect(self.search)
        self.button = PrimaryButton(self.tr("Find similar"), "search", self.search)
        self.button.setProperty("large", "true")
        self.sentence.setMinimumHeight(scaled(34))
        self.price = IconLine("", wrap=True)
        self.title = ElidedLabel("", "strong")
        self.table_link = LinkButton(self.tr("Show in table"), "table", self._show_in_table)
        similarity: Column[Neighbour] = Column(
            self.tr("Similarity"),
            lambda each: each.similarity,
            score_text,
            key="similarity",
            width=170,
            bar=lambda each: max(0.0, each.similarity),
            tip=self.tr("The cosine of both vectors: 1 is the same direction. The bar begins at 0 and ends at 1."),
        )
        columns = (row_column(), text_column(), id_column(width=110), similarity)
        self.found: Rows[Neighbour] = Rows(columns, key=item_no_of, parent=self)
        title = self.tr("Similar texts")
        self.table = TableView("vectors/similar", title, self.found, memory=memory, on_picked=self._picked)
        self.panel = TextPanel(lines=4)

    def _lay_out(self) -> None:
        ask = column(row((self.sentence, 1), self.button), self.price, gap=TINY, margins=(WIDE, LARGE, WIDE, MEDIUM))
        head = row((self.title, 1), self.table_link, margins=(WIDE, SMALL, MEDIUM, SMALL))
        table = table_over_text(self.table, self.panel, margin=LARGE)
        self._body = MaybeEmpty("search", boxed(column(head, (table, 1), gap=0)))
        self.lay_out_content(boxed(column(ask, line(), (self._body, 1), gap=0)))
        self._show_found(())

    # Searching

    def search(self) -> None:
        """Request the vector of the sentence, unless it was requested last, then compare."""
        text = self.sentence.text().strip()
        if not self.button.isEnabled() or self.embeddings is None:
            return
        if text == self._asked and self._vector is not None:
            self.tasks.start("compare", self._compare(self._vector))
        elif not self.tasks.is_running("ask"):
            self.tasks.start("ask", self._ask(text))

    async def _ask(self, text: str) -> None:
        embeddings, job = self.embeddings, self.job
        if embeddings is None:
            return
        self.button.set_possible(self.tr("The sentence is on its way."))
        self.foot.set_line(
            self.tr("Asking {title}…").format(title=title_words(connection_title(self.program, job))), "loader"
        )
        try:
            client = self.program.address_book.client(job.connection)
            metadata = metadata_of(job, connection_title(self.program, job))
            self._vector = await embed_sentence(client, metadata, embeddings, text)
            self._asked = text
        finally:
            self._show_price()
            self.show_foot()
        await self._compare(self._vector)

    async def _compare(self, vector: NDArray[np.float32]) -> None:
        embeddings = self.embeddings
        if embeddings is None:
            return
        found = await asyncio.to_thread(nearest_to, embeddings, vector, _MOST)
        self.title.setText(self.tr("Most similar to “{text}”").format(text=display.one_line(self._asked, 90)))
        self._show_found(found)
        self.show_foot(self.tr("Similarity is the cosine of two vectors: 1 is the same direction."))

    # Showing

    def _show_found(self, found: Sequence[Neighbour]) -> None:
        self.found.set_rows(tuple(found))
        if found:
            self._body.show_content()
            self.table.selectRow(0)
            self.table.scrollToTop()
        else:
            self._body.show_sentence(
                self.tr("The texts that are most like your sentence will stand here, with their similarity.")
            )

    def _picked(self, index: int) -> None:
        if 0 <= index < self.found.rowCount():
            show_whole(self.found.row(index).text, self.panel)

    def _show_in_table(self) -> None:
        items = tuple(each.text.item_no for each in self.found.rows())
        self.rows_wanted.emit(items, self.title.whole_text())

    def _show_price(self) -> None:
        text = self.sentence.text().strip()
        if self.embeddings is None:
            return
        self.button.set_possible("" if text else self.tr("Type a sentence first."))
        job = self.job
        if is_practice(job):
            self.price.set_line(
                self.tr("Asks the practice service on this computer: one request, which costs nothing.")
            )
            return
        low, high = tokens_lower(text), tokens_upper(text)
        amount = self.tr("{low} to {high} tokens").format(low=display.number(low), high=display.number(high))
        self.price.set_line(
            self.tr("Sends this sentence to {title}, {model}: one request{amount}, billed like any other.").format(
                title=title_words(connection_title(self.program, job)),
                model=short_model(job),
                amount=f", {amount}" if text else "",
            )
        )
