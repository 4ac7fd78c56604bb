"""Data folders with many jobs, for other parts: as a busy year leaves them, and with batches that wait."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.paths import Paths

_AGE = 1_800.0  # seconds since the batches that wait were sent


def fill(root: Path, count: int) -> None:
    """Finished jobs of one batch each."""
    paths = Paths(root)
    paths.create()
    ledger = Ledger.open(paths)
    now = 1_790_000_000.0
    done = Batch("", 1, BatchState.DONE, 20, 400, 120_000, request_id="0" * 36, sent_at=now, changed_at=now + 240)
    made = []
    for number in range(count):
        job = Job(
            f"job{number:05}", f"Articles, week {number}", Kind.RANK, "@cf/baai/bge-m3", "practice", now + number,
            is_sent=True, sent_at=now + number, source_name="articles.csv",
            rows_in=400, queries=20, texts=400,
        )  # fmt: skip
        made.append(replace(job, batches=(replace(done, job_id=job.id),)))
    ledger._save([(job, None) for job in made])  # in one transaction: so many that are flushed take minutes
    ledger.close()


def fill_with_waiting(root: Path, count: int) -> None:
    """Jobs of one batch each that has been queued at the practice service for half an hour, and stays so."""
    asyncio.run(_send(root, count))


async def _send(root: Path, count: int) -> None:
    texts = root.with_suffix(".csv")
    texts.write_text("id,text\n1,Desk lamp of brass\n2,Garden hose\n", encoding="utf-8")
    source = open_source(texts)
    mapping = suggest_mapping(source, Kind.EMBED, preview(source))
    program = await Program.open(root, environ={}, practice_times=(36_000.0, 1.0), clock=lambda: time.time() - _AGE)
    try:
        for number in range(count):
            job = program.drafts.create(Kind.EMBED, f"Texts {number}", program.settings.model, "practice")
            await asyncio.to_thread(program.drafts.load, job.id, source, mapping)
            await program.actions.send(job.id)
        await asyncio.gather(*(_accepted(program, job.id) for job in program.ledger.jobs()))
    finally:
        await program.close()


async def _accepted(program: Program, job_id: str) -> None:
    """Return when the service has taken the job's batch."""
    while not all(batch.request_id for batch in program.ledger.job(job_id).batches):  # noqa: ASYNC110 - no event says so
        await asyncio.sleep(0.05)
