"""Cloudflare's REST API: `{base}/accounts/{account}/ai/run/{model}`, answers in the v4 envelope."""

from dataclasses import dataclass

from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.core.workers_ai.endpoints.endpoint import QUEUED, Secrets, bearer, checked_model
from cfbatch_gui.core.workers_ai.wire.envelope import ServiceAnswer, read_envelope


@dataclass(frozen=True, slots=True)
class RestEndpoint:
    """Also the practice service's, which keeps the same protocol."""

    connection: Connection

    def run_url(self, model: str, *, queued: bool) -> str:
        """See `Endpoint`."""
        account = self.connection.account_id
        url = f"{self.connection.base_url}/accounts/{account}/ai/run/{checked_model(model)}"
        return url + QUEUED if queued else url

    def api_url(self, rest: str) -> str:
        """See `Endpoint`."""
        return f"{self.connection.base_url}/{rest}"

    def headers(self, secrets: Secrets) -> dict[str, str]:
        """See `Endpoint`."""
        return bearer(secrets.token)

    def read(self, data: bytes, status: int) -> ServiceAnswer:
        """See `Endpoint`."""
        return read_envelope(data, status)
