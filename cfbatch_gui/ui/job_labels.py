"""The model, connection and practice mark of a job, as several pages show them."""

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import Message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, Connection


def is_practice(job: Job) -> bool:
    """Whether the practice service computed its results; pages mark them as practice, and they cost nothing."""
    return job.connection == PRACTICE.id


def short_model(job: Job) -> str:
    """The model without its publisher: "bge-m3"."""
    return job.model.rsplit("/", 1)[-1]


def connection_of(program: Program, job: Job) -> Connection | None:
    """The job's connection as it is set up now; None when it was removed."""
    try:
        return program.address_book.connection(job.connection)
    except UserError:
        return None


def connection_title(program: Program, job: Job) -> str:
    """The title of the job's connection; its id, capitalised, when the connection was removed."""
    connection = connection_of(program, job)
    return connection.title if connection is not None else job.connection.capitalize()


def title_words(title: str) -> str:
    """What a connection is called: as the user named it; the practice service in the user's language."""
    return said(title) if isinstance(title, Message) else title
