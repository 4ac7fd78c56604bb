"""The list of shortcuts that F1 shows."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QWidget

from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE
from cfbatch_gui.ui.widgets import Button, Label, column, row


class ShortcutsDialog(QDialog):
    """Keys and what they do. Open it with open(); it deletes itself."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        grid = QGridLayout()
        grid.setHorizontalSpacing(WIDE)
        grid.setVerticalSpacing(SMALL)
        for line, (keys, text) in enumerate(self._shortcuts()):
            grid.addWidget(Label(QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText), "quiet"), line, 0)
            grid.addWidget(Label(text), line, 1)
        close = Button(self.tr("Close"))
        close.clicked.connect(self.accept)
        self.setLayout(
            column(
                Label(self.tr("Shortcuts"), "part"),
                grid,
                row(None, close),
                gap=LARGE,
                margins=(WIDE, WIDE - 4, WIDE, WIDE - 4),
            )
        )

    def _shortcuts(self) -> tuple[tuple[str, str], ...]:
        return (
            ("Ctrl+N", self.tr("New job")),
            ("Ctrl+O", self.tr("Open a file in a new job")),
            ("Ctrl+V", self.tr("Paste texts, cells or a file: into the draft, or as a new job")),
            ("Ctrl+Return", self.tr("Send the draft")),
            ("Ctrl+Shift+N", self.tr("Add a job by its request id")),
            ("Ctrl+F", self.tr("Find in this page")),
            ("Ctrl+Shift+F", self.tr("Find a job")),
            ("Ctrl+C", self.tr("Copy the selected rows, as a spreadsheet takes them")),
            ("Ctrl+E", self.tr("Export")),
            ("F2", self.tr("Rename the job")),
            ("Del", self.tr("Delete the job, in the list of jobs")),
            ("Ctrl+,", self.tr("Connection and settings")),
            ("F10", self.tr("Show or hide the menu")),
            ("F1", self.tr("This list")),
            ("Ctrl+Q", self.tr("Quit")),
        )
