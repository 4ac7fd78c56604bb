"""Every fault ends in the state that the table names and in a sentence, and nothing is paid for twice.

Each fault has three endings: for sending a batch, for polling it, and for checking the connection.
"""

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from cfbatch_gui.core.errors import (
    QueueNotSupported,
    RequestGone,
    ServiceBusy,
    ServiceRefused,
    TokenRefused,
    TooManyTexts,
    Unreachable,
    UnreadableReply,
    UserError,
)
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.messages import Message
from cfbatch_gui.core.workers_ai.transport import What
from tests.core.faults.conftest import FaultBench, Open, wrong_results
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import Arrival
from tests.support.practice import accepted

HANGS_AFTER = 60.0  # seconds
LATE = {"stall_at_accept", "stall_in_body", "stall", "stall_in_reply", "drip"}  # a short deadline ends them

Ending = tuple[BatchState, JobState]
LOST: Ending = (BatchState.OUTCOME_UNKNOWN, JobState.OUTCOME_UNKNOWN)
DONE: Ending = (BatchState.DONE, JobState.DONE)
FAILS: Ending = (BatchState.FAILED, JobState.FAILED)
NOT_SENT: Ending = (BatchState.PLANNED, JobState.PAUSED)
STAYS: Ending = (BatchState.QUEUED, JobState.PAUSED)


class Row(NamedTuple):
    """`check` is the error that fetching the list of models raises; with None nothing is ever said."""

    fault: Fault
    submit: Ending
    poll: Ending
    check: type[UserError] | None
    tls: bool = False
    trusted: bool = True


BREAKS = {  # a submit's outcome is unknown, a poll is repeated
    "stalled at accept": faults.stall_at_accept(),
    "garbage for a hello": faults.garbage_hello(),
    "reset after the first bytes": faults.reset_after_hello(),
    "closed after the first bytes": faults.reset_after_hello(rst=False),
    "reset after the headers": faults.reset_after_headers(),
    "closed after the headers": faults.reset_after_headers(rst=False),
    "reset at byte 1 of the body": faults.reset_in_body(byte=1),
    "closed at byte 100 of the body": faults.reset_in_body(byte=100, rst=False),
    "stalled in the body": faults.stall_in_body(byte=1),
    "reset after the body": faults.reset_after_body(),
    "closed after the body": faults.reset_after_body(rst=False),
    "reset at byte 1 of the reply's head": faults.reset_in_reply(byte=1, part="head"),
    "closed in the reply's head": faults.reset_in_reply(byte=40, rst=False, part="head"),
    "reset in the reply": faults.reset_in_reply(byte=50),
    "closed before the reply's last byte": faults.reset_in_reply(byte=1 << 20, rst=False),
    "the reply comes too late": faults.stall(),
    "the reply stalls in the middle": faults.stall_in_reply(byte=10),
    "the reply drips": faults.drip(seconds=0.05),
    "the reply's head drips": faults.drip(seconds=0.05, part="head"),
    "garbage for a reply": faults.garbage(),
    "not the gzip it says it is": faults.false_encoding(),
    "gzip without its end": faults.cut_gzip(),
    "an encoding nobody asked for": faults.false_encoding(encoding="br"),
    "a gzip bomb": faults.gzip_bomb(megabytes=20),
    "a reply without end": faults.large_reply(megabytes=20),
    "switching protocols": faults.page(status=101),
    **{f"a page: {status}": faults.page(status=status) for status in (200, 403, 429, 502, 511)},
    "redirect": faults.redirect(),
    "redirect to send it again": faults.redirect(status=308),
    "redirect without a place": faults.redirect(location=""),
    **{f"{status} without the envelope": faults.refusal(status=status, envelope=False) for status in (401, 429, 500)},
}
BREAKS_TLS = {
    "TLS: reset after the body": faults.reset_after_body(),
    "TLS: closed in the reply": faults.reset_in_reply(rst=False),
    "TLS: a broken record for a reply": faults.break_tls(),
}
NOT_BEGUN = {  # the handshake fails, so that no byte of a body was sent
    "TLS: reset at accept": faults.reset_at_accept(),
    "TLS: closed at accept": faults.reset_at_accept(rst=False),
    "TLS: closed after the hello": faults.reset_after_hello(rst=False),
    "TLS: garbage for a hello": faults.garbage_hello(),
    "TLS: stalled at accept": faults.stall_at_accept(),
}
UNREADABLE = {
    "JSON cut at once": faults.cut_reply(byte=0, billed=True),
    "JSON cut": faults.cut_reply(billed=True),
    "garbage for JSON": faults.garbage_body(billed=True),
}
Refused = list[tuple[int, int, str]]  # status, code, message
BUSY: Refused = [(429, code, "") for code in (0, 3021, 3036, 4006, 3040, 971)]
TOKEN: Refused = [(401, 10000, ""), (403, 10000, ""), (400, 1000, ""), (400, 9106, ""), (403, 0, "")]
BARRED: Refused = [  # a submit is refused; a batch that was accepted before waits until the user has acted
    *((404, 7003, ""), (400, 5007, ""), (404, 3042, ""), (410, 5028, ""), (403, 5018, ""), (403, 5016, "")),
    *((403, 3023, ""), (403, 5035, ""), (400, 2001, ""), (400, 0, ""), (418, 1234, "")),
]
FINAL: Refused = [
    *((400, 5006, ""), (400, 5004, ""), (400, 3003, ""), (413, 3006, "")),
    (400, 3030, "AiError: Sequence too long: 9000 > 8192"),
]
TOO_MANY: Refused = [
    (400, 3030, "Max context reached 70000 tokens but model supports only 60000"),
    (400, 5006, "AiError: Bad input: Error: Length of '/requests/0/text' must be <= 32"),
]
NO_QUEUE: Refused = [(400, 8007, "This model does not support request queuing")]
GONE: Ending = (BatchState.GONE, JobState.FAILED)


