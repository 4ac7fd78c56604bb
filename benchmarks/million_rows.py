"""A million rows from a file to requests that are ready to be sent, against csv.reader alone."""

import csv
import json
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import msgspec

from benchmarks.limits import Figures, best_of, peak_memory, seconds
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.packing import body_of, plan
from cfbatch_gui.core.jobs.plan.preflight import examine
from cfbatch_gui.core.jobs.run import job_actions
from cfbatch_gui.core.jobs.states import Job

ROWS = 1_000_000
BATCHES_TO_PACK = 20
TURNS = 6
WALL_LIMIT = 3.0  # promised; on two idle cores, for reading and writing go on at the same time
COMPUTING_LIMIT = 5.0
REPEATS = 9
_TEXT = "How do I change the address on my invoice, and who is told? The settings have a page for it, {number:07}. "


def main(figures: Figures) -> None:
    """The best of several turns each; computing time too, for our steps use two cores where they are idle."""
    for title, columns, others in (("ready", "id,text", ""), ("with more", "id,text,label,colour", ",3,dark red")):
        with tempfile.TemporaryDirectory() as name:  # no part has to find memory beside what another has on disk
            path = Path(name) / title / "rows.csv"
            path.parent.mkdir()
            with path.open("w", encoding="utf-8", newline="") as file:
                file.write(f"{columns}\n")
                file.writelines(f'{number:07},"{_TEXT.format(number=number) * 2}"{others}\n' for number in range(ROWS))
            folder, job = _measure(figures, path)
            if others:
                _pack(figures, folder, job)


def _measure(figures: Figures, path: Path) -> tuple[JobFolder, Job]:
    bare, bare_computing, computing = [], [], []
    taken: dict[str, float] = {}
    for _ in range(TURNS):
        shutil.rmtree(path.parent / "job", ignore_errors=True)
        start = time.process_time()
        bare.append(seconds(lambda: _read(path)))
        read = time.process_time()
        folder, job, took = _ready(path, path.parent / "job")
        bare_computing.append(read - start)
        computing.append(time.process_time() - read)
        taken = {step: min(value, taken.get(step, value)) for step, value in took.items()}
    peak = peak_memory()
    title = f"{ROWS:,} rows, {path.stat().st_size / 1e6:,.0f} MB of CSV, {path.parent.name}"
    figures.versus(title, sum(taken.values()), "csv.reader alone; promised: 3 ×", min(bare), limit=WALL_LIMIT)
    for step, value in taken.items():
        figures.add(f"  {step}", value, "s")
    figures.versus("  computing time", min(computing), "csv.reader alone", min(bare_computing), limit=COMPUTING_LIMIT)
    figures.add("  memory until there", peak, "MB", limit=240)
    figures.versus("planned again, when it is sent", seconds(lambda: plan(folder, job)), "csv.reader", min(bare))
    return folder, job


def _read(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        for _ in csv.reader(file):
            pass


def _ready(path: Path, folder_path: Path) -> tuple[JobFolder, Job, dict[str, float]]:
    """A job of the file, and the seconds of each step."""
    start = time.perf_counter()
    source = open_source(path)
    mapping = suggest_mapping(source, Kind.EMBED, preview(source))
    taken = {"recognised": time.perf_counter() - start}
    folder = JobFolder(folder_path)
    taken["copied into the job's folder"] = seconds(lambda: fill(folder, source, mapping))
    job = Job("bench", "bench", Kind.EMBED, "@cf/baai/bge-m3", "practice", 0.0)
    taken["checked and counted"] = seconds(lambda: examine(folder, job))
    return folder, job, taken


def _pack(figures: Figures, folder: JobFolder, job: Job) -> None:
    """Request bodies from the job's data, against the bare encoder on the same objects."""
    job = job_actions.sent(job, plan(folder, job), 0.0, job)
    job = replace(job, batches=job.batches[:BATCHES_TO_PACK])
    bodies = _as_sent(folder, job)
    objects = [json.loads(body) for body in bodies]
    ours, bare = best_of(
        REPEATS, lambda: _as_sent(folder, job), lambda: [msgspec.json.encode(each) for each in objects]
    )
    size = sum(map(len, bodies)) / 1e6
    figures.versus(f"request bodies, {size:,.0f} MB", ours, "msgspec.json.encode alone", bare, limit=25.0)
    figures.add("request bodies", size / ours, "MB/s")


def _as_sent(folder: JobFolder, job: Job) -> list[bytes]:
    """One after the other, as submitting takes them."""
    return [body_of(folder, job, batch) for batch in job.batches]
