"""Copying rows to the clipboard as spreadsheets take them."""

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.ui import display
from cfbatch_gui.ui.notices import Notices

MOST_ROWS_TO_COPY = 100_000


def as_tsv(cells: list[list[str]]) -> str:
    """Tab-separated text as spreadsheets paste it: a cell with a tab, line break or quote is put in double quotes."""

    def quoted(text: str) -> str:
        needs_quotes = any(character in text for character in '\t\n\r"')
        return '"' + text.replace('"', '""') + '"' if needs_quotes else text

    return "\n".join("\t".join(quoted(cell) for cell in row) for row in cells)


def say_too_much(notices: Notices, count: int) -> None:
    """Show a notice that `count` rows are too many to copy, and that they can be exported instead."""
    pattern = QCoreApplication.translate(
        "tables", "{n} rows are too many for the clipboard, which takes {most}. Export them instead."
    )
    notices.show_notice(pattern.format(n=display.number(count), most=display.number(MOST_ROWS_TO_COPY)), "attention")
