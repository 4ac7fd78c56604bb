"""The list of jobs for commands that change nothing."""

from collections.abc import Callable
from typing import TypeVar

from cfbatch_gui.cli.console import Console
from cfbatch_gui.core.errors import LedgerDamaged
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.paths import Paths

T = TypeVar("T")


def read_ledger(paths: Paths, console: Console) -> Ledger:
    """The ledger, to be closed. One that is gone, empty or damaged is put together first, which is said."""
    return mended(paths, console, Ledger.open_read_only)


def mended(paths: Paths, console: Console, read: Callable[[Paths], T]) -> T:
    """What `read` makes of the ledger, as in `read_ledger`."""
    try:
        return read(paths)
    except LedgerDamaged:
        from cfbatch_gui.core.jobs.store.recovery import open_or_recover

        opened = open_or_recover(paths)
        opened.ledger.close()
        for sentence in opened.damage:
            console.say(said(sentence))
        return read(paths)
