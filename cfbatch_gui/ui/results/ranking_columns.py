"""The columns of both tables of a ranking."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.results.outcomes import Status
from cfbatch_gui.core.results.rankings import RankedContext, RankedQuery, rank_text
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.tables.table_rows import Column

_FOUR_DIGITS = 16  # pixels that "1,000" needs more than "100"


@dataclass(frozen=True, slots=True)
class ContextRow:
    """A ranked context and how long its bar is, 0 to 1, on its own query's scale; None without a score."""

    context: RankedContext
    share: float | None


def on_one_scale(contexts: Sequence[RankedContext]) -> tuple[ContextRow, ...]:
    """The contexts with their bars, which begin at a score of 0 and end at 1 for every query."""
    return tuple(
        ContextRow(context, None if context.score is None else min(1.0, max(0.0, context.score)))
        for context in contexts
    )


def status_words(status: Status, why: str) -> str:
    """The words shown instead of a result, with the reason; "" when it is done."""
    word = {
        Status.DONE: "",
        Status.FAILED: _tr("Failed"),
        Status.WAITING: _tr("Not back yet"),
        Status.LEFT_OUT: _tr("Left out"),
        Status.SKIPPED: _tr("Left out"),
    }[status]
    return f"{word}: {said(why)}" if why else word


def change_words(change: int | None) -> str:
    """How far it rose or fell: "↑ 2", "↓ 1", "–"."""
    if change is None:
        return ""
    return f"↑ {display.number(change)}" if change > 0 else f"↓ {display.number(-change)}" if change < 0 else "–"


def query_columns() -> tuple[Column[RankedQuery], ...]:
    """Query, texts, margin."""
    return (
        Column(_tr("Query"), lambda query: query.text, key="query", stretch=True, is_searched=True),
        Column(
            _tr("Texts"),
            lambda query: query.contexts,
            display.number,
            key="texts",
            align="right",
            width=56,
            gives_way=True,
            colour=lambda query: "text" if query.scored == query.contexts else "quiet",
        ),
        Column(
            _tr("Margin"),
            lambda query: query.margin,
            score_text,
            key="margin",
            align="right",
            width=76,
            tip=_tr("How far the first stands before the second. Small margins are close calls."),
        ),
    )


def context_columns(original: Sequence[str], *, most: int = 0) -> tuple[Column[ContextRow], ...]:
    """Rank, score, text, initial rank and change; id, label and the original columns are hidden at first.

    The panel below the table shows all of them for the chosen text. No query has more than `most` contexts.
    """
    wider = _FOUR_DIGITS if most >= 1_000 else 0

    def cell(index: int) -> Column[ContextRow]:
        return Column(
            original[index],
            lambda row: row.context.cells[index],
            key=f"original/{original[index]}",
            width=120,
            hidden=True,
        )

    return (
        Column(
            "#",
            lambda row: row.context.rank,
            text=lambda row: rank_text(row.context),
            key="rank",
            align="right",
            width=52 + wider,
            tip=_tr("The rank by score. “2=” is one of several with exactly the same score."),
        ),
        Column(
            _tr("Score"),
            lambda row: row.context.score,
            text=score_or_status,
            key="score",
            width=150,
            least=78,
            bar=lambda row: row.share,
            tip=_tr("How similar the text is to the query, no percentage. The bar begins at 0 and ends at 1."),
            colour=lambda row: "quiet" if row.context.score is None else "text",
        ),
        Column(_tr("Text"), lambda row: row.context.text, key="text", stretch=True, is_searched=True),
        Column(
            _tr("Was"),
            lambda row: row.context.initial_rank,
            display.number,
            key="was",
            align="right",
            width=50 + wider,
            gives_way=True,
            tip=_tr("Its place in your file."),
        ),
        Column(
            _tr("Moved"),
            lambda row: row.context.rank_change,
            change_words,
            key="moved",
            width=66 + wider,
            gives_way=True,
            tip=_tr("How far it rose or fell by its score."),
            colour=lambda row: "text" if row.context.rank_change else "quiet",
        ),
        Column(_tr("ID"), lambda row: row.context.id, key="id", width=96, hidden=True),
        Column(_tr("Label"), lambda row: row.context.label, key="label", width=64, hidden=True),
        *(cell(index) for index in range(len(original))),
    )


def score_or_status(row: ContextRow) -> str:
    """The score, or the reason why there is none."""
    context = row.context
    return status_words(context.status, context.error) if context.score is None else score_text(context.score)


def _tr(text: str) -> str:
    return QCoreApplication.translate("ranking", text)
