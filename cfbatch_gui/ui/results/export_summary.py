"""What an export will write, and where to."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QVBoxLayout, QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import Target
from cfbatch_gui.ui.results.export_words import Extent, extent_words
from cfbatch_gui.ui.widgets import Card, ElidedLabel, Label, LinkButton, column, row

_MOST_LINES = 4


class ExportSummary(QWidget):
    """A line for each file: its name, and what will be in it; below them the folder."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.change_button = LinkButton(self.tr("Change…"))
        self.change_button.setAccessibleName(self.tr("Change where to save"))
        self.folder = ElidedLabel("", "quiet")
        self.lines = tuple((ElidedLabel("", "strong"), Label("", "quiet")) for _ in range(_MOST_LINES))
        self._more = Label("", "quiet")
        files: QVBoxLayout = column(gap=4)
        self._rows: list[QWidget] = []
        for name, what in self.lines:
            line = QWidget()
            parts = row(name, 12, what, margins=(0, 0, 0, 0))
            parts.setStretch(0, 1)
            line.setLayout(parts)
            name.setMinimumWidth(160)
            self._rows.append(line)
            files.addWidget(line)
        place = row(self.folder, 12, self.change_button)
        place.setStretch(0, 1)
        card = Card(inset=True)
        card.body.addLayout(column(files, self._more, place, gap=6))
        self.setLayout(column(card))

    def show_outputs(
        self, outputs: Sequence[tuple[Path, Target]], extent: Extent | None, kind: Kind, columns: int | None
    ) -> None:
        """Without an `extent` it is still being counted; `columns` is how many are chosen, None for all."""
        shown = outputs if len(outputs) <= _MOST_LINES else outputs[: _MOST_LINES - 1]
        for place, (line, (name, what)) in enumerate(zip(self._rows, self.lines, strict=True)):
            line.setVisible(place < len(shown))
            if place < len(shown):
                path, target = shown[place]
                name.setText(path.name)
                words = extent_words(extent, kind, target, columns) if extent else self.tr("Counting…")
                what.setText(words)
        rest = len(outputs) - len(shown)
        self._more.setText(self.tr("and {n} more").format(n=rest))
        self._more.setVisible(rest > 0)
        folder = str(outputs[0][0].parent) if outputs else ""
        self.folder.setText(self.tr("In {folder}").format(folder=folder) if folder else self.tr("Nothing is ticked."))
        self.change_button.setVisible(bool(outputs))
