"""What an export says about its job."""

from cfbatch_gui import __version__
from cfbatch_gui.core.jobs.states import BatchState, Job
from cfbatch_gui.core.results.outcomes import JobMetadata

_WITHOUT_ANSWER = (BatchState.FAILED, BatchState.GONE, BatchState.DISMISSED)


def metadata_of(job: Job, connection_title: str) -> JobMetadata:
    """What an export says about its job."""
    return JobMetadata(
        id=job.id,
        name=job.name,
        kind=job.kind,
        model=job.model,
        connection=connection_title,
        truncate_inputs=job.options.truncate_inputs,
        pooling=job.options.pooling,
        request_ids={batch.number: batch.request_id for batch in job.batches},
        failed_batches={batch.number: batch.error for batch in job.batches if batch.state in _WITHOUT_ANSWER},
        stored_batches=job.stored_batches,
        source_name=job.source_name,
        source_sha256=job.source_sha256,
        rows_in=job.rows_in,
        usage_tokens=job.tokens,
        sent_at=job.sent_at,
        program_version=__version__,
    )
