"""Adding a job that was begun elsewhere: by its request id, or by the whole answer that it was given."""

import asyncio
from datetime import datetime

from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.run.attaching import name_texts, read_pasted_job
from cfbatch_gui.core.jobs.run.job_actions import JobActions
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.job_store import JobStore


async def add_job(
    store: JobStore,
    drafts: Drafts,
    actions: JobActions,
    *,
    connection_id: str,
    pasted: str,
    usual_model: str,
    name: str,
    inputs: AttachedInput | None,
    now: float,
) -> Job:
    """Add the job and have it watched; `usual_model` counts where the answer names none, and `now` for its name.

    `now` is in seconds since 1970. With `inputs` its rows are matched by the ids of the answer, without them texts get
    names. Raises UserError; no job is left then.
    """
    found = read_pasted_job(pasted)
    kind = inputs.mapping.kind if inputs else Kind.RANK
    source_name = inputs.source.path.stem if inputs else ""
    name = name or source_name or f"Added job, {datetime.fromtimestamp(now):%Y-%m-%d %H:%M}"
    job = await store.on_disk(drafts.create, kind, name, found.model or usual_model, connection_id)
    try:
        if inputs is not None:
            await asyncio.to_thread(drafts.load, job.id, inputs.source, inputs.mapping, inputs.second)
        else:
            await asyncio.to_thread(name_texts, store.folder(job.id))
        return await actions.attach(job.id, found.request_id)
    except BaseException:
        if not store.job(job.id).is_sent:
            await store.on_disk(drafts.delete, job.id)
        raise