def rows(
    found: Mapping[str, Fault], submit: Ending, poll: Ending, check: type[UserError], *, tls: bool = False
) -> dict[str, Row]:
    return {name: Row(fault, submit, poll, check, tls=tls) for name, fault in found.items()}


def refused(found: Refused, submit: Ending, poll: Ending, check: type[UserError]) -> dict[str, Row]:
    return {
        f"{status}/{code} {message}".strip(): Row(
            faults.refusal(status=status, code=code, message=message), submit, poll, check
        )
        for status, code, message in found
    }


ROWS: dict[str, Row] = {
    "nobody listens": Row(faults.refuse(), NOT_SENT, STAYS, Unreachable),
    "TLS: a certificate of someone else": Row(
        faults.compressed(), NOT_SENT, NOT_SENT, Unreachable, tls=True, trusted=False
    ),
    **rows(BREAKS, LOST, DONE, Unreachable),
    **rows(BREAKS_TLS, LOST, DONE, Unreachable, tls=True),
    **rows(NOT_BEGUN, DONE, DONE, Unreachable, tls=True),
    **rows(UNREADABLE, LOST, DONE, UnreadableReply),
    "well-formed gzip": Row(faults.compressed(), DONE, DONE, None),
    "a wrong content type": Row(faults.wrong_type(), DONE, DONE, None),
    "blocked": Row(faults.block(), DONE, DONE, ServiceBusy),
    "blocked, told": Row(faults.block(told=True), DONE, DONE, ServiceBusy),
    **refused(BUSY, DONE, DONE, ServiceBusy),
    **refused(TOKEN, NOT_SENT, STAYS, TokenRefused),
    **refused(BARRED, FAILS, STAYS, ServiceRefused),
    **refused(FINAL, FAILS, FAILS, ServiceRefused),
    **refused(TOO_MANY, FAILS, FAILS, TooManyTexts),
    **refused(NO_QUEUE, FAILS, STAYS, QueueNotSupported),
    **refused([(400, 5504, "")], FAILS, GONE, RequestGone),
    **refused([(408, 3007, ""), (408, 3046, "")], LOST, DONE, ServiceRefused),
    **refused([(408, 0, ""), (500, 0, ""), (503, 1234, ""), (500, 1000, ""), (500, 5504, "")], LOST, DONE, ServiceBusy),
    **refused([(409, 0, ""), (200, 1234, "")], LOST, STAYS, ServiceRefused),
    **refused([(500, 5001, "")], LOST, FAILS, ServiceRefused),
}
SUBMITS = [
    pytest.param(row, billed, id=f"{name}{' (billed)' if billed else ''}")
    for name, row in ROWS.items()
    for billed in ((False, True) if row.fault.billed is not None and row.submit is LOST else (bool(row.fault.billed),))
]


def hasty(row: Row, what: What) -> What | None:
    """The exchange with a short deadline. On a busy machine it could make others fail, so only where it is needed."""
    return what if row.fault.name in LATE else None


def check_sentences(said: set[str], row: Row) -> None:
    assert bool(said) == (row.check is not None)
    assert all(isinstance(each, Message) for each in said), said


def check(bench: FaultBench, job: Job, row: Row, ending: Ending) -> None:
    said = {batch.error for seen in (*bench.seen, job) for batch in seen.batches}
    check_sentences((said | {seen.paused_because for seen in (*bench.seen, job)}) - {""}, row)
    assert (job.batches[0].state, job.state) == ending
    assert wrong_results(bench.store.folder(job.id)) == []
    assert ending is DONE or bench.results(job.id) == 0


async def play(bench: FaultBench, fault: Fault) -> Job:
    """Send a job of one batch and wait until it is final or needs the user."""
    job = bench.pairs()
    bench.faulty.follow(fault)
    async with asyncio.timeout(HANGS_AFTER):
        return await bench.run(job)


