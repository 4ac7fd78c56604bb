"""Unexpected errors: they are logged and reported to the window with details to copy; the program goes on."""

import asyncio
import logging
import platform
import sys
import threading
import traceback
from types import TracebackType
from typing import Any

import PySide6
from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler, qVersion

from cfbatch_gui.core.system.logs import redacted

log = logging.getLogger("cfbatch.crash")
qt_log = logging.getLogger("qt")

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class CrashHandler(QObject):
    """Handles exceptions that nothing else caught, in slots, tasks and threads, and logs Qt's own messages.

    `crashed` carries the details to copy, with secrets redacted. It may be emitted in any thread; Qt delivers it to an
    object of the window's thread in that thread.
    """

    crashed = Signal(str)

    def __init__(self, version: str = "", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._version = version
        self._before: tuple[Any, Any, Any] | None = None

    def install(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Set Python's exception hooks, Qt's message handler, and the exception handler of a loop if one is given."""
        if self._before is None:
            self._before = (sys.excepthook, threading.excepthook, qInstallMessageHandler(_qt_message))
            sys.excepthook = self._hook
            threading.excepthook = self._thread_hook
        if loop is not None:
            loop.set_exception_handler(self.loop_handler)

    def uninstall(self) -> None:
        """Restore the hooks and the message handler that `install` replaced."""
        if self._before is not None:
            sys.excepthook, threading.excepthook, _ = self._before
            qInstallMessageHandler(self._before[2])
            self._before = None

    def loop_handler(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report the exception of a context, or log its message; the signature of `loop.set_exception_handler`."""
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.caught(error, str(context.get("message", "")))
        else:
            log.error("The event loop reports: %s", context.get("message", ""))

    def caught(self, error: BaseException, where: str = "") -> None:
        """Log an unexpected error and emit `crashed`; `where` names the work that failed.

        A keyboard interrupt, an exit and a cancelled task are no errors, and are ignored.
        """
        if isinstance(error, (KeyboardInterrupt, SystemExit, asyncio.CancelledError)):
            return
        log.error("Unexpected error%s", f": {where}" if where else "", exc_info=error)
        self.crashed.emit(self._details(error, where))

    def _details(self, error: BaseException, where: str) -> str:
        head = (
            f"CF Batch {self._version} · Python {platform.python_version()} · Qt {qVersion()}"
            f" · PySide {PySide6.__version__} · {platform.platform()}"
        )
        # Users copy the details to send them to others.
        return redacted("\n".join(filter(None, (head, where, "".join(traceback.format_exception(error))))))

    def _hook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self.caught(error)

    def _thread_hook(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self.caught(args.exc_value, f"thread {args.thread.name}" if args.thread else "")


def _qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    qt_log.log(_LEVELS.get(kind, logging.WARNING), "%s", message)
