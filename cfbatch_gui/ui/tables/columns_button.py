"""The button for the columns of a table."""

from PySide6.QtWidgets import QMenu, QWidget

from cfbatch_gui.ui.tables.table_view import TableView
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
