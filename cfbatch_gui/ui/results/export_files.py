"""The files that an export will write: the folder, a free name for each, and the card that lists them."""

from collections.abc import Collection, Sequence
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QVBoxLayout, QWidget

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.exports import Target
from cfbatch_gui.ui.results.export_words import Extent, extent_words, file_name
from cfbatch_gui.ui.widgets import Card, ElidedLabel, Label, LinkButton, column, row

_MOST_LINES = 4
_Output = tuple[Path, Target]


def usual_folder(last: str) -> Path:
    """The folder that was used last, else that for documents, else the user's own."""
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    for name in (last, documents):
        if name and Path(name).is_dir():
            return Path(name)
    return Path.home()


def places_for(folder: Path, job: Job, targets: Sequence[Target]) -> tuple[_Output, ...]:
    """A path for each form, called after the job; no two are the same, and none is there yet."""
    wanted: set[Path] = set()
    found: dict[Path, Target] = {}
    for target in targets:
        path = folder / file_name(job, target)
        if path in wanted:  # two forms with one suffix
            path = _called(path, target, f" ({target.name})")
        wanted.add(path)
        found[_free(path, target, found)] = target
    return tuple(found.items())


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

    def show_outputs(self, outputs: Sequence[tuple[Path, Target]], extent: Extent | None, columns: int | None) -> None:
        """Without an `extent` it is still being counted; `columns` is how many are chosen, None for all."""
        shown = outputs if len(outputs) <= _MOST_LINES else outputs[: _MOST_LINES - 1]
        for place, (line, (name, what)) in enumerate(zip(self._rows, self.lines, strict=True)):
            line.setVisible(place < len(shown))
            if place < len(shown):
                path, target = shown[place]
                name.setText(path.name)
                words = extent_words(extent, target, columns) if extent else self.tr("Counting…")
                what.setText(words)
        rest = len(outputs) - len(shown)
        self._more.setText(self.tr("and {n} more").format(n=rest))
        self._more.setVisible(rest > 0)
        folder = str(outputs[0][0].parent) if outputs else ""
        self.folder.setText(self.tr("In {folder}").format(folder=folder) if folder else self.tr("Nothing is ticked."))
        self.change_button.setVisible(bool(outputs))


def _free(path: Path, target: Target, taken: Collection[Path]) -> Path:
    number, candidate = 1, path
    while candidate in taken or candidate.exists():
        number += 1
        candidate = _called(path, target, f" {number}")
    return candidate


def _called(path: Path, target: Target, addition: str) -> Path:
    """With something more in its name, before a suffix that may have several parts."""
    suffix = "" if target.is_folder else target.suffixes[0]
    return path.with_name(f"{path.name.removesuffix(suffix)}{addition}{suffix}")
