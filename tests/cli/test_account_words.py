"""How jobs that the account collects are described: while they run, in lists, and one by itself."""

import io
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.progress import (
    Place,
    Progress,
    account_cell,
    account_line,
    describe,
    facts_of_account,
    json_of_account,
    place_of,
    problem_line,
)
from cfbatch_gui.cli.report import lines_of_job, lines_of_jobs
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job

DIRECT = Batch("j1", 1, BatchState.QUEUED, requests=1, texts=1, bytes=10, request_id="r")
HANDED_OVER = replace(DIRECT, shard=1, handed_over_at=5.0)
WAITING = replace(HANDED_OVER, stored_bytes=2_500_000)
HERE = replace(HANDED_OVER, state=BatchState.DONE)
PLANNED = replace(DIRECT, state=BatchState.PLANNED)


def job(*batches: Batch, problem: str = "") -> Job:
    numbered = tuple(replace(batch, number=number) for number, batch in enumerate(batches, start=1))
    made = Job("j1", "n", Kind.RANK, "m", "door", 0.0, is_sent=True, batches=numbered)
    return replace(made, account_problem=problem)


@pytest.mark.parametrize(
    ("batch", "place"),
    [
        (DIRECT, None),
        (HANDED_OVER, Place.AT_SERVICE),
        (WAITING, Place.IN_ACCOUNT),
        (replace(WAITING, direct_only=True, stored_bytes=0), None),
        (replace(WAITING, state=BatchState.COLLECTING), None),
        (HERE, None),
        (PLANNED, None),
    ],
)
def test_what_is_not_here_is_in_one_of_two_places(batch: Batch, place: Place | None) -> None:
    assert place_of(batch) is place


def test_batches_of_the_account_are_told_from_those_that_this_computer_asks_for() -> None:
    assert describe(job(HERE, HANDED_OVER, HANDED_OVER, WAITING, DIRECT, PLANNED).batches) == (
        "1 of 6 batches done · 1 to send · 1 queued · 2 at the service · 1 waiting in your account"
    )


def test_one_job_is_counted_by_place() -> None:
    sent = job(HERE, HANDED_OVER, HANDED_OVER, WAITING, WAITING, DIRECT, PLANNED)
    assert account_line(sent) == (
        "1 here · 2 waiting in your account, 5.0 MB · 2 at the service · 1 asked for by this computer · 1 to send"
    )


def test_a_job_without_an_account_is_described_as_ever(tmp_path: Path) -> None:
    sent = job(DIRECT, PLANNED)
    assert json_of_account(sent) is None
    assert account_cell(sent) == ""
    assert "YOUR ACCOUNT" not in next(iter(lines_of_jobs([sent], 100, str)))
    assert not any(line.startswith(("Account", "Problem")) for line in shown(sent, tmp_path))


def shown(job: Job, folder: Path) -> list[str]:
    return list(lines_of_job(job, JobFolder(folder), 100, "door"))


def test_a_problem_comes_with_what_to_do(tmp_path: Path) -> None:
    sent = job(HANDED_OVER, replace(HANDED_OVER, direct_only=True), problem="Collecting has stopped.")
    line = "Collecting has stopped. “cfbatch resume j1 --collect-in-account” hands the job over again."
    assert problem_line(sent) == line
    assert account_cell(sent) == "1 at the service · stopped"
    lines = shown(sent, tmp_path)
    assert f"Problem     {line}" in lines
    assert [line.split()[:4] for line in lines[-2:]] == [["1", "at", "the", "service"], ["2", "queued", "1", "10"]]
    done = job(HERE, HERE, problem="Collecting has stopped.")
    assert problem_line(done) == "Collecting has stopped.", "there is nothing to hand over any more"
    assert account_cell(done) == ""


def test_copies_that_stay_in_the_account_are_shown_with_the_way_to_delete_them() -> None:
    kept = job(HERE)
    assert dict(facts_of_account(kept))["Copies"] == "in your account; “cfbatch account clear j1” deletes them"
    assert "Copies" not in dict(facts_of_account(replace(kept, account_cleared_at=9.0)))
    assert "Copies" not in dict(facts_of_account(job(HERE, HANDED_OVER))), "these go when all answers are here"


def said_of(*states: Job, is_leaving: bool = False) -> list[str]:
    """What stands on stderr when a job is followed through these states."""
    err = io.StringIO()
    progress = Progress(Console(io.StringIO(), err))
    progress.follow(states[0], is_leaving=is_leaving)
    for state in states[1:]:
        progress.show_job(state)
    return err.getvalue().splitlines()


def test_it_is_said_once_that_the_computer_may_be_turned_off() -> None:
    words = (
        "Your account collects the answers of job j1 now. You may stop this with Ctrl+C and turn the computer off;"
        " “cfbatch resume j1” fetches them."
    )
    states = (job(PLANNED, DIRECT), job(DIRECT, DIRECT), job(HANDED_OVER, HANDED_OVER), job(HANDED_OVER, WAITING))
    assert said_of(*states).count(words) == 1
    assert said_of(*states).index(words) == 2
    assert words not in said_of(*states, is_leaving=True)
    assert words not in said_of(*states[2:]), "it was so when the command began"


def test_a_problem_is_said_when_it_comes_and_when_a_command_begins() -> None:
    before, after = job(HANDED_OVER), job(replace(HANDED_OVER, direct_only=True), problem="It has stopped.")
    line = problem_line(after)
    first, second = "0 of 1 batch done · 1 at the service", "0 of 1 batch done · 1 queued"
    assert said_of(before, after, after) == [first, line, second]
    assert said_of(after, after)[0] == line
    assert said_of(job(HERE, problem="It has stopped.")) == ["1 of 1 batch done"], "it is the past"


def test_sentences_stand_above_the_line_of_a_terminal() -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    err = Screen()
    progress = Progress(Console(io.StringIO(), err))
    progress.follow(job(HANDED_OVER))
    after = job(replace(HANDED_OVER, direct_only=True), problem="It has stopped.")
    progress.show_job(after)
    drawn = err.getvalue().split("\r\x1b[K")
    assert drawn[2] == f"{problem_line(after)}\n"
    assert drawn[1].endswith("1 at the service") and drawn[3].endswith("1 queued")
