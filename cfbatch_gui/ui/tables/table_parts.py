"""What pages with a table have beside it."""

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMenu, QWidget

from cfbatch_gui.ui import words
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tables.table_view import MOST_ROWS_TO_COPY, TableView
from cfbatch_gui.ui.widgets import QuietButton


class ColumnsButton(QuietButton):
    """Opens the menu that shows and hides a table's columns."""

    def __init__(self, table: TableView, parent: QWidget | None = None) -> None:
        super().__init__("", "columns-3", parent=parent)
        self.setText(self.tr("Columns"))
        menu = QMenu(self)
        menu.aboutToShow.connect(menu.clear)
        menu.aboutToShow.connect(lambda: table.fill_columns_menu(menu))
        self.setMenu(menu)


def say_too_much(notices: Notices, count: int) -> None:
    """That so many rows are not copied, and what to do instead."""
    pattern = QCoreApplication.translate(
        "tables", "{n} rows are too many for the clipboard, which takes {most}. Export them instead."
    )
    notices.show_notice(pattern.format(n=words.number(count), most=words.number(MOST_ROWS_TO_COPY)), "attention")
