"""Jobs that are left to the account: in which states, with which status, and after which interruptions."""

import io
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.cli.console import Console, ExitStatus, worst_of
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.cli.working import leaving_status
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.settings import Settings
from cfbatch_gui.words.jobs import account_line, progress_words
from cfbatch_gui.words.states import state_words
from tests.cli.account_world import DOOR, World, account, run, scores, world
from tests.journeys.terminal import EXAMPLE, jobs_in, read_until
from tests.support.batches import DIRECT, HANDED_OVER, HERE, PLANNED, UNKNOWN, WAITING, job_of

__all__ = ["account", "world"]  # fixtures


@pytest.mark.parametrize(
    ("job", "status"),
    [
        (job_of(HANDED_OVER, WAITING, HERE), ExitStatus.LEFT),
        (job_of(HANDED_OVER, WAITING, account_problem="It has stopped."), ExitStatus.LEFT),
        (job_of(HANDED_OVER, UNKNOWN), ExitStatus.OUTCOME_UNKNOWN),
        (job_of(HANDED_OVER, DIRECT), None),
        (job_of(HANDED_OVER, PLANNED), None),
        (job_of(HANDED_OVER, DIRECT, account_problem="It has stopped."), ExitStatus.NOT_LEFT),
        (job_of(DIRECT, account_problem="It has no room."), ExitStatus.NOT_LEFT),
        (job_of(UNKNOWN), None),
        (job_of(HERE, HERE), None),
        (job_of(HERE, account_problem="It has stopped."), None),
        (job_of(HANDED_OVER, paused_because="The token was refused."), None),
    ],
)
def test_a_job_is_left_when_only_the_account_is_needed(job: Job, status: ExitStatus | None) -> None:
    assert leaving_status(job) is status


@pytest.mark.parametrize(
    ("statuses", "status"),
    [((), 0), ((0, 9), 9), ((0, 9, 1), 1), ((9, 4), 4), ((9, 10), 10), ((10, 3), 10), ((3, 1), 3)],
)
def test_of_several_jobs_the_worst_counts(statuses: tuple[int, ...], status: int) -> None:
    assert worst_of(map(ExitStatus, statuses)) == status


def test_one_that_is_interrupted_says_that_the_account_goes_on(world: World, tmp_path: Path) -> None:
    terminal = world.terminal("one", "--collects")
    arguments = ("run", EXAMPLE, "--rank", "--connection", DOOR, "--no-reuse")
    with world.clock.stopped():
        ended = terminal.run_until(r"Ctrl\+C", signal.SIGINT, *arguments)
    assert ended.status == 130
    (left,) = terminal.jobs()
    assert ended.err.splitlines()[-1].count(f"“cfbatch resume {left['job']}”") == 1
    assert terminal.run("resume", left["job"]).status == 0


def test_a_program_reads_where_the_answers_are(world: World, tmp_path: Path) -> None:
    terminal = world.terminal("one", "--collects", "--keep-days", "3")
    with world.clock.stopped():
        left = run(terminal, tmp_path / "ranked.csv", "--leave", "--json")
        assert (left.status, left.json["state"]) == (9, "working")
        assert f"Not written yet: {tmp_path / 'ranked.csv'}." in left.err
        count = len(left.json["batches"])
        found = left.json["account"]
        counts = {"here": 0, "in_account": 0, "at_service": count, "direct": 0, "to_send": 0, "bytes_in_account": 0}
        assert found == counts | {"lid_may_close": True, "problem": None, "has_copies": True}
        (known,) = jobs_in(terminal.data)
        assert account_line(known) and account_line(known) in terminal.run("jobs").out
    done = terminal.run("resume", left.json["job"], "--json").json
    assert (done["account"]["here"], done["account"]["lid_may_close"]) == (count, False)
    assert f"cfbatch account clear {left.json['job']}" in terminal.run("show", left.json["job"]).out
    assert account_line(jobs_in(terminal.data)[0]) not in terminal.run("jobs").out


