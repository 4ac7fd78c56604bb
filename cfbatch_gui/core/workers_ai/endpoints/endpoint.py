"""What every way to the service has in common."""

import re
from dataclasses import dataclass
from typing import Protocol

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.workers_ai.tokens import Token
from cfbatch_gui.core.workers_ai.wire.envelope import ServiceAnswer

QUEUED = "?queueRequest=true"
_MODEL = re.compile(r"@?[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)*")


@dataclass(frozen=True, slots=True)
class Secrets:
    """What goes into headers. `gateway` is for an AI Gateway that asks for a token of its own."""

    token: Token | None = None
    gateway: Token | None = None


class Endpoint(Protocol):
    """A connection's own manner of speaking. Knows no network."""

    def run_url(self, model: str, *, queued: bool) -> str:
        """Where batches of a model are sent to and asked for (`queued`), or single requests are run at once.

        The model's slashes stay as they are: percent-encoded, the service answers 7000 or 7003. Raises UsageError.
        """

    def api_url(self, rest: str) -> str:
        """An address of Cloudflare's v4 API, for the catalogue and for checks; "" where there is none."""

    def headers(self, secrets: Secrets) -> dict[str, str]:
        """What goes with every request."""

    def read(self, data: bytes, status: int) -> ServiceAnswer:
        """Take an answer out of the frame that this way puts around it. `status` is HTTP's.

        `is_enveloped` of what comes back says whether a refusal is known to be the service's own.
        Raises ReplyError for an answer that is not of any known form.
        """


def checked_model(model: str) -> str:
    """The name of a model, which cannot become another address. Raises UsageError."""
    if not _MODEL.fullmatch(model):
        raise UsageError(f"“{model}” is not the name of a model. Names look like @cf/baai/bge-m3.")
    return model


def bearer(token: Token | None) -> dict[str, str]:
    """The authorization header, and that the body is JSON."""
    headers = {"content-type": "application/json"}
    return headers if token is None else {"authorization": f"Bearer {token.reveal()}", **headers}
