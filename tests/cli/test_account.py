"""Collecting in the account from the terminal: leave, fetch later, take over, and what is said when it cannot be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import variable_of
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.practice.server import PracticeServer
from cfbatch_gui.core.system.resources import resource
from tests.canary import OTHER_TOKEN
from tests.core.account.conftest import ServiceClock
from tests.journeys.terminal import Ended, Terminal, read_csv
from tests.worker.collecting_runtime import CollectingRuntime
from tests.worker.runtime import SECRET, running_worker

EXAMPLE = resource("examples/help-centre-ranking.csv")
DOOR = "door"


class World:
    """The account's Worker with the service behind it, and terminals that are connected to it."""

    def __init__(self, folder: Path, address: str, clock: ServiceClock) -> None:
        self.folder, self.address, self.clock = folder, address, clock

    def terminal(self, name: str, *arguments: str, secret: str = SECRET, address: str = "") -> Terminal:
        """A data folder with the connection `door`, whose secret is in its environment."""
        terminal = Terminal(self.folder / name)
        added = terminal.run(
            *("connections", "add", "worker", "--url", address or self.address, "--name", DOOR, "--no-test"),
            *arguments,
            given=secret,
        )
        assert added.status == 0, added.err
        listed = terminal.run("connections", "list", "--json").json["connections"]
        (door,) = [each for each in listed if each["name"] == DOOR]
        terminal.environ[variable_of(door["id"])] = secret
        return terminal


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, ServiceClock]]:
    folder, clock = tmp_path_factory.mktemp("practice"), ServiceClock()
    with (
        PracticeServer(
            folder, seconds_queued=0.2, seconds_running=0.2, clock=clock, load_model=HashedNgrams
        ) as practice,
        CollectingRuntime(practice.url, tmp_path_factory.mktemp("account")) as runtime,
    ):
        yield runtime.address, practice.url, clock


@pytest.fixture
def world(account: tuple[str, str, ServiceClock], tmp_path: Path) -> World:
    return World(tmp_path, account[0], account[2])


def run(terminal: Terminal, out: Path, *arguments: str) -> Ended:
    return terminal.run("run", EXAMPLE, "--rank", "--connection", DOOR, "--no-reuse", "--out", out, *arguments)


def leave(world: World, terminal: Terminal, out: Path) -> str:
    """Run a job that is left to the account while the service is still at work; its id."""
    with world.clock.held():
        left = run(terminal, out, "--collect-in-account", "--leave")
        assert left.status == 9, left.err
        assert "You may turn this computer off" in left.err
        assert terminal.run("resume", "--leave").status == 9, "nothing is there yet"
        (job,) = terminal.jobs()
        shown = terminal.run("show", job["job"])
        assert "at the service" in shown.out + shown.err
    return str(job["job"])


def scores(path: Path) -> list[tuple[str, str, str]]:
    return [(row["query"], row["doc_id"], row["score"]) for row in read_csv(path)]


def test_a_job_is_left_and_fetched_by_a_later_start(world: World, tmp_path: Path) -> None:
    terminal = world.terminal("one")
    job = leave(world, terminal, tmp_path / "left.csv")
    assert not (tmp_path / "left.csv").exists()
    resumed = terminal.run_apart("resume")
    assert resumed.status == 0, resumed.err
    assert run(terminal, tmp_path / "direct.csv", "--no-collect-in-account").status == 0
    assert scores(tmp_path / "left.csv") == scores(tmp_path / "direct.csv")
    assert len(scores(tmp_path / "left.csv")) == 82
    listed = terminal.run("account", "list", "--connection", DOOR, "--json").json["jobs"]
    assert job not in [each["job"] for each in listed], "the copies go once all answers are here"


def test_the_connection_may_collect_by_itself_and_keep_the_copies(world: World, tmp_path: Path) -> None:
    terminal = world.terminal("one", "--collects", "--keep-days", "7")
    with world.clock.held():
        assert run(terminal, tmp_path / "ranked.csv", "--leave").status == 9
    assert terminal.run("resume").status == 0
    (job,) = terminal.jobs()
    listed = terminal.run("account", "list", "--connection", DOOR)
    assert job["job"] in listed.out and "yes" in listed.out
    cleared = terminal.run("account", "clear", job["job"])
    assert cleared.status == 0 and "Its results are here" in cleared.err
    assert job["job"] not in terminal.run("account", "list", "--connection", DOOR).out


