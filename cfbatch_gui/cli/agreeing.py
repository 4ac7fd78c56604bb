"""Asking the user on the terminal whether to go on."""

import sys

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.language import tr
from cfbatch_gui.cli.secret_input import plain_interrupt
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import Message


def agreed(console: Console, otherwise: Message) -> bool:
    """Whether the user says yes. Raises UsageError, with the sentence `otherwise`, where nobody can be asked."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(otherwise)
    console.write_error(tr("Go on? [y/N] "))
    with plain_interrupt():
        return sys.stdin.readline().strip().casefold() in ("y", "yes", tr("y", "answer"), tr("yes", "answer"))
