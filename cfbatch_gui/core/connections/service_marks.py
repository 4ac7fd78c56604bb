"""Which service a connection leads to, as far as results of one are those of the other.

Cloudflare's own addresses lead to the same models, through a gateway too. What stands behind any other address nobody
knows: its results count for itself only.
"""

import hashlib

from cfbatch_gui.core.practice.local_models import usual_model_name
from cfbatch_gui.core.workers_ai.connection_kinds import (
    CLOUDFLARE_BASE_URL,
    GATEWAY_BASE_URL,
    Connection,
    ConnectionKind,
)


def service_mark(connection: Connection) -> str:
    """A short text that is the same for connections with the same results. That of practice names its local model."""
    if connection.kind is ConnectionKind.PRACTICE:
        return f"practice: {usual_model_name()}"
    if connection.kind is not ConnectionKind.WORKER and connection.base_url in (CLOUDFLARE_BASE_URL, GATEWAY_BASE_URL):
        return "cloudflare"
    return f"address: {hashlib.sha256(connection.base_url.encode()).hexdigest()[:16]}"
