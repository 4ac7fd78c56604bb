"""A batch's answer as it came: read-only text, as much of it as anyone reads."""

import asyncio
import gzip
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from cfbatch_gui.core.errors import DataError, UserError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.ui import words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, MEDIUM
from cfbatch_gui.ui.widgets import Button, IconLine, Label, column, row

MOST_BYTES = 200_000


class RawAnswerDialog(QDialog):
    """Open it with `open()`; it reads in a thread and deletes itself."""

    def __init__(self, folder: JobFolder, batch: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        title = self.tr("Answer to batch {n}").format(n=batch)
        self.setWindowTitle(title)
        self._about = IconLine(self.tr("Reading…"), wrap=True)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(title)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        copy = Button(self.tr("Copy"), "copy")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        close = Button(self.tr("Close"))
        close.setDefault(True)
        close.clicked.connect(self.accept)
        foot = row(self._about, copy, close)
        foot.setStretch(0, 1)
        self.setLayout(column(Label(title, "part"), self.text, foot, gap=MEDIUM, margins=(LARGE,) * 4))
        self.tasks = Tasks(self, self._show_error)
        self.tasks.start("read", self._read(folder.reply(batch)))

    def sizeHint(self) -> QSize:
        return QSize(760, 560)

    async def _read(self, path: Path) -> None:
        text, is_whole = await asyncio.to_thread(_beginning, path)
        self.text.setPlainText(text)
        most = words.size(MOST_BYTES)
        self._about.set_line(
            self.tr("The whole answer, as the service sent it.")
            if is_whole
            else self.tr("The first {size} of the answer, as the service sent it.").format(size=most)
        )

    def _show_error(self, error: UserError) -> None:
        self._about.set_line(error.message, "triangle-alert", "attention")


def _beginning(path: Path) -> tuple[str, bool]:
    """The first bytes as text, and whether that is all."""
    try:
        with gzip.open(path) as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, EOFError) as error:
        raise DataError(
            "This answer could not be read from the job's folder.", detail=f"{path.name}: {error}"
        ) from error
    return data[:MOST_BYTES].decode("utf-8", "replace"), len(data) <= MOST_BYTES
