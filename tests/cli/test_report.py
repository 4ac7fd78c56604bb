import io
from dataclasses import replace

import pytest

from cfbatch_gui.cli.console import Console
from cfbatch_gui.cli.jobs import lines_of_jobs
from cfbatch_gui.cli.progress import Progress, describe
from cfbatch_gui.cli.working import share_words
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.workers_ai.catalogue import Price


def test_a_connection_stands_in_the_list_by_the_name_that_people_gave_it() -> None:
    jobs = [Job("j1", "May", Kind.RANK, "m", "3mn5jytq", 0.0), Job("j2", "June", Kind.RANK, "m", "gone", 0.0)]
    names = {"3mn5jytq": "My\nWorker"}
    _, first, second = lines_of_jobs(jobs, 100, lambda connection: names.get(connection, connection))
    assert first.split("  ")[0] == "j1" and "My Worker" in first and "3mn5jytq" not in first
    assert "gone" in second


def test_a_share_that_is_not_nothing_does_not_look_like_it() -> None:
    assert [share_words(Price(0.0, 0.0, share)) for share in (0.0, 0.0004, 0.032)] == ["0.0%", "less than 0.1%", "3.2%"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def batch(number: int, state: BatchState, **more: object) -> Batch:
    return replace(Batch("j1", number, state, requests=1, texts=1, bytes=10), **more)  # type: ignore[arg-type]


def job(*states: BatchState) -> Job:
    batches = tuple(batch(number, state) for number, state in enumerate(states, start=1))
    return Job("j1", "n", Kind.RANK, "m", "practice", 0.0, is_sent=True, batches=batches)


@pytest.mark.parametrize(
    ("state", "more", "words"),
    [
        (BatchState.QUEUED, {"service_word": "warming up"}, "1 queued · the service says “warming up”"),
        (BatchState.RUNNING, {"service_word": "running"}, "1 running"),
        (BatchState.PLANNED, {"error": "No network."}, "1 to send · No network."),
    ],
)
def test_what_is_said_of_a_batch(state: BatchState, more: dict[str, str], words: str) -> None:
    assert describe([batch(1, state, **more)]) == f"0 of 1 batch done · {words}"


def test_without_a_terminal_there_is_a_line_for_each_change() -> None:
    err = io.StringIO()
    progress = Progress(Console(io.StringIO(), err))
    progress.show_read("a.csv", 5, 10)
    progress.follow(job(BatchState.PLANNED))
    progress.show_job(job(BatchState.QUEUED))
    progress.show_job(job(BatchState.QUEUED))
    progress.show_job(replace(job(BatchState.DONE), id="another"))
    progress.show_job(job(BatchState.DONE))
    progress.end()
    assert err.getvalue() == "0 of 1 batch done · 1 to send\n0 of 1 batch done · 1 queued\n1 of 1 batch done\n"


def test_on_a_terminal_there_is_one_line_that_goes_away() -> None:
    err = Terminal()
    progress = Progress(Console(io.StringIO(), err), clock=lambda: 100.0)
    progress.show_read("a.csv", 5, 10)
    progress.show_read("a.csv", 6, 10)
    progress.follow(job(BatchState.DONE, BatchState.QUEUED))
    progress.end()
    drawn = err.getvalue().split(f"\r{' ' * (progress.console.width - 1)}\r")
    assert drawn == [
        "",
        "[████████████░░░░░░░░░░░░] reading a.csv",
        "[████████████░░░░░░░░░░░░] 1 of 2 batches done · 1 queued",
        "",
    ]


@pytest.mark.parametrize(
    ("columns", "line"), [(40, "[███░░░] 1 of 2 batches done · 1 queued"), (39, "1 of 2 batches done · 1 queued")]
)
def test_on_a_narrow_terminal_the_words_come_first(monkeypatch: pytest.MonkeyPatch, columns: int, line: str) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    err = Terminal()
    Progress(Console(io.StringIO(), err)).follow(job(BatchState.DONE, BatchState.QUEUED))
    assert err.getvalue() == f"\r{' ' * (columns - 1)}\r{line}"
