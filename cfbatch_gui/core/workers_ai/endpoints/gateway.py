"""An AI Gateway in front of the REST API, by its own address or by a header on the usual one.

Cloudflare says nothing about batches through a gateway: faces label such a connection so (`Connection.is_confirmed`).
Source: https://developers.cloudflare.com/ai-gateway/usage/providers/workersai/
"""

from dataclasses import dataclass

from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.core.workers_ai.endpoints.endpoint import QUEUED, Secrets, bearer, checked_model
from cfbatch_gui.core.workers_ai.wire.envelope import ServiceAnswer, read_gateway


@dataclass(frozen=True, slots=True)
class GatewayEndpoint:
    """The catalogue and the token are asked for at the account itself: a gateway passes on runs of models only."""

    connection: Connection

    def run_url(self, model: str, *, queued: bool) -> str:
        """See `Endpoint`."""
        here, model = self.connection, checked_model(model)
        if here.gateway_by_header:
            url = f"{here.api_base_url}/accounts/{here.account_id}/ai/run/{model}"
        else:
            url = f"{here.base_url}/{here.account_id}/{here.gateway}/workers-ai/{model}"
        return url + QUEUED if queued else url

    def api_url(self, rest: str) -> str:
        """See `Endpoint`."""
        return f"{self.connection.api_base_url}/{rest}"

    def headers(self, secrets: Secrets) -> dict[str, str]:
        """See `Endpoint`."""
        headers = bearer(secrets.token)
        if self.connection.gateway_by_header:
            headers["cf-aig-gateway-id"] = self.connection.gateway
        if secrets.gateway is not None:
            headers["cf-aig-authorization"] = f"Bearer {secrets.gateway.reveal()}"
        return headers

    def read(self, data: bytes, status: int) -> ServiceAnswer:
        """See `Endpoint`."""
        return read_gateway(data, status)
