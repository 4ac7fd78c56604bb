"""The endpoints of the service: addresses, headers and the form of the answers, for each kind of connection.

Sources: https://developers.cloudflare.com/workers-ai/features/batch-api/ and
https://developers.cloudflare.com/ai-gateway/usage/providers/workersai/
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.core.workers_ai.wire.envelope import ServiceAnswer, read_bare, read_envelope, read_gateway

_QUEUED: Final = "?queueRequest=true"
_MODEL: Final = re.compile(r"@?[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)*")


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets sent in headers. `gateway` is for an AI Gateway that requires a token of its own."""

    token: Token | None = None
    gateway: Token | None = None


class Endpoint(Protocol):
    """The protocol of one kind of connection, without any network."""

    def run_url(self, model: str, *, queued: bool) -> str:
        """The URL that runs a model: for submits and polls of batches (`queued`), or for synchronous calls.

        The slashes in the model's name are not percent-encoded: the service would answer 7000 or 7003. Raises
        UsageError for a string that is not a model's name.
        """

    def api_url(self, rest: str) -> str:
        """The URL of `rest` in Cloudflare's v4 API, for the catalogue and for checks; "" where there is no such API."""

    def collect_url(self, rest: str) -> str:
        """The URL of `rest` in the collecting room of the user's own Worker; "" where there is none."""

    def headers(self, secrets: Secrets) -> dict[str, str]:
        """The headers of every request."""

    def read(self, data: bytes, status: int) -> ServiceAnswer:
        """Decode the body of an answer. `status` is HTTP's.

        `is_enveloped` of the result says whether a refusal is certain to come from the service itself.
        Raises ReplyError for an answer that is not of any known form.
        """


@dataclass(frozen=True, slots=True)
class RestEndpoint:
    """Cloudflare's REST API, and the practice service: answers come in the v4 envelope."""

    connection: Connection

    def run_url(self, model: str, *, queued: bool) -> str:
        """See `Endpoint`."""
        account = self.connection.account_id
        return _run_url(f"{self.connection.base_url}/accounts/{account}/ai/run", model, queued=queued)

    def api_url(self, rest: str) -> str:
        """See `Endpoint`."""
        return f"{self.connection.base_url}/{rest}"

    def collect_url(self, rest: str) -> str:
        """See `Endpoint`."""
        return ""

    def headers(self, secrets: Secrets) -> dict[str, str]:
        """See `Endpoint`."""
        return _bearer(secrets.token)

    def read(self, data: bytes, status: int) -> ServiceAnswer:
        """See `Endpoint`."""
        return read_envelope(data, status)


@dataclass(frozen=True, slots=True)
class WorkerEndpoint:
    """The user's own Worker, which passes bodies to the Workers Binding and returns its answers. Its contract:

        POST {url}/ai/run/{model}?queueRequest=true   {"requests": […]} or {"request_id": "…"}
        POST {url}/ai/run/{model}                     one element of `requests`, run synchronously

    The model's name is in the path with its `@` and slashes unencoded. `Authorization: Bearer …` holds the secret, if
    there is one. The answer to an accepted request has status 200 and is the binding's, without the v4 envelope:
    `{"status","model","request_id"}`, `{"responses":[…],"usage":{…}}`, or the model's own output.

    Everything else is `{"error":{"code":5504,"message":"…"}}` with the HTTP status that goes with the code. The code is
    the binding's where it has one; the Worker's own are 10000 (401, no secret or a wrong one), 3006 (413, too large),
    5006 (400, not a body that it takes), 7003 (404, no such address) and 0 (5xx, outcome unknown). A 4xx in this form
    means that nothing was accepted. There is no v4 API behind it: no catalogue, and no account to look up.
    """

    connection: Connection

    def run_url(self, model: str, *, queued: bool) -> str:
        """See `Endpoint`."""
        return _run_url(f"{self.connection.base_url}/ai/run", model, queued=queued)

    def api_url(self, rest: str) -> str:
        """See `Endpoint`."""
        return ""

    def collect_url(self, rest: str) -> str:
        """See `Endpoint`. The calls are in docs/collecting.md."""
        return f"{self.connection.base_url}/{rest}"

    def headers(self, secrets: Secrets) -> dict[str, str]:
        """See `Endpoint`."""
        return _bearer(secrets.token)

    def read(self, data: bytes, status: int) -> ServiceAnswer:
        """See `Endpoint`."""
        return read_bare(data, status)


@dataclass(frozen=True, slots=True)
class GatewayEndpoint:
    """An AI Gateway in front of the REST API, selected by its own URL or by a header on the usual one.

    Cloudflare does not document batches through a gateway; the user interfaces label such a connection accordingly
    (`Connection.is_confirmed`). A gateway only forwards runs of models, so the catalogue and the token are looked up
    in the REST API directly.
    """

    connection: Connection

    def run_url(self, model: str, *, queued: bool) -> str:
        """See `Endpoint`."""
        here = self.connection
        if here.gateway_by_header:
            return _run_url(f"{here.api_base_url}/accounts/{here.account_id}/ai/run", model, queued=queued)
        return _run_url(f"{here.base_url}/{here.account_id}/{here.gateway}/workers-ai", model, queued=queued)

    def api_url(self, rest: str) -> str:
        """See `Endpoint`."""
        return f"{self.connection.api_base_url}/{rest}"

    def collect_url(self, rest: str) -> str:
        """See `Endpoint`."""
        return ""

    def headers(self, secrets: Secrets) -> dict[str, str]:
        """See `Endpoint`."""
        headers = _bearer(secrets.token)
        if self.connection.gateway_by_header:
            headers["cf-aig-gateway-id"] = self.connection.gateway
        if secrets.gateway is not None:
            headers["cf-aig-authorization"] = f"Bearer {secrets.gateway.reveal()}"
        return headers

    def read(self, data: bytes, status: int) -> ServiceAnswer:
        """See `Endpoint`."""
        return read_gateway(data, status)


_ENDPOINTS: Final[dict[ConnectionKind, Callable[[Connection], Endpoint]]] = {
    ConnectionKind.CLOUDFLARE: RestEndpoint,
    ConnectionKind.PRACTICE: RestEndpoint,
    ConnectionKind.WORKER: WorkerEndpoint,
    ConnectionKind.GATEWAY: GatewayEndpoint,
}


def endpoint_of(connection: Connection) -> Endpoint:
    """The endpoint for the connection's kind."""
    return _ENDPOINTS[connection.kind](connection)


def _run_url(base: str, model: str, *, queued: bool) -> str:
    """Raises UsageError for a name with characters that would change the rest of the URL."""
    if not _MODEL.fullmatch(model):
        raise UsageError(message("“{model}” is not the name of a model. Names look like @cf/baai/bge-m3.", model=model))
    return f"{base}/{model}{_QUEUED if queued else ''}"


def _bearer(token: Token | None) -> dict[str, str]:
    headers = {"content-type": "application/json"}
    return headers if token is None else {"authorization": f"Bearer {token.reveal()}", **headers}
