"""A job as code: what this program sends, for a shell, for Python, and for a Worker. A secret is never in it.

Sources: https://developers.cloudflare.com/workers-ai/features/batch-api/rest-api/ and
https://developers.cloudflare.com/workers-ai/features/batch-api/workers-binding/
"""

import json
import shlex
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from string import Template

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.packing import body_of
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.client import headers_of, run_url
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE_BASE_URL, Connection, ConnectionKind

PRACTICE_ADDRESS = "http://127.0.0.1:8787/client/v4"  # where "cfbatch practice serve" listens
_NO_ID = "the request_id of the answer"


class Language(StrEnum):
    """What the code is written in."""

    CURL = "curl"
    PYTHON = "python"
    WORKER = "worker"


def secret_variable(connection: Connection) -> str:
    """The environment variable that the code takes the token or the secret from."""
    return "SHARED_SECRET" if connection.kind is ConnectionKind.WORKER else "CLOUDFLARE_API_TOKEN"


def body_names(count: int) -> tuple[str, ...]:
    """The names of the files that the code reads, one for each batch or request."""
    return tuple(f"batch-{number:04}.json" for number in range(1, count + 1))


def save_bodies(folder: JobFolder, job: Job, target: Path) -> tuple[Path, ...]:
    """Write the exact bytes of every batch into a folder. Raises UsageError, ExportError, DiskFull."""
    if job.attached or job.has_named_texts:
        raise UsageError(message("job_was_made_elsewhere_what_was"))
    if not job.batches:
        raise UsageError(message("nothing_job_is_sent"))
    paths = tuple(target / name for name in body_names(len(job.batches)))
    for path, batch in zip(paths, job.batches, strict=True):
        write_atomically(path, body_of(folder, job, batch))
    return paths


def as_code(
    job: Job, connection: Connection, language: Language, *, bodies: Sequence[str] = ("batch-0001.json",)
) -> str:
    """The code, which reads `bodies` (see `save_bodies`) from its own folder."""
    match language:
        case Language.CURL:
            return _curl(job, connection, bodies)
        case Language.PYTHON:
            return _python(job, connection, bodies)
        case Language.WORKER:
            return _template(job, Language.WORKER).substitute(model=json.dumps(job.model))


def _curl(job: Job, connection: Connection, bodies: Sequence[str]) -> str:
    queued = not job.options.at_once
    head = [f"curl {shlex.quote(_url(connection, job.model, queued=queued))}"]
    head += [f'  --header "{name}: {value}"' for name, value in _headers(connection).items()]

    def call(data: str) -> str:
        return " \\\n".join([*head, f"  --data-binary {data}"]) + "\n"

    lines = [call(f"@{shlex.quote(name)}") for name in bodies]
    if queued:
        ids = [batch.request_id for batch in job.batches if batch.request_id] or [_NO_ID]
        lines.append('# Later, until the answer has "responses":\n')
        lines += [call(shlex.quote(json.dumps({"request_id": request_id}))) for request_id in ids]
    return "\n".join(lines)


def _python(job: Job, connection: Connection, bodies: Sequence[str]) -> str:
    queued = not job.options.at_once
    headers = ",\n".join(
        f"    {json.dumps(name)}: f{json.dumps(_for_python(value))}" for name, value in _headers(connection).items()
    )
    return _template(job, Language.PYTHON).substitute(
        url=json.dumps(_url(connection, job.model, queued=queued)),
        headers=headers,
        bodies=", ".join(map(json.dumps, bodies)) + ("," if len(bodies) == 1 else ""),
    )


def _template(job: Job, language: Language) -> Template:
    path = resource(f"code/{language}_{'at_once' if job.options.at_once else 'queued'}.txt")
    return Template(path.read_text("utf-8"))


def _url(connection: Connection, model: str, *, queued: bool) -> str:
    return run_url(connection, model, queued=queued).replace(PRACTICE_BASE_URL, PRACTICE_ADDRESS)


def _headers(connection: Connection) -> dict[str, str]:
    token = Token(f"${secret_variable(connection)}")
    gateway = Token("$CF_AIG_TOKEN") if connection.kind is ConnectionKind.GATEWAY else None
    found = headers_of(connection, token, gateway)
    return {"-".join(part.capitalize() for part in name.split("-")): value for name, value in found.items()}


def _for_python(value: str) -> str:
    before, is_variable, name = value.partition("$")
    return f"{before}{{os.environ['{name}']}}" if is_variable else value
