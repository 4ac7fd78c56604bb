"""Asking on the terminal before something that cannot be taken back."""

import sys

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.language import tr
from cfbatch_gui.cli.secret_input import plain_interrupt
from cfbatch_gui.core.errors import UsageError


def is_agreed(console: Console, *, without_terminal: str) -> bool:
    """Ask whether to go on. Raises UsageError with the sentence `without_terminal` when nobody can be asked."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(without_terminal)
    console.write_error(tr("Go on? [y/N] "))
    with plain_interrupt():
        return sys.stdin.readline().strip().casefold() in ("y", "yes", tr("y", "answer"), tr("yes", "answer"))
