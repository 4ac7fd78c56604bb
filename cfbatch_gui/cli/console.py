"""What every command has at hand: its call, two streams, lines that fit, and exit statuses."""

import io
import json
import os
import re
import shutil
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import IntEnum
from math import isnan
from types import FrameType
from typing import Any, Final, Self, TextIO

from cfbatch_gui.core import errors
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.printing import escaped, put
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.words.figures import one_line, told, usage_error
from cfbatch_gui.words.languages import said, tr

WIDTH_WITHOUT_TERMINAL = 100


class Call(Namespace):
    """A command as it was called: its arguments, where its data are, and where it prints.

    `act` is what the named command of a command does; like every command it returns its exit status, or nothing.
    """

    act: Callable[..., Awaitable[int | None]]
    paths: Paths
    console: "Console"

    @property
    def settings(self) -> Settings:
        return Settings.load(self.paths.settings)

    def answer(self, facts: object, lines: Iterable[str], otherwise: str = "") -> None:
        """Print one object with `--json`, else lines; `otherwise` is said where there are none."""
        if self.json:
            self.console.print_json(facts)
        elif not self.console.print_result(lines) and otherwise:
            self.console.say(otherwise)


class ExitStatus(IntEnum):
    """With its description in `cfbatch --help`, "" for one that is not listed there."""

    words: str

    def __new__(cls, number: int, words: str = "") -> Self:
        status = int.__new__(cls, number)
        status._value_ = number
        status.words = words
        return status

    DONE = 0, message("done")
    FAILED = 1, message("failed_done_part_or_doubtful_rows")
    BAD_INPUT = 2, message("bad_usage_or_input")  # also argparse's exit status
    OUTCOME_UNKNOWN = 3, message("outcome_unknown")
    NO_CONNECTION = 4, message("no_connection_or_token_refused")
    OVER_BUDGET = 5, message("over_budget")  # nothing was sent
    WORSE = 6, message("ranking_is_worse_than_fail_if")
    CANNOT_TELL = 7, message("may_be_worse_these_judgements_cannot")
    TOO_FEW_JUDGED = 8, message("too_few_first_texts_are_judged")
    LEFT = 9, message("left_your_account_collects_answers")
    NOT_LEFT = 10, message("not_left_your_account_does_not")
    INTERRUPTED = 128 + signal.SIGINT  # 128 + SIGINT, as shells report it
    TERMINATED = 128 + signal.SIGTERM


def exit_statuses_help() -> str:
    statuses = [f"  {status:<2d}  {said(status.words)}" for status in ExitStatus if status.words]
    return "\n".join([tr("exit status:"), *statuses])


def worst_of(statuses: Iterable[ExitStatus]) -> ExitStatus:
    """What goes on by itself in the account comes before nothing but what is done."""
    mild = (ExitStatus.DONE, ExitStatus.LEFT)
    return max(statuses, key=lambda status: (status not in mild, status), default=ExitStatus.DONE)


_OF_ERRORS: Final = (
    ((errors.InputError, errors.UsageError), ExitStatus.BAD_INPUT),
    (errors.ConnectionProblem, ExitStatus.NO_CONNECTION),
    (errors.OutcomeUnknown, ExitStatus.OUTCOME_UNKNOWN),
    (errors.OverBudget, ExitStatus.OVER_BUDGET),
    (UserError, ExitStatus.FAILED),
)


def status_of_error(error: UserError) -> ExitStatus:
    return next(status for kinds, status in _OF_ERRORS if isinstance(error, kinds))


class Console:
    """On Windows pipes and files get UTF-8."""

    def __init__(
        self, out: TextIO | None = None, err: TextIO | None = None, *, is_windows: bool = sys.platform == "win32"
    ) -> None:
        # Python sets a stream to None when it was closed before the program started.
        self._out, self._err = out or sys.stdout or io.StringIO(), err or sys.stderr or io.StringIO()
        for stream in (self._out, self._err):
            # A character missing in the console's encoding must not raise UnicodeEncodeError.
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(encoding="utf-8" if is_windows and not stream.isatty() else None, errors="replace")

    @property
    def is_interactive(self) -> bool:
        return self._err.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int:
        return shutil.get_terminal_size((WIDTH_WITHOUT_TERMINAL, 24)).columns

    def say(self, *sentences: str) -> None:
        for sentence in sentences:
            self._say(f"{said(sentence) if isinstance(sentence, Message) else sentence}\n")

    def tell(self, code: str, /, **values: object) -> None:
        """Say a sentence of resources/sentences.txt."""
        self.say(told(code, **values))

    def say_error(self, error: UserError) -> None:
        self.say(f"cfbatch: {one_line(said(error.message), 10_000)}")

    def draw(self, line: str) -> None:
        """A line in place of the one that was drawn before, without control sequences, which consoles may show."""
        self._say(elided(line, self.width - 1), f"\r{' ' * (self.width - 1)}\r")

    def ask(self, text: str) -> None:
        self._say(text)

    def _say(self, text: str, before: str = "") -> None:
        """A closed stderr is ignored."""
        try:
            self._err.write(before)
            put(self._err, text)
            self._err.flush()
        except OSError:
            _silence(self._err)

    def print_json(self, value: object) -> None:
        """In ASCII, which every encoding preserves."""
        self.print_result([json.dumps(value, indent=2, default=_plain)])

    def print_result(self, lines: Iterable[str]) -> int:
        """How many lines there were. A broken pipe is ignored. Raises ExportError."""
        count = 0
        try:
            for line in lines:
                count += 1
                put(self._out, f"{line}\n")
            self._out.flush()
        except BrokenPipeError:
            _silence(self._out)
        except OSError as error:
            _silence(self._out)
            words = message("result_could_not_be_printed_reason")
            raise errors.ExportError(words.filled(reason=error.strerror)) from error
        return count


