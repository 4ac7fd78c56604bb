"""Fails the session when the canary is anywhere it should not be, and says where.

Searched: every file below the session's temporary folders as it is at the end; every other file that this process
opened for writing; what each test printed and logged; what processes printed whose output a test collected, and their
arguments, which everyone on a computer can read. Each worker of pytest-xdist searches what is its own.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pytest

from tests.canary_search import Hit, Search

_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_APPEND
_CAPTURES: Final = ("capsys", "capfd", "capsysbinary", "capfdbinary")
_REPORT: Final = "canary"  # a worker's report among what xdist carries to the controller


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch."""
    watch = CanaryWatch()
    config.pluginmanager.register(watch, "canary watch")
    sys.addaudithook(watch.audit)
    config.add_cleanup(_search_outputs(watch))


@pytest.fixture(scope="session", autouse=True)
def _temporary_folder(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> None:
    watch = pytestconfig.pluginmanager.get_plugin("canary watch")
    assert isinstance(watch, CanaryWatch)
    watch.folder = tmp_path_factory.getbasetemp()


class CanaryWatch:
    """One session's, or one worker's."""

    def __init__(self) -> None:
        self.search = Search()
        self.folder: Path | None = None
        self._written: set[str] = set()  # files, as they were named when they were opened
        self._done: set[Path] = set()  # folders that workers have searched
        self._over = False

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Python's own word on files that are written and processes that are started."""
        if self._over:
            return
        if event == "open":
            name, mode, flags = arguments
            if isinstance(name, str) and (flags & _WRITING or (mode and set(mode) & set("wax+"))):
                self._written.add(os.path.abspath(name))  # noqa: PTH100 # Path would be too slow for each of them
        elif event == "os.rename":
            self._written.add(os.path.abspath(os.fsdecode(arguments[1])))  # noqa: PTH100
        elif event == "shutil.rmtree":
            removed = Path(os.fsdecode(arguments[0])).absolute()
            if self.folder is not None and not removed.is_relative_to(self.folder):
                self.search.folder(removed, named=f"{removed}/")  # now or never
        elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
            words = arguments[1] if isinstance(arguments[1], list | tuple) else [arguments[1]]
            for word in words:
                self.search.text(os.fsencode(word), f"arguments of a process in {_current_test()}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """What a test printed and logged."""
        report = yield
        for name, text in report.sections:
            if name.endswith(call.when):  # the earlier ones have been searched
                self.search.text(text, f"output of {item.nodeid}: {name}")
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """What a test printed and then took out of the report to look at it itself."""
        value = yield
        if fixturedef.argname in _CAPTURES:
            value.readouterr = self._searching(value.readouterr)
        return value

    def _searching(self, read: Callable[[], Any]) -> Callable[[], Any]:
        def read_and_search() -> Any:
            found = read()
            for text in found:
                self.search.text(text, f"output of {_current_test()}")
            return found

        return read_and_search

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended; one that crashed has no report, and its folder is searched here."""
        report = getattr(node, "workeroutput", {}).get(_REPORT)
        if report is None:
            return
        self._done.add(Path(report.pop("folder")))
        hits = {Hit(**hit) for hit in report.pop("hits")}
        self.search.hits |= hits
        self.search.files += report["files"]
        self.search.size += report["size"]
        self.search.unread += report["unread"]
        self.search.seconds = max(self.search.seconds, report["seconds"])  # they search at the same time

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Search, and fail the session."""
        self._over = True
        if session.config.pluginmanager.hasplugin("dsession"):  # the controller, which runs no test itself
            self.folder = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        if self.folder is None:  # no test has run
            return
        self.search.folder(self.folder, without=self._done)
        for name in self._written:
            if not Path(name).is_relative_to(self.folder) and "__pycache__" not in name:
                self.search.file(Path(name), f"file {name}")
        if hasattr(session.config, "workeroutput"):
            report = asdict(self.search) | {"hits": [asdict(hit) for hit in self.search.hits]}
            session.config.workeroutput[_REPORT] = report | {"folder": str(self.folder)}
        elif self.search.hits and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The places, one a line; without the canary itself."""
        search = self.search
        if search.hits:
            terminalreporter.section("a token was written", red=True, bold=True)
            for hit in sorted(search.hits):
                terminalreporter.line(str(hit))
        if search.files:
            terminalreporter.line(
                f"searched for the tests' tokens: {search.files:,} files, {search.size / 1e6:,.1f} MB,"
                f" {search.seconds:.1f} s, {search.unread:,} damaged; found in {len(search.hits):,} places"
            )


def _search_outputs(watch: CanaryWatch) -> Callable[[], None]:
    """Search what processes printed; returns how to stop that."""
    communicate = subprocess.Popen.communicate

    def communicate_and_search(process: "subprocess.Popen[Any]", *arguments: Any, **more: Any) -> Any:
        found = communicate(process, *arguments, **more)
        for text in found:
            if text:
                watch.search.text(text, f"output of a process in {_current_test()}")
        return found

    def stop() -> None:
        subprocess.Popen.communicate = communicate  # type: ignore[method-assign]

    subprocess.Popen.communicate = communicate_and_search  # type: ignore[method-assign, assignment]
    return stop


def _current_test() -> str:
    return os.environ.get("PYTEST_CURRENT_TEST", "no test")
