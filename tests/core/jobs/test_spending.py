"""Spending since midnight UTC, durations and token counts of past jobs, and the budget that prevents sending."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import OverBudget, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import metadata_value
from cfbatch_gui.core.jobs.plan.preflight import calibrated, examine
from cfbatch_gui.core.jobs.plan.spending import (
    TOKENS,
    PastTimes,
    Spent,
    over_budget,
    past_times,
    read_planned,
    spent_today,
)
from cfbatch_gui.core.jobs.run.job_actions import sent_again
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobOptions, JobState
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.core.workers_ai.catalogue import find_model, price
from tests.canary import TOKEN
from tests.core.endpoints.conftest import ACCOUNT, service
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService
from tests.support.inputs import as_suggested
from tests.support.sentences import refuses

MODEL = "@cf/baai/bge-m3"
MIDNIGHT = 1_790_035_200.0  # 00:00 UTC
NOON = MIDNIGHT + 43_200.0


def job(name: str, *batches: Batch, connection: str = "cloudflare", took: float = 100.0, texts: int = 100) -> Job:
    return Job(
        name, name, Kind.EMBED, MODEL, connection, 1.0, is_sent=True, sent_at=NOON,
        texts=texts, batches=tuple(replace(each, changed_at=NOON + took) for each in batches),
    )  # fmt: skip


def batch(sent_at: float = NOON, tokens: int = 0, state: BatchState = BatchState.DONE, number: int = 1) -> Batch:
    return Batch("job", number, state, 1, 50, 1, sent_at=sent_at, tokens=tokens)


def spent(root: Path, *jobs: Job) -> float:
    found = spent_today(jobs, lambda name: JobFolder(root / name), lambda each: find_model(each.model), NOON)
    return found.neurons


def neurons(tokens: int) -> float:
    return price(tokens, find_model(MODEL)).neurons


def test_what_left_since_midnight_counts(tmp_path: Path) -> None:
    jobs = (
        job("a", batch(tokens=1_000), batch(MIDNIGHT - 1, 500, number=2)),
        job("b", batch(MIDNIGHT, tokens=70)),
        job("c", batch(tokens=9_000), connection="practice"),
        job("d", batch(tokens=0, state=BatchState.FAILED), batch(0.0, state=BatchState.PLANNED, number=2)),
        job("put aside", replace(batch(tokens=30, state=BatchState.FAILED), request_id="accepted")),
    )
    assert spent(tmp_path, *jobs) == pytest.approx(neurons(1_100))
    assert Spent(9_000.0).free_left == 1_000.0
    assert Spent(12_000.0).free_left == 0.0


@pytest.mark.parametrize("state", [BatchState.RUNNING, BatchState.OUTCOME_UNKNOWN, BatchState.GONE])
def test_what_is_not_counted_yet_is_estimated_from_above(tmp_path: Path, state: BatchState) -> None:
    folder = JobFolder(tmp_path / "a")
    folder.create()
    schema.create(folder.data)
    with folder.open() as database:
        schema.put_metadata_value(database, TOKENS, (800, 1_200))
    assert spent(tmp_path, job("a", batch(tokens=500), batch(state=state, number=2))) == pytest.approx(neurons(1_100))
    assert spent(tmp_path, job("without data", batch(state=state))) == 0.0


def again(known: Job) -> Job:
    return sent_again(known, (1,), (), NOON, known)


def test_what_was_sent_again_counts_each_time_it_may_have_been_billed(tmp_path: Path) -> None:
    doubtful = batch(state=BatchState.OUTCOME_UNKNOWN, tokens=300)
    for state in (BatchState.OUTCOME_UNKNOWN, BatchState.DISMISSED, BatchState.GONE):
        planned = again(job("a", replace(doubtful, state=state))).batches[0]
        assert planned.state is BatchState.PLANNED
        assert spent(tmp_path, job("a", planned)) == pytest.approx(neurons(300))
        twice = again(job("a", replace(planned, state=state, sent_at=NOON, tokens=200))).batches[0]
        done = replace(twice, state=BatchState.DONE, sent_at=NOON, tokens=50)
        assert spent(tmp_path, job("a", done)) == pytest.approx(neurons(550))
    yesterday = again(job("a", replace(doubtful, sent_at=MIDNIGHT - 1))).batches[0]
    assert spent(tmp_path, job("a", replace(yesterday, state=BatchState.DONE, sent_at=NOON, tokens=50))) == neurons(50)


def test_within_the_budget_nothing_is_said() -> None:
    high = price(1_000_000, find_model(MODEL))
    assert over_budget(high, Budget(), Spent(1e9)) == ""
    assert over_budget(high, Budget(a_job=0.012), Spent()) == ""
    assert over_budget(high, Budget(a_day=2_000, unit="neurons"), Spent(900)) == ""


def test_own_past_by_kind_connection_size_and_way() -> None:
    jobs = [
        *(job(f"j{number}", batch(), took=60.0 * number) for number in range(3, 8)),
        job("practice", batch(), took=1.0, connection="practice"),
        job("large", batch(), took=9_000.0, texts=1_000),
        job("working", batch(state=BatchState.RUNNING), took=9_000.0),
        replace(job("at once", batch(), took=2.0), options=JobOptions(at_once=True)),
    ]
    assert past_times(jobs, Kind.EMBED, "cloudflare", 80) == PastTimes(180.0, 420.0, 5)
    assert past_times(jobs, Kind.EMBED, "cloudflare", 80, without="j7") == PastTimes(180.0, 360.0, 4)
    assert past_times(jobs, Kind.EMBED, "cloudflare", 80, synchronous=True) == PastTimes(2.0, 2.0, 1)
    assert past_times(jobs, Kind.RANK, "cloudflare", 80) is None
    many = [job(f"m{number}", batch(), took=float(number)) for number in range(1, 21)]
    assert past_times(many, Kind.EMBED, "cloudflare", 100) == PastTimes(3.0, 18.0, 20)


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
        self.program.drafts.load(job.id, *as_suggested(path, Kind.RANK))
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
    with refuses(OverBudget, "job_may_cost_amount_your_budget", budget="0.001 neurons"):
        await world.program.send_again(job.id, *numbers)
    assert world.program.ledger.job(job.id) == job and len(world.faulty.submits) == 1
    await world.program.send_again(job.id, *numbers, budget=Budget())  # with confirmation
    assert (await world.program.runner.wait(job.id)).state is JobState.DONE
    assert len(world.faulty.submits) == 2


async def test_the_day_counts_the_first_time_as_well(world: World, rows: Path) -> None:
    job = await world.run(rows, faults.reset_after_body(on="submit", billed=True))
    once = world.program.spent_today().neurons
    world.program.change_settings(budget=Budget(a_day=once * 1.5, unit="neurons"))
    with refuses(OverBudget, "what_was_sent_since_midnight_utc"):
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


async def test_practice_costs_nothing(world: World, rows: Path) -> None:
    job = await world.run(rows, faults.refusal(), connection="practice")
    world.program.change_settings(budget=LITTLE)
    assert job.state is JobState.DONE
    with refuses(UsageError, "nothing_job_failed"):
        await world.program.send_again(job.id)


MODEL = "@cf/baai/bge-m3"
ENGLISH = [f"The desk lamp number {number} is made of brass and is warm." for number in range(40)]
CHINESE = [f"第{number}号台灯由黄铜制成，光线温暖。" for number in range(40)]
RUSSIAN = [f"Настольная лампа {number} сделана из латуни." for number in range(40)]


class Past:
    """Past jobs with their folders."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.jobs: list[Job] = []

    def folder(self, job_id: str) -> JobFolder:
        return JobFolder(self._root / job_id)

    def finished(self, texts: list[str], ratio: float) -> Job:
        """A finished job whose token count is `ratio` times the middle of the estimate by rules of thumb."""
        job = self._filled(texts, MODEL)
        self._examined(job)
        with self.folder(job.id).open(read_only=True) as database:
            planned = metadata_value(database, TOKENS)
        assert isinstance(planned, list)
        batch = Batch(job.id, 1, BatchState.DONE, 1, len(texts), 1, tokens=round(sum(planned) / 2 * ratio))
        self.jobs.append(replace(job, is_sent=True, sent_at=1.0, batches=(batch,)))
        return self.jobs[-1]

    def estimate(self, texts: list[str], model: str = MODEL) -> tuple[float, float, int]:
        """The estimate (low, high), over the middle of the one by rules, and the number of jobs learned from."""
        return self._examined(self._filled(texts, model))

    def _filled(self, texts: list[str], model: str) -> Job:
        number = len(list(self._root.iterdir()))
        job = Job(f"job{number}", "Texts", Kind.EMBED, model, "cloudflare", 1.0)
        path = self._root / f"{job.id}.csv"
        path.write_text("\n".join(["text", *texts]), encoding="utf-8")
        fill(self.folder(job.id), *as_suggested(path, Kind.EMBED))
        return job

    def _examined(self, job: Job) -> tuple[float, float, int]:
        metadata, folder = find_model(job.model), self.folder(job.id)
        plain = examine(folder, job)
        middle = (plain.tokens_low + plain.tokens_high) / 2
        found = calibrated(plain, job, folder, metadata, ((each, self.folder(each.id)) for each in self.jobs))
        assert read_planned(folder).tokens == (found.tokens_low, found.tokens_high)
        assert found.price_high.neurons == pytest.approx(found.tokens_high * metadata.neurons_per_million / 1e6)
        return found.tokens_low / middle, found.tokens_high / middle, found.learned_from


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path)


