import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.journeys.desktop import Desktop, why_not
from tests.journeys.terminal import Terminal
from tests.support.practice import PracticeServer


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A user's terminal with an empty data folder."""
    return Terminal(tmp_path / "data")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    """The address of a practice service, which answers at once."""
    with PracticeServer(tmp_path / "service") as server:
        yield server.url


@pytest.fixture
def runtime_folder() -> Iterator[Path]:
    """A user's folder for sockets, as every desktop has one: its path is short, as that of a socket has to be."""
    with tempfile.TemporaryDirectory(prefix="cf-") as folder:
        yield Path(folder)


@pytest.fixture
def desktop(tmp_path: Path, runtime_folder: Path) -> Iterator[Desktop]:
    """A screen with a keyboard, a home folder, and an empty data folder."""
    if reason := why_not():
        pytest.skip(reason)
    (tmp_path / "home").mkdir()
    desktop = Desktop(tmp_path / "data", tmp_path / "home", {"XDG_RUNTIME_DIR": str(runtime_folder)})
    with the_screen():
        yield desktop
        for process in desktop.started:
            if process.poll() is None:
                process.kill()
            process.communicate()


@contextmanager
def the_screen() -> Iterator[None]:
    """Keep the screen and its keyboard for this process until the end of the block."""
    import fcntl  # there are screens of this sort on POSIX only

    name = f"cfbatch-screen-{os.environ['DISPLAY'].lstrip(':')}.lock"
    with Path(tempfile.gettempdir(), name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
