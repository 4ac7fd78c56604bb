"""What is shown when the program fails before it has a window: a dialog, and a line on standard error."""

import platform
import sys
import traceback

from PySide6.QtCore import QCoreApplication, Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from cfbatch_gui import __version__
from cfbatch_gui.core.system.logs import redacted
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.window import loop

STATUS = 70  # EX_SOFTWARE, "an internal software error", of sysexits.h


def say_failed_start(error: BaseException) -> int:
    """Say it, also where there is no data folder and so no log, and return the exit status."""
    words = _tr("CF Batch could not start, because of an error inside the program. Your jobs are safe.")
    last = redacted("".join(traceback.format_exception_only(error)).strip())
    if sys.stderr is not None:  # as on Windows
        print(f"{words} {last}", file=sys.stderr, flush=True)  # noqa: T201
    app = QApplication.instance() or QApplication(sys.argv[:1])
    if isinstance(app, QApplication):
        loop.run(app, lambda: _show(words, error))
    return STATUS


async def _show(words: str, error: BaseException) -> None:
    head = f"CF Batch {__version__} · Python {platform.python_version()} · Qt {qVersion()} · {platform.platform()}"
    details = redacted("\n".join((head, *traceback.format_exception(error))))
    box = QMessageBox(QMessageBox.Icon.Critical, "CF Batch", words)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(redacted("".join(traceback.format_exception_only(error)).strip()))
    box.setDetailedText(details)
    copy = box.addButton(_tr("Copy details"), QMessageBox.ButtonRole.ActionRole)
    copy.clicked.disconnect()  # it does not close the dialog
    copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(details))
    box.addButton(_tr("Close"), QMessageBox.ButtonRole.RejectRole)
    await dialogs.finished(box)


def _tr(text: str) -> str:
    return QCoreApplication.translate("start", text)