def test_one_job_narrows_the_range_and_more_do_so_further(past: Past) -> None:
    past.finished(ENGLISH, 0.80)
    low, high, jobs = past.estimate(ENGLISH)
    assert (round(low, 2), round(high, 2), jobs) == (0.72, 0.88, 1)
    past.finished(ENGLISH, 0.80)
    past.finished(ENGLISH, 0.81)
    low, high, jobs = past.estimate(ENGLISH)
    assert jobs == 3
    assert 0.76 < low < 0.80 < high < 0.84


def test_each_script_and_model_by_itself(past: Past) -> None:
    past.finished(ENGLISH, 0.8)
    past.finished(CHINESE, 1.2)
    low, high, jobs = past.estimate(CHINESE)
    assert (jobs, round((low + high) / 2, 2)) == (1, 1.2)
    low, high, jobs = past.estimate(ENGLISH)
    assert (jobs, round((low + high) / 2, 2)) == (1, 0.8)
    assert past.estimate(ENGLISH, "@cf/baai/bge-small-en-v1.5")[2] == 0
    assert past.estimate(RUSSIAN)[2] == past.estimate(ENGLISH + CHINESE)[2] == 0
    past.finished(CHINESE + ENGLISH, 1.0)
    assert past.estimate(ENGLISH + CHINESE)[2] == 1


def test_numbers_beyond_belief_and_jobs_that_are_gone_or_not_finished_do_not_count(past: Past) -> None:
    past.finished(ENGLISH, 40.0)
    failed = past.finished(ENGLISH, 0.8)
    past.jobs[-1] = replace(failed, batches=(replace(failed.batches[0], state=BatchState.FAILED),))
    past.folder(past.finished(ENGLISH, 0.8).id).delete()
    assert past.estimate(ENGLISH)[2] == 0
