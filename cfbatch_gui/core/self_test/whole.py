"""All checks that need no window, in the order in which they run."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.self_test.findings import Check, Finding


def checks_without_window(folder: Path) -> Iterator[Check]:
    """`folder` is a new one for all that is written; whoever made it removes it.

    Each group is imported when it is its turn: one for which a part of the installation is missing is a failed check.
    """
    for group in (_system, _resources, _decoding, _practice):
        try:
            checks = group(folder)
        except ImportError as error:
            checks = (Check(message("Parts of the program"), _raising(error)),)
        yield from checks


def _system(folder: Path) -> Sequence[Check]:
    from cfbatch_gui.core.self_test.system_checks import system_checks

    return system_checks(folder)


def _resources(_folder: Path) -> Sequence[Check]:
    from cfbatch_gui.core.self_test.resource_checks import resource_checks

    return resource_checks()


def _decoding(folder: Path) -> Sequence[Check]:
    from cfbatch_gui.core.self_test.decoding_checks import decoding_checks

    return decoding_checks(folder)


def _practice(folder: Path) -> Sequence[Check]:
    from cfbatch_gui.core.self_test.practice_runs import PracticeRuns

    return PracticeRuns(folder).checks()


def _raising(error: ImportError) -> Callable[[], Finding]:
    def look() -> Finding:
        raise error

    return look
