"""The account as terminals see it: a Worker with a collecting room, and data folders that are connected to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from cfbatch_gui.core.connections.credentials import variable_of
from tests.core.account.conftest import Account, running_account
from tests.journeys.terminal import EXAMPLE, Ended, Terminal, read_csv
from tests.worker.runtime import SECRET, running_worker

DOOR = "door"


class World:
    """The account, and terminals that are connected to its Worker, each with a data folder below `folder`."""

    def __init__(self, folder: Path, account: Account) -> None:
        self.folder, self.account, self.address, self.clock = folder, account, account.address, account.clock

    @contextmanager
    def plain_door(self) -> Iterator[str]:
        """The address of a Worker without a collecting room, before the same service."""
        with running_worker(urlsplit(self.account.practice.url).netloc) as running:
            yield running.addresses["with-secret"]

    def terminal(self, name: str, *arguments: str, secret: str = SECRET) -> Terminal:
        """A data folder with the connection `door`, whose secret is in its environment."""
        terminal = Terminal(self.folder / name)
        added = terminal.run(
            *("connections", "add", "worker", "--url", self.address, "--name", DOOR, "--no-test"),
            *arguments,
            given=secret,
        )
        assert added.status == 0, added.err
        terminal.environ[variable_of(terminal.connections()[DOOR]["id"])] = secret
        return terminal


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with running_account(tmp_path_factory) as account:
        yield account


@pytest.fixture
def world(account: Account, tmp_path: Path) -> World:
    return World(tmp_path, account)


def run(terminal: Terminal, out: Path, *arguments: str) -> Ended:
    return terminal.run("run", EXAMPLE, "--rank", "--connection", DOOR, "--no-reuse", "--out", out, *arguments)


def leave(world: World, terminal: Terminal, out: Path) -> str:
    """Run a job that is left to the account while the service is still at work; its id."""
    with world.clock.stopped():
        left = run(terminal, out, "--collect-in-account", "--leave")
        assert left.status == 9, left.err
        assert terminal.run("resume", "--leave").status == 9, "nothing is there yet"
        (job,) = terminal.jobs()
        assert job["account"]["at_service"] > 0
    return str(job["job"])


def in_account(terminal: Terminal) -> dict[str, dict[str, Any]]:
    """The jobs in the account, by their ids."""
    listed = terminal.run("account", "list", "--connection", DOOR, "--json").json["jobs"]
    return {each["job"]: each for each in listed}


def scores(path: Path) -> list[tuple[str, str, str]]:
    return [(row["query"], row["doc_id"], row["score"]) for row in read_csv(path)]
