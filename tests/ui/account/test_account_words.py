"""What the pages say of a job that the user's account collects: where its answers are, and what is still missing."""

from dataclasses import replace

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.account.shards import FREE_BATCHES, FREE_SHARDS
from cfbatch_gui.core.jobs.plan.planned import Planned
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobOptions
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, Connection, worker
from cfbatch_gui.ui.jobs.job_summary import account_words, can_change_account, can_clear_account, summary_words
from cfbatch_gui.ui.jobs.progress_view import batch_row
from cfbatch_gui.ui.state_names import library_words, words_of_job

NOW = 2_000.0
WORKER = worker("https://batch.example.workers.dev", connection_id="worker", title="Mine", collects=True)
DIRECT = replace(WORKER, collects=False)


def batch(number: int, where: str) -> Batch:
    made = Batch(
        "job", number, BatchState.QUEUED, 10, 100, 900_000, request_id=f"id-{number}", sent_at=1_000.0, changed_at=1_000
    )
    handed = replace(made, shard=1, handed_over_at=1_100.0, next_check_at=NOW + 3_600)
    return {
        "planned": replace(made, state=BatchState.PLANNED, request_id="", sent_at=0.0),
        "sending": replace(made, state=BatchState.SENDING, request_id=""),
        "direct": replace(made, next_check_at=NOW + 12),
        "service": handed,
        "account": replace(handed, stored_bytes=9_400_000, next_check_at=NOW - 2),
        "collecting": replace(handed, state=BatchState.COLLECTING),
        "here": replace(handed, state=BatchState.DONE, changed_at=NOW),
        "unknown": replace(made, state=BatchState.OUTCOME_UNKNOWN, request_id=""),
    }[where]


def job(*where: str, **changes: object) -> Job:
    batches = tuple(batch(number, each) for number, each in enumerate(where, 1))
    made = Job("job", "Texts", Kind.EMBED, "@cf/baai/bge-m3", "worker", 0.0, is_sent=True, sent_at=1_000.0, texts=900)
    return replace(made, batches=batches, **changes)  # type: ignore[arg-type]  # the names of its fields


CLOSE = "You can close this computer; the answers are fetched when CF Batch is open again."
LINES: dict[str, tuple[Job, str]] = {
    "all handed over": (job("service", "service", "account"), f"All 3 batches are with your account. {CLOSE}"),
    "the only one": (
        job("service"),
        "The batch is with your account. You can close this computer; the answer is fetched when CF Batch is open"
        " again.",
    ),
    "some are here": (job("here", "service"), f"All batches that are not here yet are with your account. {CLOSE}"),
    "some are not sent": (
        job("service", "direct", "sending", "planned"),
        "3 of 4 batches are not handed over yet. Leave CF Batch open until they are.",
    ),
    "one is not handed over": (
        job("service", "direct"),
        "1 of 2 batches is not handed over yet. Leave CF Batch open until it is.",
    ),
    "none is": (job("direct"), "The batch is not handed over yet. Leave CF Batch open until it is."),
    "an unknown outcome": (
        job("service", "unknown"),
        "1 batch needs you first; the others are with your account.",
    ),
    "paused": (
        job("service", "direct", paused_because="You stopped watching."),
        "Your account goes on collecting what it was handed. Carry on to fetch it.",
    ),
}


@pytest.mark.parametrize(("known", "line"), LINES.values(), ids=LINES)
def test_each_moment_has_its_sentence(known: Job, line: str) -> None:
    words = account_words(known, WORKER)
    assert words is not None and words.line == line
    assert words.may_close is line.endswith(("open again.",))


def test_the_figures_count_every_batch_and_the_bytes_that_wait() -> None:
    words = account_words(job("here", "account", "account", "service", "direct", "planned"), WORKER)
    assert words is not None
    assert [text for _, text in words.figures] == [
        "1 waiting to be sent",
        "2 at the service",
        "2 waiting in your account · 18.8 MB",
        "1 here",
    ]
    words = account_words(job("service"), WORKER)
    assert words is not None
    assert words.figures == ((0, ""), (1, "1 at the service"), (0, "0 waiting in your account"), (0, "0 here"))


