"""The columns of a comparison's tables."""

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.evaluation.moves import QueryMoves
from cfbatch_gui.core.results.numbers import score_text
from cfbatch_gui.ui import words
from cfbatch_gui.ui.tables.rows import Column

_FOUR_DIGITS = 16  # pixels that "1,000" needs more than "100"


@dataclass(frozen=True, slots=True)
class TextMove:
    """A text of one query, in the first job and in the other."""

    place: int  # in the first job's table, for good
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


def change_words(change: int) -> str:
    """How far it rose or fell: "↑ 2", "↓ 1", "–"."""
    return f"↑ {change:,}" if change > 0 else f"↓ {-change:,}" if change < 0 else "–"


def query_columns(moves: QueryMoves, top_k: int) -> tuple[Column[int], ...]:
    """Query, texts, both overlaps, the largest change; a row is a place in `moves`."""
    return (
        Column(_tr("Query"), lambda place: moves.queries[place].text, key="query", stretch=True),
        Column(
            _tr("Texts"),
            lambda place: int(moves.contexts[place]),
            words.number,
            key="texts",
            align="right",
            width=56,
            hidden=True,
        ),
        Column(
            _tr("Overlap"),
            lambda place: float(moves.rbo[place]),
            score_text,
            key="rbo",
            align="right",
            width=74,
            tip=_tr("Rank-biased overlap with p = 0.9: 1 is the same ranking, less the higher up two differ."),
        ),
        Column(
            _tr("Top {k}").format(k=top_k),
            lambda place: float(moves.top[place]),
            score_text,
            key="top",
            align="right",
            width=72,
            tip=_tr("How much of the first texts is the same in both: 1 is all of them."),
        ),
        Column(
            _tr("Moved"),
            lambda place: int(moves.largest_change[place]),
            words.number,
            key="moved",
            align="right",
            width=64,
            tip=_tr("The most ranks by which a text has risen or fallen."),
        ),
        Column(_tr("ID"), lambda place: moves.queries[place].id, key="id", width=90, hidden=True),
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
        Column(_tr("Score A"), lambda row: row.score, score_text, key="score", align="right", width=74),
        Column(
            _tr("Score {letter}").format(letter=letter),
            lambda row: row.other_score,
            score_text,
            key="other score",
            align="right",
            width=74,
        ),
        Column(_tr("ID"), lambda row: row.id, key="id", width=96, hidden=True),
        Column(_tr("Label"), lambda row: row.label, key="label", width=64, hidden=True),
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("comparison", text)
