import io
from dataclasses import replace

import pytest

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.jobs import lines_of_jobs
from cfbatch_gui.cli.progress import Progress
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.workers_ai.catalogue import Price
from cfbatch_gui.words.jobs import progress_words
from cfbatch_gui.words.plans import share_words
from tests.support.batches import DIRECT, PLANNED, job_of


def test_a_list_has_the_columns_that_have_words_for_any_job() -> None:
    jobs = [Job("j1", "May", Kind.RANK, "m", "3mn5jytq", 0.0), Job("j2", "June", Kind.RANK, "m", "gone", 1e9)]
    names = {"3mn5jytq": "My\nWorker"}
    titles, first, second = lines_of_jobs(jobs, 100, lambda connection: names.get(connection, connection))
    assert first.startswith("j1") and first.endswith("May") and "My Worker" in first and "3mn5jytq" not in first
    assert "gone" in second and "2001" in second
    assert "TAGS" not in titles and "TAGS" in next(lines_of_jobs([replace(jobs[0], tags=("a",))], 100, str))


def test_a_share_that_is_not_nothing_does_not_look_like_it() -> None:
    assert [share_words(Price(0.0, 0.0, share)) for share in (0.0, 0.0004, 0.032)] == ["0.0%", "less than 0.1%", "3.2%"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_of_a_batch_its_state_an_unknown_word_of_the_service_and_why_it_waits_are_said() -> None:
    unknown, known, waiting = (
        progress_words([replace(DIRECT, service_word="warming up")]),
        progress_words([replace(DIRECT, state=BatchState.RUNNING, service_word="running")]),
        progress_words([replace(PLANNED, error="No network.")]),
    )
    assert "warming up" in unknown and waiting.endswith("No network.")
    assert [text.count(" · ") for text in (unknown, known, waiting)] == [2, 1, 2]


def test_without_a_terminal_there_is_a_line_for_each_change() -> None:
    err = io.StringIO()
    progress = Progress(Console(io.StringIO(), err))
    progress.show_read("a.csv", 5, 10)
    states = [job_of(state) for state in (BatchState.PLANNED, BatchState.QUEUED, BatchState.QUEUED, BatchState.DONE)]
    progress.follow(states[0])
    for each in (*states[1:3], replace(job_of(BatchState.DONE), id="another"), states[3]):
        progress.show_job(each)
    progress.end()
    lines = dict.fromkeys(progress_words(each.batches) for each in states)
    assert err.getvalue().splitlines() == list(lines) and len(lines) == 3


def test_on_a_terminal_there_is_one_line_that_goes_away() -> None:
    err = Terminal()
    progress = Progress(Console(io.StringIO(), err), clock=lambda: 100.0)
    progress.show_read("a.csv", 5, 10)
    progress.show_read("a.csv", 6, 10)
    progress.follow(working := job_of(BatchState.DONE, BatchState.QUEUED))
    progress.end()
    drawn = err.getvalue().split(f"\r{' ' * (progress.console.width - 1)}\r")
    assert drawn == [
        "",
        "[████████████░░░░░░░░░░░░] reading a.csv",
        f"[████████████░░░░░░░░░░░░] {progress_words(working.batches)}",
        "",
    ]


@pytest.mark.parametrize(("beside", "bar"), [(10, "[███░░░] "), (9, "")])
def test_on_a_narrow_terminal_the_words_come_first(monkeypatch: pytest.MonkeyPatch, beside: int, bar: str) -> None:
    working = job_of(BatchState.DONE, BatchState.QUEUED)
    words, err = progress_words(working.batches), Terminal()
    columns = len(words) + beside
    monkeypatch.setenv("COLUMNS", str(columns))
    Progress(Console(io.StringIO(), err)).follow(working)
    assert err.getvalue() == f"\r{' ' * (columns - 1)}\r{bar}{words}"
