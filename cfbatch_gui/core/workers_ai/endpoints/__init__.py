"""How each kind of connection speaks: its addresses, its headers, the form of its answers. One file for each kind.

endpoint      what all have in common
rest      Cloudflare's REST API, and the practice service that stands in for it
worker    a Worker of the user's own in front of the binding
gateway   an AI Gateway in front of the REST API

Sources: https://developers.cloudflare.com/workers-ai/features/batch-api/ and
https://developers.cloudflare.com/ai-gateway/usage/providers/workersai/
"""

from cfbatch_gui.core.workers_ai.connection_kinds import Connection, ConnectionKind
from cfbatch_gui.core.workers_ai.endpoints.endpoint import Endpoint, Secrets
from cfbatch_gui.core.workers_ai.endpoints.gateway import GatewayEndpoint
from cfbatch_gui.core.workers_ai.endpoints.rest import RestEndpoint
from cfbatch_gui.core.workers_ai.endpoints.worker import WorkerEndpoint

__all__ = ["Endpoint", "Secrets", "endpoint_of"]


def endpoint_of(connection: Connection) -> Endpoint:
    """The endpoint that goes with the connection's kind."""
    match connection.kind:
        case ConnectionKind.WORKER:
            return WorkerEndpoint(connection)
        case ConnectionKind.GATEWAY:
            return GatewayEndpoint(connection)
        case ConnectionKind.CLOUDFLARE | ConnectionKind.PRACTICE:
            return RestEndpoint(connection)
