"""The queries of a comparison at the left, those that moved most first; the texts of the chosen one at the right."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.evaluation.comparison import QueryMoves
from cfbatch_gui.core.results.score_table import QueryTexts
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.evaluation.comparison_figures import Compared, letter
from cfbatch_gui.ui.tables.table_rows import Column, Rows
from cfbatch_gui.ui.tables.table_view import Memory, TableView
from cfbatch_gui.ui.theme import MEDIUM, SMALL, scaled
from cfbatch_gui.ui.widgets import boxed, column, split
from cfbatch_gui.ui.widgets.text_panel import TextPanel

MOST_TEXTS = 5_000  # of one query on the screen at once
_QUERIES_WIDTH = 470
_LEAST_QUERIES, _LEAST_TEXTS = 240, 326  # pixels, all that the smallest window has; texts need them
_FOUR_DIGITS = 16  # pixels that "1,000" needs more than "100"


@dataclass(frozen=True, slots=True)
class TextMove:
    """A text of one query, in the first job and in the other."""

    index: int  # index in the first job's table
    rank: int
    rank_text: str
    other_rank: int
    other_rank_text: str
    score: float
    other_score: float
    change: int
    text: str
    id: str
    label: str


class QueriesTab(QWidget):
    """`queries.picked` brings the row of `queries_model` whose texts `show_texts` should show."""

    def __init__(self, *, memory: Memory | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._letter = ""
        self._queries = QueryTexts()
        self._index = -1
        self.queries = TableView("comparison/queries", memory=memory)
        self.queries.setAccessibleName(self.tr("Queries, those that moved most first"))
        self.queries_model: Rows[int] = Rows(())  # indices of the comparison's queries
        self.texts = TableView("comparison/texts", memory=memory)
        self.texts.setAccessibleName(self.tr("Texts of the query in both jobs"))
        self.texts_model: Rows[TextMove] = Rows(())
        self.panel = TextPanel()
        self.texts.picked.connect(self._show_text)
        self.texts.opened.connect(lambda _: self.panel.unfold())
        right = column(self.texts, gap=0)
        right.addLayout(column(self.panel, margins=(MEDIUM, SMALL, MEDIUM, MEDIUM)))
        self.queries.setMinimumWidth(scaled(_LEAST_QUERIES))
        self.texts.setMinimumWidth(scaled(_LEAST_TEXTS))
        sizes = (_QUERIES_WIDTH, 1000 - _QUERIES_WIDTH)
        self.setLayout(column(split(self.queries, boxed(right), sizes=sizes, stretched=1)))

    def show_moves(self, compared: Compared, other: int) -> None:
        """The queries of the first job and number `other`; the first of them is chosen."""
        moves = compared.moves[other - 1]
        self._queries = moves.queries
        before = self.queries_model
        self.queries_model = Rows(
            query_columns(moves, compared.top_k), compared.orders[other - 1], key=int, parent=self
        )
        self.queries.show_rows(self.queries_model)
        before.deleteLater()
        before_texts = self.texts_model
        self.texts_model = Rows(
            text_columns(letter(other), most=int(moves.contexts.max())), key=lambda row: row.index, parent=self
        )
        self.texts.show_rows(self.texts_model)
        before_texts.deleteLater()
        self._letter = letter(other)
        self.queries.selectRow(0)

    def show_texts(self, rows: Sequence[TextMove]) -> None:
        """Show the texts of the chosen query; the selected one stays selected if it is there, else the first is."""
        indices = [row.index for row in rows]
        self.texts_model.set_rows(rows)
        if rows:
            shown = self.texts_model.index_of(rows[indices.index(self._index)]) if self._index in indices else 0
            self.texts.selectRow(shown)
            self._show_text(shown)

    def selected(self) -> tuple[int, ...]:
        """The indices of the selected queries in the comparison."""
        return tuple(self.queries_model.row(index) for index in self.queries.selected_rows())

    def query_no(self) -> int:
        """The number of the chosen query in the first job's data, 0 for none."""
        at = self.queries.currentIndex().row()
        return self._queries[self.queries_model.row(at)].number if 0 <= at < self.queries_model.rowCount() else 0

    def choose_number(self, query_no: int) -> None:
        """Choose a query by its number in the first job's data, if it is there."""
        at = bisect_left(self._queries, query_no, key=lambda query: query.number)
        if at < len(self._queries) and self._queries[at].number == query_no:
            self.choose(at)

    def choose(self, index: int) -> None:
        """Choose a query by its index in the comparison."""
        at = self.queries_model.index_of(index)
        self.queries.selectRow(at)
        self.queries.scrollTo(self.queries_model.index(at, 0))

    def _show_text(self, index: int) -> None:
        row = self.texts_model.row(index)
        self._index = row.index
        heading = self.tr("Rank {rank} in A, {other} in {letter}").format(
            rank=row.rank_text, other=row.other_rank_text, letter=self._letter
        )
        label = self.tr("label {label}").format(label=row.label) if row.label else ""
        self.panel.show_text(heading, row.text, about=" · ".join(filter(None, (row.id, label))))


