"""A million texts held against ten earlier jobs of a million each, and what the index of a job costs.

Promised: 2 seconds and 200 MB to know what is there; at most 20 bytes a text; at most 3 % of the time that storing the
answers takes.
"""

import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.decode_answers import REQUESTS, TEXTS_PER_REQUEST, make_answer
from benchmarks.limits import Figures, apart, peak_memory, seconds
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.fingerprints import hashes_of_items
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.packing import plan
from cfbatch_gui.core.jobs.reuse import EarlierResults, Reusable
from cfbatch_gui.core.jobs.run.collecting import collect
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.versions import compare_versions
from cfbatch_gui.core.workers_ai.answers import Finished, read_answer

TEXTS = 1_000_000
JOBS = 10
NEW_EVERY = 50  # of the draft's texts one is in no job
KNOWN = 7  # the job, counted from the newest, that has the others
ANSWERED = REQUESTS * TEXTS_PER_REQUEST
TURNS = 5
_SERVICE = Reusable("bench")


@dataclass(frozen=True, slots=True)
class Found:
    """What the look-up came to, in a process of its own."""

    seconds: float
    reused: int
    peak: float
    before: float


def main(figures: Figures) -> None:
    """The plain way knows the texts of ten jobs by reading them into a set."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for number in range(JOBS):
            _fill(root, f"job-{number}", _texts(number))
            _answered(root, f"job-{number}")
            hashes_of_items(JobFolder(root / f"job-{number}"))
        _fill(root, "draft", [_new(n) if n % NEW_EVERY == 0 else text for n, text in enumerate(_texts(KNOWN))])
        found = apart(_find, root)
        plain = apart(_plainly, root)
        assert found.reused == TEXTS - TEXTS // NEW_EVERY == plain.reused
        title = f"{TEXTS:,} texts, {JOBS} jobs of {TEXTS:,}"
        figures.versus(title, found.seconds, "their texts in a set", plain.seconds, limit=0.5)
        figures.add("  promised: 2 s", found.seconds, "s")
        figures.add("  memory until there", found.peak, "MB", limit=200)
        figures.add("  of that before it began", found.before, "MB")
        figures.add("  memory of the plain way", plain.peak, "MB")
        with JobFolder(root / "job-0").open(read_only=True) as database:
            (size,) = database.execute("SELECT length(content) FROM kept_arrays").fetchone()
        figures.add("  index of a job, bytes a text", size / TEXTS, "B", limit=20.1)
        draft, other = JobFolder(root / "draft"), JobFolder(root / f"job-{KNOWN}")
        figures.add("  both versions compared", seconds(lambda: compare_versions(draft, other)), "s")
    with tempfile.TemporaryDirectory() as name:
        _storing(figures, Path(name))


def _texts(job: int) -> list[str]:
    ending = f"of catalogue {job}, with a text of usual length that says what it is"
    return [f"Product {number} {ending}" for number in range(TEXTS)]


def _new(number: int) -> str:
    return f"Product {number} is new, with a text of usual length that says what it is"


def _job(job_id: str) -> Job:
    return Job(job_id, job_id, Kind.EMBED, "@cf/baai/bge-m3", "cloudflare", 0.0, is_sent=True, reused=1)


def _fill(root: Path, name: str, texts: Sequence[str]) -> JobFolder:
    path = root / f"{name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("id,text\n")
        file.writelines(f'A{number:07},"{text}"\n' for number, text in enumerate(texts))
    folder, source = JobFolder(root / name), open_source(path)
    fill(folder, source, suggest_mapping(source, Kind.EMBED, preview(source)))
    path.unlink()
    return folder


def _answered(root: Path, name: str) -> None:
    """As if the answers were there: what is looked at is whether each text has one, not what it is."""
    folder = JobFolder(root / name)
    plan(folder, _job(name), reusable=_SERVICE)
    with folder.open() as database:
        database.execute("UPDATE requests SET state = 'done'")


def _earlier(root: Path) -> EarlierResults:
    jobs = [_job(f"job-{number}") for number in range(JOBS)]
    return EarlierResults(lambda: jobs, lambda job_id: JobFolder(root / job_id), lambda job: _SERVICE.service)


def _find(root: Path) -> Found:
    before, start = peak_memory(), time.perf_counter()
    found = _earlier(root).find(replace(_job("draft"), is_sent=False, reused=0))
    return Found(time.perf_counter() - start, len(found.found), peak_memory(), before)


def _plainly(root: Path) -> Found:
    before, start = peak_memory(), time.perf_counter()
    known: set[str] = set()
    for number in range(JOBS):
        with JobFolder(root / f"job-{number}").open(read_only=True) as database:
            known.update(text for (text,) in database.execute("SELECT text FROM texts"))
    with JobFolder(root / "draft").open(read_only=True) as database:
        reused = sum(text in known for (text,) in database.execute("SELECT text FROM texts"))
    return Found(time.perf_counter() - start, reused, peak_memory(), before)


def _storing(figures: Figures, root: Path) -> None:
    """What a batch's texts take to be indexed, against storing the answer to them."""
    folder, job = _fill(root, "batch", [_new(number) for number in range(ANSWERED)]), _job("batch")
    plan(folder, job)
    with folder.open() as database:  # the answer is to one batch
        database.execute(
            "UPDATE requests SET batch = 1, reference = 'r' || (request_no - 1), position = request_no - 1"
        )
    data = make_answer(np.float16)
    storing, indexing = [], []
    for turn in range(TURNS):
        copy = JobFolder(root / f"turn-{turn}")
        shutil.copytree(folder.path, copy.path)
        start = time.perf_counter()
        read = read_answer(data)
        assert isinstance(read, Finished)
        collect(copy, Kind.EMBED, 1, read)
        storing.append(time.perf_counter() - start)
        indexing.append(seconds(lambda: hashes_of_items(copy)))  # noqa: B023
    figures.versus(
        f"{ANSWERED:,} texts indexed; promised: 3 %", min(indexing), "storing their answer", min(storing), limit=0.03
    )