def test_another_computer_takes_the_job_over(world: World, tmp_path: Path) -> None:
    first, second, third = (world.terminal(name, "--keep-days", "7") for name in ("one", "two", "three"))
    job = leave(world, first, tmp_path / "one.csv")
    take_over = ("account", "take-over", job, "--connection", DOOR)
    other = tmp_path / "other.csv"
    other.write_text(EXAMPLE.read_text("utf-8").replace("password", "passphrase"), encoding="utf-8")
    refused = second.run(*take_over, other, "--rank")
    assert refused.status == 2
    assert "This is not the file that was sent" in refused.complaint
    assert second.jobs() == []
    taken = second.run(*take_over, EXAMPLE, "--out", tmp_path / "two.csv")
    assert taken.status == 0, taken.err
    assert third.run(*take_over, "--out", tmp_path / "three.csv").status == 0
    named = read_csv(tmp_path / "three.csv")
    assert named[0]["query"] == "Query 1"
    assert sorted(row["score"] for row in named) == sorted(row["score"] for row in read_csv(tmp_path / "two.csv"))
    assert first.run("resume").status == 0
    assert scores(tmp_path / "two.csv") == scores(tmp_path / "one.csv")
    assert second.run(*take_over, EXAMPLE).status == 2, "it is here already"


def test_what_is_removed_is_asked_about_before(world: World, tmp_path: Path) -> None:
    terminal = world.terminal("one")
    job = leave(world, terminal, tmp_path / "ranked.csv")
    remove = ("account", "remove", job, "--connection", DOOR)
    asked = terminal.run(*remove)
    assert asked.status == 2 and "--yes" in asked.complaint
    assert terminal.run(*remove, "--yes").status == 0
    assert terminal.run(*remove, "--yes").status == 2, "nothing of that name is there any more"
    assert terminal.run("resume").status == 0, "the service itself is asked"
    assert len(scores(tmp_path / "ranked.csv")) == 82


def test_only_what_the_account_collects_can_be_left(world: World, tmp_path: Path) -> None:
    terminal = world.terminal("one")
    for arguments, words in (
        (("--leave",), "Say --collect-in-account as well"),
        (("--leave", "--collect-in-account", "--at-once"), "Leave out --leave"),
        (("--leave", "--collect-in-account", "--connection", "practice"), "Only a Worker of your own"),
    ):
        ended = run(terminal, tmp_path / "ranked.csv", *arguments)
        assert ended.status == 2 and words in ended.complaint
    assert terminal.jobs() == []


def test_a_wrong_secret_stops_the_command_and_loses_nothing(world: World, tmp_path: Path) -> None:
    terminal = world.terminal("one", "--collects")
    job = leave(world, terminal, tmp_path / "ranked.csv")
    (name,) = [each for each in terminal.environ if each.startswith("CFBATCH_SECRET_")]
    right, terminal.environ[name] = terminal.environ[name], OTHER_TOKEN
    refused = terminal.run("resume", job)
    assert refused.status == 4 and "refused the secret" in refused.err
    terminal.environ[name] = right
    assert terminal.run("resume", job).status == 0
    assert len(scores(tmp_path / "ranked.csv")) == 82


def test_a_worker_without_the_room_is_not_left(
    world: World, account: tuple[str, str, ServiceClock], tmp_path: Path
) -> None:
    """It is the plain door, which has the batches all the same."""
    with running_worker(account[1].removeprefix("http://").partition("/")[0]) as running:
        terminal = world.terminal("one", "--collects", address=running.addresses["with-secret"])
        with world.clock.held():
            ended = run(terminal, tmp_path / "ranked.csv", "--leave")
        assert ended.status == 10
        assert "this computer is still needed" in ended.err and "collect.jsonc" in ended.err
        listed = terminal.run("account", "list", "--connection", DOOR)
        assert listed.status == 2 and "has no collecting room" in listed.complaint
        assert terminal.run("resume").status == 0
    assert len(scores(tmp_path / "ranked.csv")) == 82
