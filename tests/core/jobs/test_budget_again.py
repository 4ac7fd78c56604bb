"""Failed batches and those of unknown outcome are sent again within the same budget as a draft."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import OverBudget, UsageError
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.states import BatchState, Job, JobState
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.core.workers_ai.catalogue import find_model, price
from tests.canary import TOKEN
from tests.core.endpoints.conftest import ACCOUNT, service
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService

LITTLE = Budget(a_job=0.001, unit="neurons")
FAULTS = [
    pytest.param(faults.reset_after_body(on="submit", billed=True), (1,), JobState.OUTCOME_UNKNOWN, id="in doubt"),
    pytest.param(faults.refusal(on="submit", code=5006), (1,), JobState.FAILED, id="a batch that was refused"),
    pytest.param(faults.refusal(on="submit", code=5006), (), JobState.FAILED, id="what failed: a batch"),
    pytest.param(faults.fail_requests(on="poll", requests=(1,)), (), JobState.PARTLY_DONE, id="what failed: a request"),
]


@dataclass
class World:
    """A program with an account, and the practice service behind a server that injects faults."""

    program: Program
    faulty: FaultyService

    async def run(self, path: Path, fault: Fault, connection: str = "cloudflare") -> Job:
        """Send the rows of a file and wait for the job."""
        self.faulty.follow(fault)
        job = self.program.drafts.create(Kind.RANK, path.stem, "@cf/baai/bge-m3", connection)
        source = open_source(path)
        self.program.drafts.load(job.id, source, suggest_mapping(source, Kind.RANK, preview(source)))
        await self.program.actions.send(job.id)
        job = await self.program.runner.wait(job.id)
        self.faulty.follow()
        return job


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with FaultyService(service(tmp_path / "service")) as faulty:
        environ = {
            "CLOUDFLARE_API_BASE_URL": faulty.url,
            "CLOUDFLARE_ACCOUNT_ID": ACCOUNT,
            "CLOUDFLARE_API_TOKEN": TOKEN,
        }
        program = await Program.open(
            tmp_path / "data", environ=environ, credentials=Credentials(environ=environ), practice_times=(0.0, 0.0)
        )
        yield World(program, faulty)
        await program.close()


@pytest.fixture
def rows(write: Callable[[str, str], Path]) -> Path:
    pairs = "".join(f"query {n},context {n} {c}\n" for n in range(3) for c in range(2))
    return write("rows.csv", "query,context\n" + pairs)


@pytest.mark.parametrize(("fault", "numbers", "state"), FAULTS)
async def test_above_the_budget_nothing_is_sent_again(
    world: World, rows: Path, fault: Fault, numbers: tuple[int, ...], state: JobState
) -> None:
    job = await world.run(rows, fault)
    assert job.state is state
    world.program.change_settings(budget=LITTLE)
    with pytest.raises(OverBudget, match=r"This job may cost .*; your budget for a job is 0\.001 neurons\."):
        await world.program.send_again(job.id, *numbers)
    assert world.program.ledger.job(job.id) == job and len(world.faulty.submits) == 1
    await world.program.send_again(job.id, *numbers, budget=Budget())  # with confirmation
    assert (await world.program.runner.wait(job.id)).state is JobState.DONE
    assert len(world.faulty.submits) == 2


async def test_the_day_counts_the_first_time_as_well(world: World, rows: Path) -> None:
    job = await world.run(rows, faults.reset_after_body(on="submit", billed=True))
    once = world.program.spent_today().neurons
    world.program.change_settings(budget=Budget(a_day=once * 1.5, unit="neurons"))
    with pytest.raises(OverBudget, match="With what was sent since midnight UTC"):
        await world.program.send_again(job.id, 1)
    world.program.change_settings(budget=Budget(a_day=once * 2.5, a_job=once * 2.5, unit="neurons"))
    await world.program.send_again(job.id, 1)
    job = await world.program.runner.wait(job.id)
    assert job.state is JobState.DONE
    counted = price(job.batches[0].tokens, find_model(job.model)).neurons
    assert world.program.spent_today().neurons == pytest.approx(once + counted), "the first time was forgotten"
    restored = Ledger.open_read_only(world.program.paths)
    assert restored.job(job.id).batches[0].earlier == job.batches[0].earlier
    restored.close()


async def test_a_refusal_that_is_sent_again_counts_once(world: World, rows: Path) -> None:
    job = await world.run(rows, faults.refusal(on="submit", code=5006))
    assert world.program.spent_today().neurons == 0
    await world.program.send_again(job.id, 1)
    job = await world.program.runner.wait(job.id)
    assert world.program.spent_today().neurons == price(job.batches[0].tokens, find_model(job.model)).neurons > 0


async def test_an_answer_that_was_put_aside_was_paid_for(world: World, rows: Path) -> None:
    job = await world.run(rows, faults.mutate(on="poll", times=0, how="element_repeated"))
    assert job.batches[0].state is BatchState.FAILED
    assert world.program.spent_today().neurons > 0


async def test_practice_costs_nothing(world: World, rows: Path) -> None:
    job = await world.run(rows, faults.refusal(), connection="practice")
    world.program.change_settings(budget=LITTLE)
    assert job.state is JobState.DONE
    with pytest.raises(UsageError, match="Nothing of this job failed"):
        await world.program.send_again(job.id)
