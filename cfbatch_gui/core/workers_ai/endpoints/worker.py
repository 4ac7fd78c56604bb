"""A Worker of the user's own, which hands bodies to the Workers Binding and its answers back. This is the contract:

    POST {url}/ai/run/{model}?queueRequest=true   {"requests": […]} or {"request_id": "…"}
    POST {url}/ai/run/{model}                     one element of `requests`, run at once

The model stands in the path with its `@` and its slashes as they are. `Authorization: Bearer …` carries the secret,
where there is one. The answer to a good request has status 200 and is what the binding gave, without the v4 envelope:
`{"status","model","request_id"}`, `{"responses":[…],"usage":{…}}`, or the model's own output.

Everything else is `{"error":{"code":5504,"message":"…"}}` with the HTTP status that goes with the code. The code is the
binding's where it has one; the Worker's own are 10000 (401, no secret or a wrong one), 3006 (413, too large),
5006 (400, not a body that it takes), 7003 (404, no such address) and 0 (5xx: who knows what became of it).
A 4xx in this form means that nothing was accepted.
"""

from dataclasses import dataclass

from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.core.workers_ai.endpoints.endpoint import QUEUED, Secrets, bearer, checked_model
from cfbatch_gui.core.workers_ai.wire.envelope import ServiceAnswer, read_bare


@dataclass(frozen=True, slots=True)
class WorkerEndpoint:
    """There is no v4 API behind it: no catalogue, and no account that could be asked for."""

    connection: Connection

    def run_url(self, model: str, *, queued: bool) -> str:
        """See `Endpoint`."""
        url = f"{self.connection.base_url}/ai/run/{checked_model(model)}"
        return url + QUEUED if queued else url

    def api_url(self, rest: str) -> str:
        """See `Endpoint`."""
        return ""

    def headers(self, secrets: Secrets) -> dict[str, str]:
        """See `Endpoint`."""
        return bearer(secrets.token)

    def read(self, data: bytes, status: int) -> ServiceAnswer:
        """See `Endpoint`."""
        return read_bare(data, status)