def test_what_the_free_plan_does_not_take_is_said() -> None:
    count = FREE_SHARDS * FREE_BATCHES
    handed = [replace(batch(n, "service"), shard=1 + n % FREE_SHARDS) for n in range(1, count + 1)]
    known = replace(job(), batches=(*handed, batch(count + 1, "direct"), batch(count + 2, "direct")))
    words = account_words(known, WORKER)
    assert words is not None and words.line == (
        "On the Workers Free plan your account collects 500 batches of a job. CF Batch asks for the other 2 itself,"
        " while it is open."
    )
    words = account_words(
        known, worker(WORKER.base_url, connection_id="worker", title="Mine", paid_plan=True, collects=True)
    )
    assert words is not None and "not handed over yet" in words.line


@pytest.mark.parametrize(
    ("known", "connection"),
    [
        (job("direct"), DIRECT),
        (job("direct"), PRACTICE),
        (job("direct"), None),
        (job("here"), WORKER),
        (job("direct", account_problem="It has stopped."), WORKER),
        (job("direct", options=JobOptions(collect_in_account=False)), WORKER),
    ],
)
def test_nothing_is_said_where_the_account_has_nothing_to_do(known: Job, connection: Connection | None) -> None:
    assert account_words(known, connection) is None


def test_a_job_that_only_the_account_works_on_says_so_in_the_list() -> None:
    assert library_words(job("service", "here"), NOW).text == "At the service · 1 of 2 here · 16 min"
    assert library_words(job("account", "service"), NOW).text == "Waiting in your account · 0 of 2 here · 16 min"
    assert library_words(job("service", "direct"), NOW).text == "Running · 0 of 2 here · 16 min"
    assert library_words(job("direct", "direct"), NOW).text == "Running · 0 of 2 batches · 16 min"
    assert words_of_job(job("here", finished_at=NOW)).text == "Finished"
    assert words_of_job(job("service", paused_because="No room.")).text == "Paused"


def test_rows_of_batches_say_where_the_answer_is_and_when_it_is_looked_for() -> None:
    rows = {
        where: batch_row(batch(1, where), paused=False, now=NOW, in_collected_job=True, next_look=NOW + 30)
        for where in ("direct", "service", "account", "collecting", "here")
    }
    assert {where: (row.state.text, row.note, row.next_check) for where, row in rows.items()} == {
        "direct": ("Queued", "", "in 12 s"),
        "service": ("At the service", "", "in 30 s"),
        "account": ("Waiting in your account", "9.4 MB", "now"),
        "collecting": ("Collecting", "", "in 30 s"),
        "here": ("Here", "", "–"),
    }
    assert rows["account"].note_role == "quiet"
    assert batch_row(batch(1, "here"), paused=False, now=NOW).state.text == "Done"
    unknown = batch_row(batch(1, "service"), paused=False, now=NOW, next_look=None)
    assert unknown.next_check == ""


def test_the_header_says_what_waits_and_what_is_kept() -> None:
    assert summary_words(job("account", "service"), Planned())[-1] == "1 in your account, 9.4 MB"
    assert summary_words(job("here", finished_at=NOW), Planned())[-1] == "copies in your account"
    cleared = job("here", finished_at=NOW, account_cleared_at=NOW)
    assert "copies in your account" not in summary_words(cleared, Planned())


def test_what_can_be_done_goes_by_the_job() -> None:
    at_work, over = job("service"), job("here", finished_at=NOW)
    assert can_change_account(at_work, WORKER) and can_change_account(at_work, DIRECT)
    assert not any(can_change_account(*each) for each in ((at_work, PRACTICE), (at_work, None), (over, WORKER)))
    assert not can_change_account(replace(at_work, taken_over=True), WORKER)
    assert can_clear_account(over) and not can_clear_account(at_work)
    assert not can_clear_account(replace(over, account_cleared_at=NOW))
    assert not can_clear_account(replace(over, taken_over=True))
