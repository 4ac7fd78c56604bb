"""Collecting in the account from the terminal: leave, fetch later, take over, and what is said when it cannot be."""

import os
from pathlib import Path

import pytest

from tests.cli.account_world import DOOR, World, account, in_account, leave, run, scores, world
from tests.journeys.terminal import EXAMPLE, Ended, Terminal, read_csv

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
    assert job not in in_account(terminal), "the copies go once all answers are here"


def take_over(terminal: Terminal, *arguments: object) -> Ended:
    return terminal.run("account", "take-over", *arguments, "--connection", DOOR)


def test_what_cannot_be_taken_over_leaves_nothing(world: World, tmp_path: Path) -> None:
    first, second = world.terminal("one", "--keep-days", "1"), world.terminal("two")
    named = ("--name", "of this test", "--collect-in-account", "--leave")
    with world.clock.stopped():
        jobs = [run(first, tmp_path / f"{number}.csv", *named, "--json").json["job"] for number in range(2)]
    other = tmp_path / "other.csv"
    other.write_text(EXAMPLE.read_text("utf-8").replace("refund", "return", 1), encoding="utf-8")
    for arguments, code in (
        (("nothing",), "n_jobs_your_account_id_or"),
        (("of this test",), "n_jobs_your_account_id_or"),
        ((jobs[0], "--input", EXAMPLE, EXAMPLE, EXAMPLE), "two_files_most_one_queries_one"),
        ((jobs[0], "--input", EXAMPLE, "--embed"), "file_is_read_another_kind_result"),
        ((jobs[0], "--input", other), "is_not_file_was_sent_or"),
        ((jobs[0], "--input", EXAMPLE, "--out", EXAMPLE), "path_is_file_is_read_choose"),
    ):
        refused = take_over(second, *arguments)
        assert refused.status == 2 and code in refused.codes, (arguments, refused.err)
    assert second.jobs() == []
    assert take_over(second, jobs[0][:7], "--input", EXAMPLE).status == 0
    listed = in_account(second)
    assert [listed[job]["is_here"] for job in jobs] == [True, False]
    assert {(listed[job]["name"], listed[job]["kind"], listed[job]["batches"]) for job in jobs} == {
        ("of this test", "rank", 1)
    }
    cleared = second.run("account", "clear", jobs[0])
    assert cleared.status == 2 and "job_id_was_sent_another_computer" in cleared.codes


def test_a_file_that_was_read_in_its_own_way_is_read_so_again(world: World, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("".join(f"{n};why {n % 4};because {n}\n" for n in range(20)), encoding="utf-8")
    first, second = world.terminal("one", "--collects", "--keep-days", "1"), world.terminal("two")
    roles = ("--header", "no", "--role", "Column 2=query", "--role", "Column 3=context", "--role", "Column 1=id")
    sent = ("run", path, "--rank", *roles, "--connection", DOOR, "--no-reuse", "--out", tmp_path / "one.csv")
    with world.clock.stopped():
        left = first.run(*sent, "--leave", "--json")
    assert left.status == 9, left.err
    assert take_over(second, left.json["job"], "--input", path, "--out", tmp_path / "two.csv").status == 0
    assert first.run("resume").status == 0
    assert read_csv(tmp_path / "two.csv") == read_csv(tmp_path / "one.csv")
    assert len(read_csv(tmp_path / "two.csv")) == 20


@pytest.mark.skipif(os.name == "nt", reason="a terminal of its own is made by Unix")
def test_a_person_is_asked_before_a_job_is_removed(world: World, tmp_path: Path) -> None:
    terminal = world.terminal("one")
    job = leave(world, terminal, tmp_path / "ranked.csv")
    terminal.environ["COLUMNS"] = "1000"

    def answered(text: str) -> tuple[int, str]:
        return terminal.run_asked(text, "account", "remove", job, "--connection", DOOR)

    for answer, status in (("n\n", 1), ("y\n", 0)):
        assert answered(answer)[0] == status
        assert (job in in_account(terminal)) is (answer == "n\n")


def test_copies_go_when_they_are_told_to(world: World, tmp_path: Path) -> None:
    terminal = world.terminal("one", "--keep-days", "30")
    job = leave(world, terminal, tmp_path / "ranked.csv")
    early = terminal.run("account", "clear", job)
    assert (early.status, early.codes) == (2, {"job_id_is_not_finished_copies"})
    assert terminal.run("resume").status == 0
    assert job in in_account(terminal)
    for _ in range(2):
        assert terminal.run("account", "clear", job).status == 0, "also where there is nothing left to delete"
    assert job not in in_account(terminal)
    assert len(scores(tmp_path / "ranked.csv")) == 82


def test_whether_a_worker_collects_is_told_when_it_is_added_and_later(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path / "data", {"COLUMNS": "400"})
    add = ("connections", "add", "worker", "--url", "https://1.example.com", "--no-test", "--name", DOOR)
    change = ("connections", "change", DOOR)
    for arguments, collects, days in (
        ((*add, "--collects", "--keep-days", "2"), True, 2),
        ((*change, "--no-collects"), False, 2),
        ((*change, "--collects", "--keep-days", "0"), True, 0),
        ((*change, "--keep-days", "1"), True, 1),
    ):
        assert terminal.run(*arguments).status == 0
        assert (terminal.connections()[DOOR]["collects"], terminal.connections()[DOOR]["keep_days"]) == (collects, days)
