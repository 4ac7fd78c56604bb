"""For every test: its language, the search for tokens, Ctrl+C as in a terminal, who shares a worker, --random-order."""

import gc
import linecache
import os
import random
import signal
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

pytest_plugins = ["tests.canary_plugin"]

os.environ["LANGUAGE"] = "en"  # the program's sentences in tests, on whatever computer

# A deadline per example would be an assertion on time.
settings.register_profile("short", deadline=None, max_examples=30, derandomize=True)  # the same ones each time
settings.register_profile("thorough", deadline=None, max_examples=1_000)  # tests/thorough.py
settings.load_profile("short")

# Every module of the project would be parsed for constants to try, which takes 180 MB and seconds of each worker.
setattr(providers, "is_local_module_file", lambda path: False)  # noqa: B010 - it is a cached function

for _name, _handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    # As in the background of a shell without jobs, or under nohup; every program that a test starts would be deaf too.
    if (_number := getattr(signal, _name, None)) is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)

# One worker runs all tests of each of these: they share what takes long to make, or the one screen, mouse and keyboard.
_TOGETHER: Final = (
    "tests/worker/",
    "tests/journeys/test_window_",
    "tests/journeys/test_accessibility.py",
    "tests/journeys/test_terminal_versions.py",
    "tests/journeys/test_terminal_settle.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of this suite."""
    parser.addoption("--write-docs", action="store_true", help="write the pages of docs/ that tests compare")
    parser.addoption(
        "--random-order", type=int, metavar="SEED", help="run the tests in another order, module by module"
    )


def pytest_collection_finish() -> None:
    """What is loaded by now stays to the end: no collection of garbage searches it again.

    Only the sources of all modules need not, which finding the tests has read: 30 MB of each worker.
    """
    linecache.clearcache()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Another order: of the modules, and of the tests in each, so that what a module shares is made once.

    Whatever is tested on generated examples is tested on more of them by `make prove`.
    """
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("thorough")
    seed = config.getoption("--random-order")
    if seed is not None:
        chance = random.Random(seed)
        modules = list(dict.fromkeys(item.path for item in items))
        chance.shuffle(modules)
        rank = {path: number for number, path in enumerate(modules)}
        chance.shuffle(items)
        items.sort(key=lambda item: rank[item.path])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Every test by itself to whoever is free, except for those that share what is expensive."""
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    class Sharing(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return next((start for start in _TOGETHER if nodeid.startswith(start)), nodeid)

        def remove_node(self, node: Any) -> Any:
            """After a crash, hand on only what has not run: whoever is given a unit without tests waits for ever."""
            work = self.assigned_work[node]
            for scope in [scope for scope, tests in work.items() if all(tests.values())]:
                del work[scope]
            return super().remove_node(node)

    return Sharing(config, log) if config.getoption("dist") == "loadscope" else None
