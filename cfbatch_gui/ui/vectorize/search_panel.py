"""A search in the index, as a site would make it: a sentence, ten results, and how many an exact search finds too."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QStackedWidget, QWidget

from cfbatch_gui.core.results.nearest import LONGEST
from cfbatch_gui.core.vectorize.push_values import Hit, SearchResult
from cfbatch_gui.core.vectorize.vectorize import TOP_K
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.tables.table_header import HEADER_HEIGHT
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import Memory, TableView
from cfbatch_gui.ui.theme import ROW_HEIGHT, SMALL, scaled
from cfbatch_gui.ui.widgets import Card, EmptyPlace, Flow, Label, PrimaryButton, Sentence, boxed, row

_LEAST_ROWS = 4


class SearchPanel(Card):
    """`search_wanted` is emitted by the button and by Enter, when there is a sentence."""

    search_wanted = Signal()

    def __init__(self, *, memory: Memory | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._is_busy = False
        self.price = Sentence("", "quiet")
        self.sentence = QLineEdit()
        self.sentence.setMaxLength(LONGEST)
        self.sentence.setAccessibleName(self.tr("A sentence to look for in the index"))
        self.sentence.setPlaceholderText(self.tr("Type what a visitor of your site would type"))
        self.sentence.setMinimumHeight(scaled(30))
        self.sentence.textChanged.connect(lambda _: self._show_possible())
        self.sentence.returnPressed.connect(self._search)
        self.button = PrimaryButton(self.tr("Search"))
        self.button.clicked.connect(self._search)
        self.found: Rows[Hit] = Rows(self._columns(), key=lambda each: each.id, parent=self)
        self.table = TableView("vectorize/found", memory=memory, inset=True)
        self.table.setAccessibleName(self.tr("Found in the index"))
        self.table.show_rows(self.found)
        self.empty = EmptyPlace("search", "")
        self._body = QStackedWidget()
        self._body.addWidget(self.empty)
        self._body.addWidget(self.table)
        self._body.setMinimumHeight(scaled(HEADER_HEIGHT) + _LEAST_ROWS * scaled(ROW_HEIGHT))
        ask = row(self.sentence, self.button)
        ask.setStretch(0, 1)
        self.body.addWidget(boxed(Flow(Label(self.tr("Try a search"), "strong"), self.price, gap=SMALL)))
        self.body.addLayout(ask)
        self.body.addWidget(self._body, 1)
        self.clear()

    def clear(self) -> None:
        """Forget what was searched for."""
        self.sentence.clear()
        self.found.set_rows(())
        self.show_sentence(
            self.tr("What the index finds will stand here: up to {n} texts with their scores.").format(n=TOP_K)
        )
        self.set_busy(busy=False)

    def text(self) -> str:
        """The sentence to look for."""
        return self.sentence.text().strip()

    def set_busy(self, *, busy: bool) -> None:
        """Say that a search is on its way, or no more."""
        self._is_busy = busy
        self._show_possible()

    def show_price(self, words: str) -> None:
        """Show what a search costs."""
        self.price.setText(words)

    def show_sentence(self, sentence: str) -> None:
        """Show a sentence instead of results."""
        self.empty.set_sentence(sentence)
        self._body.setCurrentWidget(self.empty)

    def show_result(self, result: SearchResult) -> None:
        """Show what was found."""
        self.found.set_rows(result.hits)
        if not result.hits:
            self.show_sentence(
                self.tr("The index found nothing. It may not have taken the vectors in yet; “Check again” tells.")
            )
            return
        self._body.setCurrentWidget(self.table)
        self.table.scrollToTop()

    def _search(self) -> None:
        if self.button.isEnabled():
            self.search_wanted.emit()

    def _show_possible(self) -> None:
        why_not = "" if self.text() else self.tr("Type a sentence first.")
        self.button.set_possible(self.tr("The sentence is on its way.") if self._is_busy else why_not)

    def _columns(self) -> tuple[Column[Hit], ...]:
        other = self.tr("not of this job")
        return (
            Column(
                self.tr("Score"),
                lambda hit: hit.score,
                score_text,
                key="score",
                align="right",
                width=90,
                sortable=False,
                tip=self.tr("As the index computes it, by its own metric."),
            ),
            Column(self.tr("ID"), lambda hit: hit.id, key="id", width=110, least=60, sortable=False),
            Column(
                self.tr("Text"),
                lambda hit: hit.text,
                key="text",
                stretch=True,
                sortable=False,
                text=lambda hit: other if hit.text is None else hit.text,
                colour=lambda hit: "quiet" if hit.text is None else "text",
            ),
        )
