"""The Worker's files: as one upload with its bindings, and for the user's own deployment.

Source: https://developers.cloudflare.com/workers/configuration/multipart-upload-metadata/, 2026-11.
"""

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.core.worker_setup.account import TAG, Names, UploadBody
from cfbatch_gui.core.workers_ai.api_tokens import Token

WORKFLOW_CLASS: Final = "Collect"

_MAIN_MODULE: Final = "collect.js"
_CONFIGURATION: Final = "wrangler.jsonc"  # the dates of both configurations are one
_DATE: Final = re.compile(r'"compatibility_date":\s*"(\d{4}-\d\d-\d\d)"')
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class WorkerFiles:
    """The modules in the order of their names; `main` is the one that runs."""

    modules: Mapping[str, bytes]
    main: str
    compatibility_date: str


def worker_files() -> WorkerFiles:
    """The files that ship with the program; blocking."""
    folder = resource("worker")
    modules = {path.name: path.read_bytes() for path in sorted((folder / "src").glob("*.js"))}
    found = _DATE.search((folder / _CONFIGURATION).read_text("utf-8"))
    if found is None or _MAIN_MODULE not in modules:
        raise FileNotFoundError(folder.name)  # a broken installation, as in `resource`
    return WorkerFiles(modules, _MAIN_MODULE, found[1])


def upload(files: WorkerFiles, names: Names, secret: Token, *, keep_variables: bool) -> tuple[str, UploadBody]:
    """The content type and the body. With `keep_variables` the Worker's plain variables stay."""
    metadata: dict[str, object] = {
        "main_module": files.main,
        "compatibility_date": files.compatibility_date,
        "bindings": [
            {"type": "ai", "name": "AI"},
            {"type": "r2_bucket", "name": "BUCKET", "bucket_name": names.bucket},
            {"type": "workflow", "name": "COLLECT", "workflow_name": names.workflow, "class_name": WORKFLOW_CLASS},
            {"type": "secret_text", "name": "SHARED_SECRET", "text": secret.reveal()},
        ],
        "observability": {"enabled": False},  # no log, and no record of requests
        "tags": [TAG],
        "annotations": {"workers/message": f"Set up by CF Batch {__version__}"},
    }
    if keep_variables:
        metadata["keep_bindings"] = ["plain_text", "json"]
    parts = [("metadata", "", "application/json", _encode(metadata))]
    parts += [(name, name, "application/javascript+module", text) for name, text in files.modules.items()]
    boundary = f"cfbatch-{secrets.token_hex(16)}"
    pieces = []
    for name, file_name, content_type, content in parts:
        of_file = f'; filename="{file_name}"' if file_name else ""
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{of_file}\r\n'
        pieces += [head.encode(), f"Content-Type: {content_type}\r\n\r\n".encode(), content, b"\r\n"]
    pieces.append(f"--{boundary}--\r\n".encode())
    return f"multipart/form-data; boundary={boundary}", UploadBody(b"".join(pieces))


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the guide; `command` is run in the Worker's folder, "" without one."""

    title: str
    text: str
    command: str = ""


NEEDS = message("You need a Cloudflare account, and Node.js 22.12 or newer on this computer.")
GUIDE = (
    Step(
        message("Put it on Cloudflare"),
        message(
            "Open a terminal in the folder and enter this. A browser opens for you to log in. At the end stands the "
            "Worker's address, which ends in workers.dev."
        ),
        "npx wrangler deploy",
    ),
    Step(
        message("Give it a secret"),
        message("Enter this, then paste the secret. Until it has one, the Worker refuses everything."),
        "npx wrangler secret put SHARED_SECRET",
    ),
    Step(message("Connect"), message("Enter the Worker's address and the same secret here, and check the connection.")),
    Step(
        message("Collecting while your computer is off"),
        message(
            "If you like: answers then wait in your account. On the dashboard activate R2 once and make a "
            "bucket called cf-batch-answers, then enter this, and switch collecting on at the connection."
        ),
        "npx wrangler deploy --config collect.jsonc",
    ),
)

# Prices of https://developers.cloudflare.com/r2/pricing/ and https://developers.cloudflare.com/workflows/reference/pricing/
COSTS = message(
    "Prices as of November 2026. R2: 10 GB a month are free, then $0.015 for a GB and month; writing costs $4.50 and"
    " reading $0.36 a million, of which one million and ten million a month are free; taking data out costs nothing."
    " Workflows: 3,000 steps a day on the Workers Free plan; on the Paid plan 500,000 a month, then $0.80 for 100,000."
    " Answers to five million texts are 60 to 110 GB until they are collected."
)
REMOVAL = message(
    "To remove all of it again: “Remove from my account…” in the menu of the connection, or “cfbatch connections"
    " take-down”. By hand: delete the Worker and the Workflow under Workers & Pages in the dashboard, then empty and"
    " delete the bucket under R2."
)


def new_secret() -> str:
    """A random secret of 256 bits: 43 letters, digits, "-" and "_"."""
    return secrets.token_urlsafe(32)


def in_the_way(folder: Path) -> tuple[Path, ...]:
    """The paths at which `save_worker` would overwrite different content. Raises ExportError."""
    with _refused(folder):
        return tuple(target for target, data in _files(folder) if target.exists() and target.read_bytes() != data)


def save_worker(folder: Path) -> tuple[Path, ...]:
    """Write the Worker's files into a folder, over what is there. Raises ExportError and DiskFull."""
    for target, data in _files(folder):
        with _refused(folder):
            target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, data)
    return tuple(target for target, _ in _files(folder))


def _files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    template = resource("worker")
    for path in sorted(template.rglob("*")):
        if path.is_file():
            yield folder / path.relative_to(template), path.read_bytes()


@contextmanager
def _refused(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        sentence = message(
            "The Worker could not be saved in “{name}”: the system refused. Choose another folder.", name=folder.name
        )
        raise ExportError(sentence, detail=f"{error.filename or folder}: {error.strerror}") from error
