"""What was stored last, held against its answers at a start: that is what a power cut can have taken."""

import asyncio
from collections.abc import Sequence
from importlib import import_module

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.verify.job_check import JobCheck, asked_for_again
from cfbatch_gui.core.messages import message


async def check_results(store: JobStore, jobs: Sequence[Job]) -> list[str]:
    """Put right what can be, and have the rest asked for again; sentences about what was lost on the disk.

    To be called before jobs are resumed. What checks is imported in a thread, which takes longer than a window may
    stand still.
    """
    last_written = await asyncio.to_thread(import_module, "cfbatch_gui.core.jobs.verify.last_written")
    checks: tuple[JobCheck, ...] = await asyncio.to_thread(last_written.check_last_written, jobs, store.folder)
    for check in checks:
        if check.lost:
            await store.change(check.job_id, lambda known, check=check: asked_for_again(known, check))  # type: ignore[misc]
    return [
        message("{job}: {sentence}", job=check.name, sentence=found.sentence)
        for check in checks
        if not check.is_mended
        for found in check.findings
        if found.is_lost
    ]