def _plain(value: Any) -> object:
    """What JSON has no form for: the fields of a value, where it has any."""
    if is_dataclass(value) or hasattr(value, "__struct_fields__"):
        names = getattr(value, "__struct_fields__", None) or [field.name for field in fields(value)]
        found = {name: getattr(value, name) for name in names}
        return {name: None if isinstance(each, float) and isnan(each) else each for name, each in found.items()}
    return value.tolist() if hasattr(value, "tolist") else str(value)


def fields_of(value: object, *names: str) -> dict[str, Any]:
    """For an object that programs read."""
    return {name: getattr(value, name) for name in names}


def elided(text: str, width: int) -> str:
    """One line, cut with "…" to `width` columns."""
    text = escaped(re.sub(r"\s", " ", text[: 4 * width + 4]).strip())  # no script needs more than four a column
    if width_of(text) <= width:
        return text
    import wcwidth  # as in `width_of`

    return f"{wcwidth.clip(text, 0, width - 1, control_codes='ignore').rstrip()}…"


def padded(text: str, width: int) -> str:
    text = elided(text, width)
    return text + " " * (width - width_of(text))


def width_of(text: str) -> int:
    """In terminal columns: two for wide East Asian characters and emoji."""
    if text.isascii():
        return len(text)
    import wcwidth  # a tenth of the time that “cfbatch jobs” takes

    return wcwidth.width(text, control_codes="ignore")


def labelled(pairs: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """A line for each label that has a text, with the labels in one column, wider than `width` where they need it."""
    pairs = [(label, text) for label, text in pairs if text]
    width = max([width, *(width_of(label) + 1 for label, _ in pairs)])
    return (f"{padded(label, width)} {text}" for label, text in pairs)


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> Iterator[str]:
    """Columns as wide as their longest text, without those that have none; the last one gets the rest of the line."""
    columns = [column for column in zip(titles, *rows, strict=True) if any(column[1:])]
    shown = [[elided(cell, 1000) for cell in column] for column in columns]
    wide = [max(map(width_of, column)) for column in shown]
    wide[-1:] = [max(20, width - sum(wide[:-1]) - 2 * len(wide[:-1]))]
    for line in zip(*shown, strict=True):
        yield "  ".join(map(padded, line, wide)).rstrip()


def listed(rows: Sequence[Sequence[tuple[str, str]]], width: int) -> Iterator[str]:
    """A table of rows that name their columns."""
    titles = [name.upper() for name, _ in rows[0]] if rows else ()
    return table(titles, [[words for _, words in row] for row in rows], width)


def _silence(stream: TextIO) -> None:
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def agreed(console: Console, is_said: bool) -> bool:
    """Whether the user agrees, by --yes or when asked. Raises UsageError where nobody can be."""
    if is_said:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise usage_error("nothing_was_sent_agree_yes")
    console.ask(tr("Go on? [y/N] "))
    with handled_signals(_end_prompt):
        if sys.stdin.readline().strip().casefold() in ("y", "yes", tr("y", "answer"), tr("yes", "answer")):
            return True
    console.tell("nothing_was_sent")
    return False


_MOST = 100_000  # characters; a pasted curl command has a few hundred


def read_secret(prompt: str, variable: str = "") -> str:
    """Such as "" for none."""
    if variable:
        return from_variable(variable)
    if sys.stdin is None:
        return ""
    if not sys.stdin.isatty():
        return sys.stdin.read(_MOST)
    return ask(prompt)


def from_variable(variable: str) -> str:
    text = os.environ.get(variable, "")
    if not text:
        raise usage_error("environment_variable_name_is_not_set", name=variable)
    return text


def ask(prompt: str) -> str:
    """Without echo; "" at the end of input."""
    import getpass

    with handled_signals(_end_prompt):
        try:
            return getpass.getpass(prompt)
        except EOFError:
            return ""


@contextmanager
def handled_signals(handle: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Ctrl+C and SIGTERM within the block, which only a main thread hears."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_prompt(number: int, _: FrameType | None) -> None:
    """A prompt blocks asyncio's loop; an exception lets getpass turn the echo on again."""
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)
