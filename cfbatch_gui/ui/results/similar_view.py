"""Search by a typed sentence: one request gets its vector, the comparison runs on this computer."""

import asyncio

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QLineEdit

from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.nearest import LONGEST, embed_sentence, nearest_to
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_upper
from cfbatch_gui.ui import display
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.vector_page import (
    TextList,
    VectorPage,
    id_column,
    row_column,
    similarity_column,
    text_column,
)
from cfbatch_gui.ui.state_names import connection_title, is_practice, short_model, title_words
from cfbatch_gui.ui.theme import LARGE, MEDIUM, TINY, WIDE, scaled
from cfbatch_gui.ui.widgets import IconLine, MaybeEmpty, PrimaryButton, boxed, column, line, row

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
        self._show_nothing()

    def arrived(self, *, is_first: bool) -> None:
        self._show_price()
        self.show_foot(self.tr("Similarity is the cosine of two vectors: 1 is the same direction."))
        if self._vector is not None:
            self.tasks.start("compare", self._compare(self._vector))

    def row_choices(self) -> tuple[RowChoice, ...]:
        return row_choices((self.found.name, self.found.items), self.found.selected(), proposed=self.found.name)

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
        columns = (row_column(), text_column(), id_column(width=110), similarity_column(width=170, bar=True))
        self.found = TextList(self, "vectors/similar", self.tr("Similar texts"), memory=memory, columns=columns)

    def _lay_out(self) -> None:
        ask = column(row((self.sentence, 1), self.button), self.price, gap=TINY, margins=(WIDE, LARGE, WIDE, MEDIUM))
        self._body = MaybeEmpty("search", self.found)
        self.lay_out_content(boxed(column(ask, line(), (self._body, 1), gap=0)))
        self._show_nothing()

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
        self._show_nothing()
        if found:
            name = self.tr("Most similar to “{text}”").format(text=display.one_line(self._asked, 90))
            self.found.show_found(found, name=name)
            self._body.show_content()
        self.show_foot(self.tr("Similarity is the cosine of two vectors: 1 is the same direction."))

    # Showing

    def _show_nothing(self) -> None:
        self.found.show_items(())
        self._body.show_sentence(
            self.tr("The texts that are most like your sentence will stand here, with their similarity.")
        )

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
