"""The Worker's script with its bindings, as one upload.

Source: https://developers.cloudflare.com/workers/configuration/multipart-upload-metadata/, 2026-11.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from cfbatch_gui import __version__
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.core.worker_setup.account_calls import Names
from cfbatch_gui.core.workers_ai.api_tokens import Token

TAG: Final = "cf-batch"  # on every Worker that this program has put into an account
WORKFLOW_CLASS: Final = "Collect"

_MAIN_MODULE: Final = "collect.js"
_CONFIGURATION: Final = "wrangler.jsonc"  # the dates of both configurations are one
_DATE: Final = re.compile(r'"compatibility_date":\s*"(\d{4}-\d\d-\d\d)"')
_encode = msgspec.json.Encoder().encode


class UploadBody(bytes):
    """The body of an upload, in which the Worker's secret stands: its repr shows its length alone."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"UploadBody({len(self)} bytes)"


@dataclass(frozen=True, slots=True)
class WorkerFiles:
    """The modules by their names, in the order of their names; `main` is the one that runs."""

    modules: Mapping[str, bytes]
    main: str
    compatibility_date: str


def worker_files(folder: Path | None = None) -> WorkerFiles:
    """The files that ship with the program, or those of another folder; blocking."""
    folder = folder or resource("worker")
    modules = {path.name: path.read_bytes() for path in sorted((folder / "src").glob("*.js"))}
    found = _DATE.search((folder / _CONFIGURATION).read_text("utf-8"))
    if found is None or not modules:
        raise FileNotFoundError(folder.name)  # a broken installation, as in `resource`
    return WorkerFiles(modules, _MAIN_MODULE if _MAIN_MODULE in modules else next(iter(modules)), found[1])


def upload(files: WorkerFiles, names: Names, secret: Token, *, keep_variables: bool) -> tuple[str, UploadBody]:
    """The content type and the body of the call that puts the Worker there.

    With `keep_variables` the plain variables that the Worker has stay, such as the models that it is limited to.
    """
    metadata: dict[str, object] = {
        "main_module": files.main,
        "compatibility_date": files.compatibility_date,
        "bindings": [
            {"type": "ai", "name": "AI"},
            {"type": "r2_bucket", "name": "BUCKET", "bucket_name": names.bucket},
            {
                "type": "workflow",
                "name": "COLLECT",
                "workflow_name": names.workflow,
                "class_name": WORKFLOW_CLASS,
            },
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