def test_a_job_that_the_account_has_refused_is_handed_over_by_leaving_it_again(world: World, tmp_path: Path) -> None:
    """The Worker was the plain door when the job was sent, and has its room by now."""
    terminal = world.terminal("one", "--collects")
    path = Paths(terminal.data).settings
    settings = Settings.load(path)
    with world.clock.stopped():
        with world.plain_door() as address:
            replace(settings, connections=tuple(replace(each, url=address) for each in settings.connections)).save(path)
            ended = run(terminal, tmp_path / "ranked.csv", "--leave", "--json")
            assert ended.status == 10 and f"“cfbatch resume {ended.json['job']} --collect-in-account”" in ended.err
            listed = terminal.run("account", "list", "--connection", DOOR)
            assert "worker_no_collecting_room_your_account" in listed.codes, listed.err
            assert ended.json["account"]["problem"] in terminal.run("show", ended.json["job"]).out
            assert ended.json["account"]["direct"] > 0
            assert terminal.run("resume", "--leave").status == 10, "it was tried again"
        settings.save(path)
        again = terminal.run("resume", ended.json["job"], "--leave")
        assert again.status == 9, again.err
        assert terminal.jobs()[0]["account"]["problem"] is None
        here = terminal.run("resume", ended.json["job"], "--no-collect-in-account", "--leave")
        assert here.status == 2 and "job_is_not_collected_your_account" in here.codes
    assert terminal.run("resume", ended.json["job"], "--no-collect-in-account").status == 0
    assert len(scores(tmp_path / "ranked.csv")) == 82


def test_what_cannot_be_left_is_not_gone_on_with(world: World, tmp_path: Path) -> None:
    terminal = world.terminal("one")
    assert terminal.run("resume", "--collect-in-account").status == 2
    with world.clock.stopped():
        with terminal.start("run", EXAMPLE, "--rank", "--connection", DOOR, "--no-reuse") as process:
            read_until(process, state_words(BatchState.QUEUED).text)
            process.send_signal(signal.SIGKILL)
            process.wait(60)
        (known,) = terminal.jobs()
        for arguments in ((), (known["job"],)):
            ended = terminal.run("resume", *arguments, "--leave")
            assert ended.status == 2
            assert "job_is_not_collected_your_account" in ended.codes and known["job"] in ended.complaint
        handed = terminal.run("resume", known["job"], "--collect-in-account", "--leave")
        assert handed.status == 9, handed.err
    assert terminal.run("resume").status == 0
    assert terminal.run("resume", "--leave").status == 0, "there is nothing to leave"


def said_of(*states: Job, is_leaving: bool = False) -> list[str]:
    err = io.StringIO()
    progress = Progress(Console(io.StringIO(), err))
    progress.follow(states[0], is_leaving=is_leaving)
    for state in states[1:]:
        progress.show_job(state)
    return err.getvalue().splitlines()


def test_it_is_said_once_that_the_computer_may_be_turned_off() -> None:
    pairs = ((PLANNED, DIRECT), (DIRECT, DIRECT), (HANDED_OVER, HANDED_OVER), (HANDED_OVER, WAITING))
    states = [job_of(*pair) for pair in pairs]
    progress = [progress_words(state.batches) for state in states]
    (line,) = set(said_of(*states)) - set(progress)
    assert said_of(*states) == [*progress[:2], line, *progress[2:]]
    assert said_of(*states, is_leaving=True) == progress
    assert said_of(*states[2:]) == progress[2:], "it was so when the command began"


def test_a_problem_is_said_when_it_comes_and_when_a_command_begins() -> None:
    before = job_of(HANDED_OVER)
    after = job_of(replace(HANDED_OVER, direct_only=True), account_problem="It has stopped.")
    first, second = (progress_words(state.batches) for state in (before, after))
    line, *_ = said_of(after, after)
    assert line.startswith("It has stopped.") and "--collect-in-account" in line
    assert said_of(before, after, after) == [first, line, second]
    assert len(said_of(job_of(HERE, account_problem="It has stopped."))) == 1, "it is the past"
