"""The two streams of a terminal program, and text made to fit a line of them."""

import codecs
import io
import os
import shutil
import sys
from collections.abc import Iterable
from typing import TextIO

import wcwidth

from cfbatch_gui.core.errors import DiskFull, ExportError, UserError

WIDTH_WITHOUT_TERMINAL = 100
_PLAIN = {"“": '"', "”": '"', "·": "-", "–": "-", "…": "...", "→": "->", "█": "#", "░": "."}
_PLAINER = "cfbatch_plainer"
_JOINERS = "\u200c\u200d"  # invisible, and part of how some scripts and emoji are written


def _plainer(error: UnicodeError) -> tuple[str, int]:
    """An error handler for codecs: plainer characters for those that a console's encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


codecs.register_error(_PLAINER, _plainer)


class Console:
    """`print_result` writes results to standard output, everything else goes to stderr."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        # Python sets a stream to None that was closed before the program started.
        self._out, self._err = out or sys.stdout or io.StringIO(), err or sys.stderr or io.StringIO()
        for stream in (self._out, self._err):
            # A character that the console's encoding lacks must not end the program.
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors=_PLAINER)

    @property
    def is_interactive(self) -> bool:
        """Whether stderr is a terminal that can redraw a line."""
        return self._err.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int:
        """Columns of the terminal; a fixed number where there is none."""
        return shutil.get_terminal_size((WIDTH_WITHOUT_TERMINAL, 24)).columns

    def say(self, text: str) -> None:
        """A line on stderr."""
        self.write_error(f"{text}\n")

    def say_error(self, error: UserError) -> None:
        """The user's sentence of an expected failure."""
        self.say(f"cfbatch: {one_line(error.message)}")

    def write_error(self, text: str) -> None:
        """Write text to stderr unchanged. A closed stderr is ignored."""
        try:
            self._err.write(text)
            self._err.flush()
        except OSError:
            _silence(self._err)

    def print_result(self, lines: Iterable[str]) -> None:
        """Write lines to standard output; a broken pipe is no error. Raises DiskFull, ExportError."""
        try:
            for line in lines:
                self._out.write(f"{line}\n")
            self._out.flush()
        except BrokenPipeError:
            _silence(self._out)
        except OSError as error:
            _silence(self._out)
            raise _not_printed(error) from error


def one_line(text: str) -> str:
    """The text without line breaks and control characters."""
    return "".join(sign if sign.isprintable() or sign in _JOINERS else " " for sign in text).strip()


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 text", "2,000 texts"."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def elided(text: str, width: int) -> str:
    """The text on one line, cut with "…" when it is wider than `width` columns."""
    text = one_line(text[: 4 * width + 4])  # four characters a column is more than any script needs
    if width_of(text) <= width:
        return text
    return f"{wcwidth.clip(text, 0, width - 1, control_codes='ignore').rstrip()}…"


def padded(text: str, width: int) -> str:
    """The text elided or filled up to exactly `width` columns."""
    text = elided(text, width)
    return text + " " * (width - width_of(text))


def width_of(text: str) -> int:
    """Columns that a terminal gives to the text: two for wide East Asian signs and emoji, none for combining marks."""
    return len(text) if text.isascii() else wcwidth.width(text, control_codes="ignore")


def _silence(stream: TextIO) -> None:
    """Redirect the stream to the null device: flushing its buffer at exit would fail again."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _not_printed(error: OSError) -> UserError:
    import errno

    detail = f"standard output: {error.strerror}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return DiskFull(
            "The disk is full: the result could not be printed. The job and its results are kept.", detail=detail
        )
    return ExportError("The result could not be printed. The job and its results are kept.", detail=detail)