@pytest.mark.parametrize(("row", "billed"), SUBMITS)
async def test_sending(row: Row, billed: bool, open_bench: Open) -> None:
    fault = replace(row.fault, on="submit", billed=None if row.fault.billed is None else billed)
    async with open_bench(tls=row.tls, trusted=row.trusted, hasty=hasty(row, "submit")) as bench:
        job = await play(bench, fault)
        check(bench, job, row, row.submit)
        async with asyncio.timeout(HANGS_AFTER):
            while billed and not bench.faulty.submits:  # is recorded, perhaps later than the client waits
                await asyncio.sleep(0.01)
        known = accepted(bench.service_folder)
        assert not any(arrival.is_asked for arrival in bench.faulty.submits[:-1])
        if row.submit is LOST:
            assert len(bench.faulty.submits) <= 1 and len(known) == int(billed)
            await bench.restart()  # neither a timer nor this sends it again
            await bench.clock.sleep(1_000_000)
            assert bench.ledger.job(job.id).batches[0].state is BatchState.OUTCOME_UNKNOWN
            assert len(bench.faulty.submits) <= 1
        elif row.submit is DONE:
            assert [line.sha256 for line in known] == [job.batches[0].sha256]


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_asking(row: Row, open_bench: Open) -> None:
    async with open_bench(tls=row.tls, trusted=row.trusted, hasty=hasty(row, "ask")) as bench:
        job = await play(bench, replace(row.fault, on="poll"))
        check(bench, job, row, row.poll)
        assert len(bench.faulty.submits) == len(accepted(bench.service_folder)) == int(row.trusted)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_checking(row: Row, open_bench: Open) -> None:
    async with open_bench(tls=row.tls, trusted=row.trusted, hasty=hasty(row, "check")) as bench:
        bench.faulty.follow(replace(row.fault, on="check"))
        async with asyncio.timeout(HANGS_AFTER):
            if row.check is None:
                assert (await bench.client.find_models("bge")).ok
                return
            with pytest.raises(UserError) as caught:
                await bench.client.find_models("bge")
        assert type(caught.value) is row.check
        check_sentences({caught.value.message}, row)


def test_the_table_is_large_enough_and_whole() -> None:
    makers = {name for name, made in vars(faults).items() if getattr(made, "__module__", "") == faults.__name__}
    elsewhere = {"any_reply", "mutate", "fail_requests"}  # in test_answers.py
    known = {name for name in makers if name.islower() and name[0] != "_"} - elsewhere
    assert len(ROWS) >= 60 and {row.fault.name for row in ROWS.values()} == known


NO_CAPACITY = faults.refusal(status=429, code=3040, message="No more data centers to forward the request to")
TOO_OFTEN = faults.refusal(status=429)
DAY = 86_400.0
SLACK = DAY  # the tests' clock advances whenever something waits, regardless of the real duration

WAITS = [
    pytest.param(fault, how, seconds, id=f"{name} {how}")
    for name, fault, by_itself in (("no capacity", NO_CAPACITY, 15.0), ("too often", TOO_OFTEN, 300.0))
    for how, seconds in (
        ({"retry_after": ""}, by_itself),
        ({"retry_after": "61.5"}, 61.5),
        ({"retry_date": 90.0}, 90.0),
        ({"retry_date": -90.0}, 0.0),
    )
]


def gaps(arrivals: list[Arrival]) -> list[float]:
    return [later.at - earlier.at for earlier, later in itertools.pairwise(arrivals)]


async def done(bench: FaultBench, fault: Fault) -> None:
    job = bench.pairs(reuse=False)
    bench.faulty.follow(fault)
    async with asyncio.timeout(240):
        assert (await bench.run(job)).state is JobState.DONE
    assert wrong_results(bench.store.folder(job.id)) == []


@pytest.mark.parametrize(("fault", "how", "seconds"), WAITS)
async def test_a_call_waits_as_long_as_it_is_told(
    fault: Fault, how: dict[str, Any], seconds: float, open_bench: Open
) -> None:
    least = seconds - ("retry_date" in how)  # a date has whole seconds
    async with open_bench() as bench:
        await done(bench, replace(fault, **how, on="submit"))
        assert least <= gaps(bench.faulty.submits)[0] <= max(seconds, 1.0) + SLACK
        before = len(bench.faulty.arrivals)
        await done(bench, replace(fault, **how, on="poll"))
        polls = [arrival for arrival in bench.faulty.arrivals[before:] if arrival.kind == "poll"]
        assert least <= gaps(polls)[0] <= seconds + SLACK


async def test_in_a_block_nothing_asks_and_everything_is_said(open_bench: Open) -> None:
    async with open_bench() as bench:
        bench.faulty.follow(faults.block(on="check", told=True))
        for _ in range(3):
            with pytest.raises(ServiceBusy) as caught:
                await bench.client.find_models("bge")
            assert 290 < caught.value.retry_after <= 301
        assert len(bench.faulty.arrivals) == 1
        started = bench.clock.now
        job = await bench.run(bench.pairs())
        assert job.state is JobState.DONE
        assert all(arrival.at >= started + 299 for arrival in bench.faulty.arrivals[1:])


async def test_a_block_that_is_longer_than_it_says_costs_one_call_each_time(open_bench: Open) -> None:
    async with open_bench() as bench:
        await done(bench, faults.block(on="submit", seconds=900.0))
        assert [arrival.fault for arrival in bench.faulty.submits] == ["block"] * (len(bench.faulty.submits) - 1) + [""]
        assert len(bench.faulty.submits) <= 4
        assert all(gap >= 300 for gap in gaps(bench.faulty.submits))
