"""What the page has to know of a job: its vectors and columns, its pushes, and the connection to an account's API."""

from collections.abc import Collection
from dataclasses import dataclass

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.forgetting import texts_forgotten
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.vectorize.client import check_connection_kind
from cfbatch_gui.core.vectorize.push_values import Push
from cfbatch_gui.core.versions.draft_version import find_predecessor
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.ui.vectorize.push_form import EarlierPush, PushedVectors

_BLOCK = 10_000  # texts that are read at once


@dataclass(frozen=True, slots=True)
class JobVectors:
    """`pushes` are those into the account of the connection, the newest first; `earlier` are the last ones of other
    jobs, by the name of the index. `usual_index` is the one that the version before is in, "" for none.
    """

    connection: Connection
    vectors: PushedVectors
    pushes: tuple[Push, ...]
    earlier: dict[str, EarlierPush]
    usual_index: str = ""


def read_job(program: Program, job: Job, through: str) -> JobVectors:
    """Read a job, for a thread; `through` is the connection. Raises UserError, UsageError for a Worker."""
    connection = program.address_book.connection(through)
    check_connection_kind(connection)
    vectorize = program.vectorize
    folder = program.folder(job.id)
    vectors = PushedVectors(
        job.name,
        vectorize.dimension_of(job.id),
        vectorize.metric_of(job.id),
        vectorize.columns(job.id) if texts_forgotten(folder) is None else (),
        Embeddings(folder).has_ids,
    )
    mark = connection.account_mark
    pushes = tuple(each for each in vectorize.pushes(job.id) if each.account_mark == mark)
    return JobVectors(connection, vectors, pushes, _earlier(program, job, mark), _usual_index(program, job, mark))


def _usual_index(program: Program, job: Job, mark: str) -> str:
    """Where the version before was sent last, in an account."""
    before = find_predecessor(job, program.ledger.jobs(), program.folder)
    pushes = program.vectorize.pushes(before.id) if before is not None else ()
    return next((push.index for push in pushes if push.account_mark == mark), "")


def _earlier(program: Program, job: Job, mark: str) -> dict[str, EarlierPush]:
    """The last push of another job into each index of an account: a new version of a file is sent as the one before."""
    others = [each for each in program.ledger.jobs() if each.kind is Kind.EMBED and each.id != job.id]
    found = [(push, each.name) for each in others for push in program.vectorize.pushes(each.id)]
    found.sort(key=lambda each: each[0].started_at)
    return {push.index: EarlierPush(name, push.options) for push, name in found if push.account_mark == mark}


def other_ways(program: Program) -> tuple[Connection, ...]:
    """The connections that are set up and lead to an account's API, for a job that went another way."""
    found: list[Connection] = []
    for each in program.address_book.saved():
        try:
            connection = program.address_book.connection(each.id)
            check_connection_kind(connection)
        except UserError:
            continue
        found.append(connection)
    return tuple(found)


def is_without_api(error: UserError) -> bool:
    """Whether an error of `read_job` says that the connection leads to no account's API."""
    return isinstance(error, UsageError)


def items_of_rows(folder: JobFolder, rows: Collection[int]) -> tuple[int, ...]:
    """The numbers of the texts that stand in rows of the file, for a thread. Raises DataError."""
    embeddings, found = Embeddings(folder), list[int]()
    for start in range(0, embeddings.count, _BLOCK):
        page = embeddings.page(start, start + _BLOCK)
        found += [text.item_no for text in page if text.row in rows]
    return tuple(found)
