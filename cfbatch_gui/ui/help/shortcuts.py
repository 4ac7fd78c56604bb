"""The list of shortcuts."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QWidget

from cfbatch_gui.ui.key_names import key_name
from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE
from cfbatch_gui.ui.widgets import Button, Label, column, row


class ShortcutsDialog(QDialog):
    """The list of shortcuts and what they do. It is opened with `open()`, and deletes itself when it is closed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        grid = QGridLayout()
        grid.setHorizontalSpacing(WIDE)
        grid.setVerticalSpacing(SMALL)
        for line, (keys, text) in enumerate(self.shortcuts()):
            grid.addWidget(Label(key_name(keys), "quiet"), line, 0)
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

    def shortcuts(self) -> tuple[tuple[str, str], ...]:
        """The keys, as Qt names them, and what they do."""
        return (
            ("Ctrl+N", self.tr("New job")),
            ("Ctrl+O", self.tr("Open a file in a new job")),
            ("Ctrl+V", self.tr("Paste texts, cells or a file: into the draft, or as a new job")),
            ("Ctrl+Return", self.tr("Send the draft")),
            ("Ctrl+Shift+N", self.tr("Add a job by its request ID")),
            ("Ctrl+F", self.tr("Find in this page")),
            ("Ctrl+Shift+F", self.tr("Find a job")),
            ("Ctrl+Z", self.tr("Undo what the latest notice says")),
            ("Ctrl+C", self.tr("Copy the selected rows, as a spreadsheet takes them")),
            ("Ctrl+E", self.tr("Export")),
            ("Ctrl+Shift+C", self.tr("Compare the ranking with another job")),
            ("Ctrl+J", self.tr("Judge the texts of the ranking, or of the comparison")),
            ("F2", self.tr("Rename the job")),
            ("Del", self.tr("Delete the selected jobs, in the list of jobs")),
            ("Ctrl+,", self.tr("Settings")),
            ("Ctrl+Shift+M", self.tr("The last notices")),
            ("F10", self.tr("Open the menu")),
            ("Shift+F1", self.tr("Help")),
            ("F1", self.tr("This list")),
            ("Ctrl+Q", self.tr("Quit")),
        )
