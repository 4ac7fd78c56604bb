from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.cli.main import main
from cfbatch_gui.core.connections.address_book import PRACTICE_SECONDS_VARIABLE
from cfbatch_gui.core.system.paths import Paths
from tests.journeys.terminal import Terminal

Run = Callable[..., tuple[int, str, str]]  # arguments to status, standard output and standard error


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "data")


@pytest.fixture
def terminal(paths: Paths) -> Terminal:
    return Terminal(paths.root)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, paths: Paths) -> Run:
    """Run a command on the data folder of the test, 80 columns wide."""
    monkeypatch.setenv(PRACTICE_SECONDS_VARIABLE, "0")
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> tuple[int, str, str]:
        status = main([*map(str, arguments), "--data-dir", str(paths.root)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run
