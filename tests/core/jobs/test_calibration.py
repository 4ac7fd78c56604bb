"""The calibration of token estimates by the counts of the service."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.calibration import Calibration, calibrated
from cfbatch_gui.core.jobs.plan.preflight import examine
from cfbatch_gui.core.jobs.plan.spending import read_planned
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.workers_ai.catalogue import find_model

MODEL = "@cf/baai/bge-m3"
ENGLISH = [f"The desk lamp number {number} is made of brass and is warm." for number in range(40)]
CHINESE = [f"第{number}号台灯由黄铜制成，光线温暖。" for number in range(40)]
RUSSIAN = [f"Настольная лампа {number} сделана из латуни." for number in range(40)]


class Past:
    """Past jobs with their folders, and a calibration that learns from them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.jobs: list[Job] = []
        self.calibration = self.begin()

    def begin(self) -> Calibration:
        self.calibration = Calibration(self._root / "calibration.json", lambda job: job.connection != "practice")
        return self.calibration

    def folder(self, job_id: str) -> JobFolder:
        return JobFolder(self._root / job_id)

    def draft(self, texts: list[str], *, connection: str = "cloudflare", model: str = MODEL) -> Job:
        job = Job(f"job{len(self.jobs)}", "Texts", Kind.EMBED, model, connection, 1.0)
        path = self._root / f"{job.id}.csv"
        path.write_text("\n".join(["text", *texts]), encoding="utf-8")
        source = open_source(path)
        fill(self.folder(job.id), source, suggest_mapping(source, Kind.EMBED, preview(source)))
        self.jobs.append(job)
        return job

    def finished(self, texts: list[str], ratio: float, *, connection: str = "cloudflare", model: str = MODEL) -> Job:
        """A finished job whose token count is `ratio` times the middle of the uncalibrated estimate."""
        job = self.draft(texts, connection=connection, model=model)
        examine(self.folder(job.id), job)
        planned = read_planned(self.folder(job.id)).by_rules
        assert planned is not None
        tokens = round(sum(planned) / 2 * ratio)
        batch = Batch(job.id, 1, BatchState.DONE, 1, len(texts), 1, tokens=tokens)
        job = replace(job, is_sent=True, sent_at=1.0, finished_at=2.0 + len(self.jobs), batches=(batch,))
        self.jobs[-1] = job
        return job

    def estimate(self, job: Job) -> tuple[float, float, int]:
        """The estimate (low, high), over the middle of the uncalibrated one, and the number of jobs learned from."""
        metadata = find_model(job.model)
        self.calibration.learn(self.jobs, self.folder, lambda each: find_model(each.model))
        plain = examine(self.folder(job.id), job)
        middle = (plain.tokens_low + plain.tokens_high) / 2
        found = calibrated(plain, job, self.folder(job.id), metadata, self.calibration)
        assert read_planned(self.folder(job.id)).tokens == (found.tokens_low, found.tokens_high)
        assert found.price_high.neurons == pytest.approx(found.tokens_high * metadata.neurons_per_million / 1e6)
        return found.tokens_low / middle, found.tokens_high / middle, found.learned_from


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path)


def test_nothing_is_learned_from_nothing(past: Past) -> None:
    low, high, jobs = past.estimate(past.draft(ENGLISH))
    assert low == pytest.approx(2 - high, abs=0.01) and jobs == 0


def test_one_job_narrows_the_range_and_more_do_so_further(past: Past) -> None:
    past.finished(ENGLISH, 0.80)
    low, high, jobs = past.estimate(past.draft(ENGLISH))
    assert (round(low, 2), round(high, 2), jobs) == (0.72, 0.88, 1)
    past.finished(ENGLISH, 0.80)
    past.finished(ENGLISH, 0.81)
    low, high, jobs = past.estimate(past.draft(ENGLISH))
    assert jobs == 3
    assert 0.76 < low < 0.80 < high < 0.84


def test_jobs_that_disagree_leave_the_range_wide(past: Past) -> None:
    past.finished(ENGLISH, 0.7)
    past.finished(ENGLISH, 1.3)
    low, high, _ = past.estimate(past.draft(ENGLISH))
    assert low < 0.6 and high > 1.4


def test_each_script_by_itself(past: Past) -> None:
    past.finished(ENGLISH, 0.8)
    past.finished(CHINESE, 1.2)
    low, high, jobs = past.estimate(past.draft(CHINESE))
    assert (jobs, round((low + high) / 2, 2)) == (1, 1.2)
    low, high, jobs = past.estimate(past.draft(ENGLISH))
    assert (jobs, round((low + high) / 2, 2)) == (1, 0.8)
    assert past.estimate(past.draft(RUSSIAN))[2] == 0
    assert past.estimate(past.draft(ENGLISH + CHINESE))[2] == 0
    past.finished(CHINESE + ENGLISH, 1.0)
    assert past.estimate(past.draft(ENGLISH + CHINESE))[2] == 1


def test_practice_teaches_nothing_and_is_taught_nothing(past: Past) -> None:
    past.finished(ENGLISH, 3.0, connection="practice")
    assert past.estimate(past.draft(ENGLISH))[2] == 0
    past.finished(ENGLISH, 0.8)
    assert past.estimate(past.draft(ENGLISH))[2] == 1
    assert past.estimate(past.draft(ENGLISH, connection="practice"))[2] == 0


def test_what_was_learned_outlives_the_job_and_the_program(past: Past) -> None:
    job = past.finished(ENGLISH, 0.8)
    past.estimate(past.draft(ENGLISH))
    past.folder(job.id).delete()
    past.jobs.remove(job)
    past.begin()
    assert past.estimate(past.draft(ENGLISH))[2] == 1


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": 7}', b'{"observations": [1]}'])
def test_a_broken_file_is_as_good_as_none(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "calibration.json").write_bytes(content)
    with caplog.at_level(logging.WARNING):
        past = Past(tmp_path)
    assert "calibration.json" in caplog.text
    past.finished(ENGLISH, 0.8)
    assert past.estimate(past.draft(ENGLISH))[2] == 1
