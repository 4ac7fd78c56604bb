"""`cfbatch-gui --self-test`: the checks of the core, then those of Qt, each on a line of its own.

Qt comes last, because what it cannot do ends the process: what was found before is on the screen by then.
"""

import io
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, TextIO

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.self_test.findings import Check, failed
from cfbatch_gui.core.self_test.report import Report
from cfbatch_gui.core.self_test.running import raised, run_guarded, too_late
from cfbatch_gui.core.self_test.whole import checks_without_window
from cfbatch_gui.core.system.distributions import this_distribution
from cfbatch_gui.core.system.window_libraries import missing_libraries, missing_sentence, named_library

_QT = message("Window")
_QT_SECONDS = 120.0  # for all of Qt's checks together


def run_self_test(*, has_screen: bool, out: Path | None = None) -> NoReturn:
    """Print a line for each check, also into the file `out`, and end the process, with status 1 when a check failed.

    Without a screen Qt draws in memory. Writes nothing else but in a temporary folder. The process ends here, or it
    would wait for checks that were left behind.
    """
    try:
        report = Report(_writer(out))
        _run_core(report)
        _run_qt(report, has_screen=has_screen)
        os._exit(report.end())
    except KeyboardInterrupt:
        os._exit(128 + signal.SIGINT)


def _run_core(report: Report) -> None:
    try:
        folder = tempfile.TemporaryDirectory(prefix="cfbatch-self-test-", ignore_cleanup_errors=True)
    except OSError as error:
        sentence = message(
            "No file can be made in it, so most checks are left out. Set TMPDIR to a folder that can be written. "
            "{reason}",
            reason=str(error),
        )
        report.add(message("Folder for temporary files"), failed(sentence))
        return
    with folder as name:
        report.run(checks_without_window(Path(name)))


def _writer(out: Path | None) -> Callable[[str], None]:
    """Write lines to standard output, where there is one, and to the file; at once, as Qt may end the process."""
    streams: list[TextIO] = []
    if isinstance(sys.stdout, io.TextIOWrapper):  # None for a program of Windows without a console
        sys.stdout.reconfigure(errors="replace")
        streams.append(sys.stdout)
    if out is not None:
        streams.append(out.open("w", encoding="utf-8"))

    def write(line: str) -> None:
        for stream in streams[:]:
            try:
                stream.write(f"{line}\n")
                stream.flush()
            except OSError:  # nobody reads it any more, or the disk is full; the status still says what was found
                streams.remove(stream)

    return write


def _run_qt(report: Report, *, has_screen: bool) -> None:
    """Qt belongs to the main thread, so its checks cannot be left behind: when they hang, the process ends."""

    def give_up() -> None:
        report.add(_QT, too_late(_QT_SECONDS))
        report.end()
        os._exit(1)

    watch = threading.Timer(_QT_SECONDS, give_up)
    watch.daemon = True
    watch.start()
    try:
        checks = _checks_of_qt(report, has_screen=has_screen)
    except Exception as error:  # noqa: BLE001 # there is no check yet that could report it
        library = named_library(error)
        lacking = missing_sentence(missing_libraries(library), this_distribution()) if library else ""
        report.add(_QT, failed(lacking) if lacking else raised(error))
    else:
        for check in checks:
            report.add(check.title, run_guarded(check))
    finally:
        watch.cancel()


def _checks_of_qt(report: Report, *, has_screen: bool) -> Sequence[Check]:
    """Raises ImportError when Qt cannot be loaded. What Qt says goes nowhere else from here on."""
    if not has_screen:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler
    from PySide6.QtWidgets import QApplication

    from cfbatch_gui.ui.self_test.qt_checks import qt_checks

    said_before: list[str] = []  # the first has the cause

    def heard(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        said_before.append(text)
        if kind is QtMsgType.QtFatalMsg:  # Qt ends the process when this returns
            report.add(_QT, failed(message("Qt can show no window here: {text}", text=said_before[0])))
            report.end()
            os._exit(1)

    qInstallMessageHandler(heard)
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)  # noqa: S101 # no other was made before
    return qt_checks(app, has_screen=has_screen)
