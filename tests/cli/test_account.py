"""Collecting in the account from the terminal: leave, fetch later, take over, and what is said when it cannot be."""

from pathlib import Path

from tests.canary import OTHER_TOKEN
from tests.cli.account_world import DOOR, EXAMPLE, World, account, leave, run, scores, world
from tests.journeys.terminal import read_csv

__all__ = ["account", "world"]  # fixtures


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


def test_a_worker_without_the_room_is_not_left(world: World, tmp_path: Path) -> None:
    """It is the plain door, which has the batches all the same."""
    with world.plain_door() as address:
        terminal = world.terminal("one", "--collects", address=address)
        with world.clock.held():
            ended = run(terminal, tmp_path / "ranked.csv", "--leave")
        assert ended.status == 10
        assert "this computer is still needed" in ended.err and "collect.jsonc" in ended.err
        listed = terminal.run("account", "list", "--connection", DOOR)
        assert listed.status == 2 and "has no collecting room" in listed.complaint
        assert terminal.run("resume").status == 0
    assert len(scores(tmp_path / "ranked.csv")) == 82
