"""Estimates are put right by what finished jobs took, by the counts of the service."""

from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import metadata_value
from cfbatch_gui.core.jobs.plan.preflight import calibrated, examine
from cfbatch_gui.core.jobs.plan.spending import TOKENS, read_planned
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.workers_ai.catalogue import find_model
from tests.support.inputs import as_suggested

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
