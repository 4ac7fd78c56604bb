"""The rotating log file. Everything that looks like a token is removed from each record before it is written."""

import logging
import os
import re
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from cfbatch_gui.core.system.files import own_opener
from cfbatch_gui.core.system.paths import Paths

MAX_BYTES = 1_000_000
KEPT = 4

# At DEBUG, qasync logs the arguments of executor calls, and httpcore the headers of requests.
_TALKATIVE = ("asyncio", "qasync", "httpcore", "httpx", "keyring")

_TOKEN = re.compile(
    r"(?i:bearer(?:\s|%20)+)[^\s\"',;]+"
    r"|cf[a-z]{1,3}_[A-Za-z0-9_-]{8,}"
    # Older tokens have no prefix, only a fixed length. The letter of an escape sequence (\n) may directly precede one.
    r"|(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])"
)


def redacted(text: str) -> str:
    """The text with everything that looks like a token replaced by [redacted]. All redaction is done here."""
    return _TOKEN.sub("[redacted]", text)


def set_up(paths: Paths, *, level: int = logging.INFO) -> logging.Handler:
    """Send the process's log to `paths.log`; the handler for `shut_down`."""
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if isinstance(handler, _LogFile):
            shut_down(handler)
    log_file = _LogFile(paths)
    root.addHandler(log_file)
    root.setLevel(level)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    return log_file


def last_lines(paths: Paths, count: int) -> list[str]:
    """The last lines of the current log file, redacted; none when there is no such file or it cannot be read."""
    try:
        lines = paths.log.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    return [redacted(line) for line in lines[-count:]]


def shut_down(handler: logging.Handler) -> None:
    logging.getLogger().removeHandler(handler)
    handler.close()


class _LogFile(RotatingFileHandler):
    def __init__(self, paths: Paths) -> None:
        super().__init__(
            paths.log, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8", errors="replace", delay=True
        )
        self.setFormatter(_Redacting("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    def _open(self) -> TextIOWrapper:
        descriptor = own_opener(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return TextIOWrapper(os.fdopen(descriptor, "ab"), self.encoding, self.errors)

    def doRollover(self) -> None:
        """Begin a new file, unless Windows refuses as another process writes it, too."""
        if self.stream:
            with suppress(OSError):
                self.stream.close()
            self.stream = None  # as logging itself does; the next record opens it
        try:
            Path(self.baseFilename).rename(self.baseFilename)
        except OSError:
            return
        super().doRollover()

    def close(self) -> None:
        """Without an error: on a full disk what is not written yet goes, and others have said why."""
        with suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore errors of writing the log: logging would print a traceback to stderr."""


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))