def read_texts(compared: Compared, other: int, query: int) -> tuple[TextMove, ...]:
    """The texts of one query, best in the first job first. Blocking. Raises DataError."""
    comparison = compared.comparison
    pairs = comparison.of_query(query)[:MOST_TEXTS]
    indices = comparison.indices[0][pairs].tolist()
    texts = comparison.runs[0].texts(indices)
    first, second = (comparison.ranks[number].part(pairs) for number in (0, other))
    first_texts, second_texts = first.texts(), second.texts()
    scores, other_scores = comparison.scores[0][pairs].tolist(), comparison.scores[other][pairs].tolist()
    changes = comparison.changes(other)[pairs].tolist()
    return tuple(
        TextMove(
            index=index,
            rank=int(first.rank[at]),
            rank_text=first_texts[at],
            other_rank=int(second.rank[at]),
            other_rank_text=second_texts[at],
            score=scores[at],
            other_score=other_scores[at],
            change=changes[at],
            text=texts[index].text,
            id=texts[index].id,
            label=texts[index].label,
        )
        for at, index in enumerate(indices)
    )


def query_columns(moves: QueryMoves, top_k: int) -> tuple[Column[int], ...]:
    """Query, texts, both overlaps, the largest change; a row is an index into `moves`."""
    return (
        Column(_tr("Query"), lambda index: moves.queries[index].text, key="query", stretch=True),
        Column(
            _tr("Texts"),
            lambda index: int(moves.contexts[index]),
            display.number,
            key="texts",
            align="right",
            width=56,
            hidden=True,
        ),
        Column(
            _tr("Overlap"),
            lambda index: float(moves.rbo[index]),
            score_text,
            key="rbo",
            align="right",
            width=74,
            tip=_tr("Rank-biased overlap with p = 0.9: 1 is the same ranking, less the higher up two differ."),
        ),
        Column(
            _tr("Top {k}").format(k=top_k),
            lambda index: float(moves.top[index]),
            score_text,
            key="top",
            align="right",
            width=72,
            gives_way=True,
            tip=_tr("How much of the first texts is the same in both: 1 is all of them."),
        ),
        Column(
            _tr("Moved"),
            lambda index: int(moves.largest_change[index]),
            display.number,
            key="moved",
            align="right",
            width=64,
            tip=_tr("The most ranks by which a text has risen or fallen."),
        ),
        Column(_tr("ID"), lambda index: moves.queries[index].id, key="id", width=90, hidden=True),
    )


def text_columns(letter: str, *, most: int = 0) -> tuple[Column[TextMove], ...]:
    """Ranks and scores in both jobs; `letter` is that of the other, no query has more than `most` texts."""
    wider = _FOUR_DIGITS if most >= 1_000 else 0
    return (
        Column(
            "# A", lambda row: row.rank, text=lambda row: row.rank_text, key="rank", align="right", width=48 + wider
        ),
        Column(
            f"# {letter}",
            lambda row: row.other_rank,
            text=lambda row: row.other_rank_text,
            key="other rank",
            align="right",
            width=48 + wider,
        ),
        Column(
            _tr("Moved"),
            lambda row: row.change,
            change_words,
            key="moved",
            width=62 + wider,
            colour=lambda row: "text" if row.change else "quiet",
            tip=_tr("How many ranks it rose or fell from job A to the other."),
        ),
        Column(_tr("Text"), lambda row: row.text, key="text", stretch=True),
        Column(_tr("Score A"), lambda row: row.score, score_text, key="score", align="right", width=74, gives_way=True),
        Column(
            _tr("Score {letter}").format(letter=letter),
            lambda row: row.other_score,
            score_text,
            key="other score",
            align="right",
            width=74,
            gives_way=True,
        ),
        Column(_tr("ID"), lambda row: row.id, key="id", width=96, hidden=True),
        Column(_tr("Label"), lambda row: row.label, key="label", width=64, hidden=True),
    )


def change_words(change: int) -> str:
    """How far it rose or fell: "↑ 2", "↓ 1", "–"."""
    return f"↑ {display.number(change)}" if change > 0 else f"↓ {display.number(-change)}" if change < 0 else "–"


def _tr(text: str) -> str:
    return QCoreApplication.translate("comparison", text)
