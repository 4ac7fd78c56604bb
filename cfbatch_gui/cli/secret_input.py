"""Reading a secret from an environment variable, from standard input, or from a prompt without echo.

It is never read from the command line, which other users of the computer can see and the shell's history keeps.
"""

import getpass
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message

_MOST = 100_000  # characters; a pasted curl command has a few hundred


def read_secret(prompt: str, variable: str = "") -> str:
    """The secret as entered, "" for none. Raises UsageError for a variable that is not set."""
    if variable:
        return from_variable(variable)
    if sys.stdin is None:
        return ""
    if not sys.stdin.isatty():
        return sys.stdin.read(_MOST)
    return ask(prompt)


def from_variable(variable: str) -> str:
    """The value of an environment variable. Raises UsageError when it is not set or empty."""
    text = os.environ.get(variable, "")
    if not text:
        raise UsageError(message("The environment variable {name} is not set, or empty.", name=variable))
    return text


def ask(prompt: str) -> str:
    """Prompt on the terminal without echo. Returns "" at the end of input."""
    with plain_interrupt():
        try:
            return getpass.getpass(prompt)
        except EOFError:
            return ""


@contextmanager
def plain_interrupt() -> Iterator[None]:
    """Let Ctrl+C end the prompt: asyncio's handler only schedules a cancellation, and the prompt blocks the loop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
