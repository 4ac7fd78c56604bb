"""A million rows (200 MB) from a file to requests that are ready to be sent, beside csv.reader alone."""

import csv
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import msgspec

from cfbatch_gui.core.inputs.columns.layouts import suggest_mapping
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.packing import bodies_of, plan
from cfbatch_gui.core.jobs.plan.preflight import examine
from cfbatch_gui.core.jobs.run import job_actions
from cfbatch_gui.core.jobs.run.submitting import Bodies
from cfbatch_gui.core.jobs.states import Job

ROWS = 1_000_000
BATCHES_TO_PACK = 20
TURNS = 3
REPEATS = 9
_TEXT = "How do I change the address on my invoice, and who is told? The settings have a page for it, {number:07}. "


def main() -> None:
    """Print seconds, ratios and the most memory that was resident."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else ROWS
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "rows.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write("id,text\n")
            file.writelines(f'{number:07},"{_TEXT.format(number=number) * 2}"\n' for number in range(rows))
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB")
        bare = _seconds(lambda: _read(path))
        seconds: dict[str, float] = {}
        for turn in range(TURNS):  # in turns, and the best of each: who else has the machine is not measured
            bare = min(bare, _seconds(lambda: _read(path)))
            folder, job, taken = _ready(path, Path(name) / f"job-{turn}")
            seconds = {what: min(value, seconds.get(what, value)) for what, value in taken.items()}
        total = sum(seconds.values())
        print(f"csv.reader {bare:6.2f} s   the best of {TURNS} turns each")
        print(f"ready      {total:6.2f} s   ratio {total / bare:.2f}   ({_listed(seconds)})")
        print(f"memory     {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB at most")
        print(f"planned    {_seconds(lambda: plan(folder, job)):6.2f} s   once more, when it is sent")
        _pack(folder, job)


def _read(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        for _ in csv.reader(file):
            pass


def _ready(path: Path, folder_path: Path) -> tuple[JobFolder, Job, dict[str, float]]:
    seconds = {}
    start = time.perf_counter()
    source = open_source(path)
    mapping = suggest_mapping(source, Kind.EMBED, preview(source))
    seconds["recognise"] = time.perf_counter() - start
    folder = JobFolder(folder_path)
    start = time.perf_counter()
    fill(folder, source, mapping)
    seconds["fill"] = time.perf_counter() - start
    job = Job("bench", "bench", Kind.EMBED, "@cf/baai/bge-m3", "practice", 0.0)
    start = time.perf_counter()
    examine(folder, job)
    seconds["examine"] = time.perf_counter() - start
    return folder, job, seconds


def _pack(folder: JobFolder, job: Job) -> None:
    """Bodies from the job's data, beside the bare encoder on the same objects."""
    numbers = range(1, BATCHES_TO_PACK + 1)
    job = job_actions.sent(job, plan(folder, job), 0.0)(job)
    job = replace(job, batches=job.batches[:BATCHES_TO_PACK])
    ours = min(_seconds(lambda: _as_sent(folder, job, numbers)) for _ in range(REPEATS))
    bodies = list(bodies_of(folder, job, numbers))
    objects = [json.loads(body) for body in bodies]
    bare = min(_seconds(lambda: [msgspec.json.encode(each) for each in objects]) for _ in range(REPEATS))
    size = sum(map(len, bodies)) / 1e6
    print(f"packing    {size / ours:6,.0f} MB/s, msgspec alone {size / bare:,.0f} MB/s, ratio {bare / ours:.2f}")


def _as_sent(folder: JobFolder, job: Job, numbers: Iterable[int]) -> list[bytes]:
    """As they are taken, one by one, when a job is sent."""
    bodies = Bodies()
    return [bodies.take(folder, job, number) for number in numbers]


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _listed(seconds: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())


if __name__ == "__main__":
    main()
