"""The vectors of the ledger's jobs, for indexes of Vectorize."""

from collections.abc import Callable

from cfbatch_gui.core.connections.address_book import AddressBook
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.vectorize.push_values import PushSettings
from cfbatch_gui.core.vectorize.vectorize import PushedJob, Vectorize
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.limits import MAX_UPLOAD_VECTORS


def vectorize_of(
    ledger: Ledger,
    address_book: AddressBook,
    paths: Paths,
    metadata_for: Callable[[Job], ModelMetadata],
    *,
    clock: Callable[[], float],
    most_vectors: int = MAX_UPLOAD_VECTORS,
) -> Vectorize:
    """The room of Vectorize for the jobs of a ledger; a part of a push has at most `most_vectors`.

    `clock` returns seconds since 1970.
    """

    def pushed_job(job_id: str) -> PushedJob:
        job = ledger.job(job_id)
        return PushedJob(
            JobFolder(paths.job(job_id)),
            metadata_of(job, address_book.title(job.connection)),
            job.connection,
            metadata_for(job),
            is_paid=address_book.is_counted_by_cloudflare(job.connection),
        )

    return Vectorize(
        address_book.client, pushed_job, paths.vectorize_record, PushSettings(clock, most_vectors=most_vectors)
    )
