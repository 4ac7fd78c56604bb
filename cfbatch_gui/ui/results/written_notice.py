"""The notice that says which files an export has written, with the commands that take them further."""

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication

from cfbatch_gui.core.results.exports import Exported
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.notices import Notices

_TIP_LINES = 6


def say_written(notices: Notices, written: Sequence[Exported]) -> None:
    """Show how many rows were written to which files."""
    rows = {exported.rows for exported in written}
    counted = display.plural(max(rows), "{n} row", "{n} rows")
    if len(written) == 1:
        sentence = tr("Wrote {rows} to “{name}”.").format(rows=counted, name=written[0].path.name)
    elif len(rows) == 1:
        sentence = tr("Wrote {n} files of {rows}.").format(n=len(written), rows=counted)
    else:
        sentence = tr("Wrote {n} files.").format(n=len(written))
    lists = [file for exported in written for file in exported.files if file.name.endswith(".removed.csv")]
    if lists:
        sentence = tr("{sentence} What is gone is listed in “{name}”.").format(sentence=sentence, name=lists[0].name)
    bar = notices.show_written(sentence, *(exported.path for exported in written))
    commands = "\n".join(exported.next_command for exported in written if exported.next_command)
    if commands:
        link = bar.add_link(tr("Copy the next command"), lambda: QGuiApplication.clipboard().setText(commands))
        link.setToolTip(display.plain_tip(_beginning(commands)))


def _beginning(commands: str) -> str:
    """The first lines, as many as a tip has room for."""
    lines = commands.split("\n")
    return "\n".join(lines if len(lines) <= _TIP_LINES else [*lines[: _TIP_LINES - 1], "…"])
