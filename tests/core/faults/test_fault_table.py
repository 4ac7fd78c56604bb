"""Every fault ends in the state and with the sentence listed in `table`, and nothing is paid for twice."""

import asyncio
from dataclasses import replace

import pytest

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.workers_ai.transport import What
from tests.core.faults.conftest import FaultBench, Open
from tests.core.faults.mutated import MUTATED, Mutated, without_numbers
from tests.core.faults.table import LATE, LOST, ROWS, Ending, Row
from tests.support import faults
from tests.support.faults import Fault
from tests.support.mutations import OF_BATCHES
from tests.support.practice import accepted

HANGS_AFTER = 60.0  # seconds

SUBMITS = [
    pytest.param(row, billed, id=f"{row.name}{' (billed)' if billed else ''}")
    for row in ROWS
    for billed in ((False, True) if row.has_twins else (bool(row.fault.billed),))
]


def hasty(row: Row, what: What) -> What | None:
    """The exchange with a short deadline; None for faults that do not concern the deadline.

    On a busy machine a short deadline could make other exchanges fail.
    """
    return what if LATE in row.poll.said else None


def said(bench: FaultBench, job: Job) -> tuple[str, ...]:
    """All sentences that a user could see, in order, without repetitions."""
    found = []
    for seen in bench.seen:
        found += [batch.error for batch in seen.batches] + [seen.paused_because]
    found += [batch.error for batch in job.batches] + [job.paused_because]
    return tuple(dict.fromkeys(sentence for sentence in found if sentence))


async def play(bench: FaultBench, fault: Fault, kind: Kind = Kind.RANK) -> Job:
    """Send a job of one batch and wait until it is final or needs the user."""
    job = bench.draft(bench.write(kind), kind)
    bench.faulty.follow(fault)
    async with asyncio.timeout(HANGS_AFTER):
        return await bench.run(job)


def check(bench: FaultBench, job: Job, ending: Ending) -> None:
    assert (job.batches[0].state, job.state) == (ending.batch, ending.job), said(bench, job)
    assert said(bench, job) == ending.said
    assert bench.wrong_results(job.id) == []
    if ending.batch is not BatchState.DONE:
        assert bench.results(job.id) == 0


@pytest.mark.parametrize(("row", "billed"), SUBMITS)
async def test_sending(row: Row, billed: bool, open_bench: Open) -> None:
    fault = replace(row.fault, on="submit")
    if fault.billed is not None:
        fault = replace(fault, billed=billed)
    async with open_bench(tls=row.tls, trusted=row.trusted, hasty=hasty(row, "submit")) as bench:
        job = await play(bench, fault)
        check(bench, job, row.submit)
        if billed:
            await noted(bench)
        known = accepted(bench.service_folder)
        assert len(known) <= 1
        assert not any(arrival.is_asked for arrival in bench.faulty.submits[:-1])
        if row.submit is LOST:
            assert len(bench.faulty.submits) <= 1 and len(known) == int(billed)
            await stays_unknown(bench, job)
        elif job.batches[0].state is BatchState.DONE:
            assert [line.sha256 for line in known] == [job.batches[0].sha256]


async def noted(bench: FaultBench) -> None:
    """Wait until the service has recorded a submit, which can be later than the client's timeout."""
    async with asyncio.timeout(HANGS_AFTER):
        while not bench.faulty.submits:
            await asyncio.sleep(0.01)


async def stays_unknown(bench: FaultBench, job: Job) -> None:
    """Assert that neither a timer nor a restart of the program sends the batch again."""
    arrived = len(bench.faulty.submits)
    await bench.restart()
    assert await bench.runner.resume_all() == ()
    await bench.clock.sleep(1_000_000)
    assert bench.ledger.job(job.id).batches[0].state is BatchState.OUTCOME_UNKNOWN
    assert len(bench.faulty.submits) == arrived


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
async def test_asking(row: Row, open_bench: Open) -> None:
    async with open_bench(tls=row.tls, trusted=row.trusted, hasty=hasty(row, "ask")) as bench:
        job = await play(bench, replace(row.fault, on="poll"))
        check(bench, job, row.poll)
        assert len(bench.faulty.submits) == len(accepted(bench.service_folder)) == int(row.trusted)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
async def test_checking(row: Row, open_bench: Open) -> None:
    async with open_bench(tls=row.tls, trusted=row.trusted, hasty=hasty(row, "check")) as bench:
        bench.faulty.follow(replace(row.fault, on="check"))
        async with asyncio.timeout(HANGS_AFTER):
            if row.check is None:
                assert (await bench.client.find_models("bge")).ok
                return
            with pytest.raises(UserError) as caught:
                await bench.client.find_models("bge")
        assert (type(caught.value), caught.value.message) == row.check


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in MUTATED])
async def test_an_answer_with_one_thing_wrong(row: Mutated, kind: Kind, open_bench: Open) -> None:
    async with open_bench() as bench:
        job = await play(bench, row.fault, kind)
        ending = row.scores if kind is Kind.RANK else row.vectors
        bench.seen = [without(seen) for seen in bench.seen]
        check(bench, without(job), ending)
        if ending.batch is BatchState.FAILED:
            assert bench.store.folder(job.id).reply(1).exists()


def without(job: Job) -> Job:
    batches = tuple(replace(batch, error=without_numbers(batch.error)) for batch in job.batches)
    return replace(job, batches=batches)


def test_the_table_is_large_enough_and_whole() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS) >= 60
    makers = {name for name, made in vars(faults).items() if getattr(made, "__module__", "") == faults.__name__}
    known = {name for name in makers if name.islower() and name[0] != "_"} - {"any_reply", "mutate"}
    tried = [row.fault for row in ROWS] + [row.fault for row in MUTATED]
    assert {fault.name for fault in tried} == known | OF_BATCHES
