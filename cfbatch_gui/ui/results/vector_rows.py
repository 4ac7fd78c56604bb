"""The rows and columns of the table of embedded texts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings, VectorChecks
from cfbatch_gui.core.results.nearest import Neighbour
from cfbatch_gui.core.results.outcomes import Status
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text, vector_value_text
from cfbatch_gui.ui.results.ranking_columns import status_words
from cfbatch_gui.ui.tables.table_rows import Column
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import column
from cfbatch_gui.ui.widgets.text_panel import TextPanel


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A text and the length of its vector, None while it has none."""

    text: EmbeddedText
    length: float | None


def show_whole(text: EmbeddedText, panel: TextPanel) -> None:
    """Show a text with its row, id and label."""
    about = " · ".join(filter(None, (text.id, text.label)))
    panel.show_text(_tr("Row {n}").format(n=display.number(text.row)), text.text, about=about)


def table_over_text(table: QWidget, panel: TextPanel, *, margin: int = MEDIUM) -> QVBoxLayout:
    """A table, or a chart, with what is chosen in it below; `margin` is left and right of the text."""
    whole = column(gap=0)
    whole.addWidget(table, 1)
    whole.addLayout(column(panel, margins=(margin, SMALL, margin, SMALL)))
    return whole


def read_rows(embeddings: Embeddings, texts: Sequence[EmbeddedText]) -> tuple[VectorRow, ...]:
    """Texts with the lengths of their vectors."""
    done = [text.item_no for text in texts if text.status is Status.DONE] if embeddings.dimension else []
    vectors = embeddings.rows_of(np.array(done, dtype=np.int64)).astype(np.float64)
    lengths = dict(zip(done, np.linalg.norm(vectors, axis=1).tolist(), strict=True))
    return tuple(VectorRow(text, lengths.get(text.item_no)) for text in texts)


def blank_rows(start: int, stop: int) -> tuple[VectorRow, ...]:
    """Empty rows for the indices `start` to `stop`, which cannot be read."""
    return tuple(
        VectorRow(EmbeddedText(index + 1, "", "", "", index + 1, (), Status.FAILED, "", 0), None)
        for index in range(start, stop)
    )


def length_text(row: VectorRow) -> str:
    """The length of the vector, or the reason why there is none."""
    return status_words(row.text.status, row.text.error) if row.length is None else vector_value_text(row.length)


def vector_columns(original: Sequence[str], *, with_ids: bool, labelled: bool) -> tuple[Column[VectorRow], ...]:
    """Row, id, text, label, length, and the user's own columns, hidden until they are wanted. None of them sorts."""

    def cell(index: int) -> Column[VectorRow]:
        return Column(
            original[index],
            lambda row: row.text.cells[index] if row.text.cells else None,
            key=f"original/{original[index]}",
            width=130,
            hidden=True,
            sortable=False,
        )

    return (
        Column(
            _tr("Row"),
            lambda row: row.text.row,
            display.number,
            key="row",
            align="right",
            width=58,
            sortable=False,
            tip=_tr("The row in your file, as its own program counts."),
        ),
        Column(
            _tr("ID"),
            lambda row: row.text.id,
            key="id",
            width=78,
            sortable=False,
            hidden=not with_ids,
            is_searched=True,
        ),
        Column(_tr("Text"), lambda row: row.text.text, key="text", stretch=True, sortable=False, is_searched=True),
        Column(_tr("Label"), lambda row: row.text.label, key="label", width=100, sortable=False, hidden=not labelled),
        Column(
            _tr("Length"),
            lambda row: row.length,
            text=length_text,
            key="length",
            align="right",
            width=82,
            sortable=False,
            hidden=True,
            tip=_tr("The length of the vector. Most models give vectors of length 1."),
            colour=lambda row: "quiet" if row.length is None else "text",
        ),
        *(cell(index) for index in range(len(original))),
    )


def item_columns() -> tuple[Column[VectorRow], ...]:
    """Row, text and id, for small lists."""
    return (
        Column(
            _tr("Row"), lambda row: row.text.row, display.number, key="row", align="right", width=70, sortable=False
        ),
        Column(_tr("Text"), lambda row: row.text.text, key="text", stretch=True, sortable=False, is_searched=True),
        Column(_tr("ID"), lambda row: row.text.id, key="id", width=110, sortable=False, is_searched=True),
    )


def neighbour_columns() -> tuple[Column[Neighbour], ...]:
    """Text and similarity."""
    return (
        Column(_tr("Text"), lambda each: each.text.text, key="text", stretch=True, sortable=False, is_searched=True),
        Column(_tr("ID"), lambda each: each.text.id, key="id", width=90, hidden=True, sortable=False, is_searched=True),
        Column(
            _tr("Similarity"),
            lambda each: each.similarity,
            score_text,
            key="similarity",
            align="right",
            width=96,
            gives_way=True,
            sortable=False,
            tip=_tr("The cosine of both vectors: 1 is the same direction."),
        ),
    )


def found_columns() -> tuple[Column[Neighbour], ...]:
    """What a search has found: text, id, and the similarity with a bar."""
    return (
        Column(
            _tr("Row"), lambda each: each.text.row, display.number, key="row", align="right", width=70, sortable=False
        ),
        Column(_tr("Text"), lambda each: each.text.text, key="text", stretch=True, sortable=False, is_searched=True),
        Column(_tr("ID"), lambda each: each.text.id, key="id", width=110, sortable=False, is_searched=True),
        Column(
            _tr("Similarity"),
            lambda each: each.similarity,
            score_text,
            key="similarity",
            width=170,
            bar=lambda each: max(0.0, each.similarity),
            tip=_tr("The cosine of both vectors: 1 is the same direction. The bar begins at 0 and ends at 1."),
        ),
    )


def checks_line(checks: VectorChecks) -> tuple[str, bool]:
    """The result of the vector checks in words, and whether all passed."""
    if not checks.dimension or checks.missing == checks.texts:
        return _tr("No vector has come back yet."), True
    found = [display.plural(checks.dimension, "{n} dimension", "{n} dimensions")]
    if checks.unit_length:
        found.append(_tr("all of unit length"))
    else:
        lengths = f"{vector_value_text(checks.norm_min)}–{vector_value_text(checks.norm_max)}"
        found.append(_tr("lengths {range}").format(range=lengths))
    wrong = []
    if checks.zero:
        wrong.append(display.plural(checks.zero, "{n} empty vector", "{n} empty vectors"))
    if checks.repeated:
        wrong.append(display.plural(checks.repeated, "{n} repeated vector", "{n} repeated vectors"))
    if checks.non_finite:
        wrong.append(
            display.plural(
                checks.non_finite,
                "{n} vector with values that are no numbers",
                "{n} vectors with values that are no numbers",
            )
        )
    if checks.missing:
        wrong.append(display.plural(checks.missing, "{n} text without a vector", "{n} texts without a vector"))
    if not checks.zero and not checks.repeated:
        found.append(_tr("no empty or repeated vectors"))
    return " · ".join(found + wrong), not (checks.zero or checks.non_finite)


def _tr(text: str) -> str:
    return QCoreApplication.translate("vectors", text)
