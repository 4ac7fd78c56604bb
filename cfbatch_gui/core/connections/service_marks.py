"""Which service a connection leads to, as far as results of one are those of the other.

Cloudflare's own addresses lead to the same models, through a gateway too. What stands behind any other address nobody
knows: its results count for itself only.
"""

import hashlib
from contextlib import suppress

from cfbatch_gui.core.connections.address_book import AddressBook
from cfbatch_gui.core.errors import NotConnected
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


def service_mark_at(book: AddressBook, connection_id: str) -> str:
    """`service_mark` for the id of a connection, "" for one that cannot be used, or no longer."""
    with suppress(NotConnected):
        return service_mark(book.connection(connection_id))
    return ""
