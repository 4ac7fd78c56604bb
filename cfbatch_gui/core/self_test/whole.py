"""All checks that need no window, in the order in which they run."""

from collections.abc import Iterator
from pathlib import Path

from cfbatch_gui.core.self_test.decoding_checks import decoding_checks
from cfbatch_gui.core.self_test.findings import Check
from cfbatch_gui.core.self_test.practice_runs import PracticeRuns
from cfbatch_gui.core.self_test.resource_checks import resource_checks
from cfbatch_gui.core.self_test.system_checks import system_checks


def checks_without_window(folder: Path) -> Iterator[Check]:
    """`folder` is a new one for all that is written; whoever made it removes it."""
    yield from system_checks(folder)
    yield from resource_checks()
    yield from decoding_checks(folder)
    yield from PracticeRuns(folder).checks()
