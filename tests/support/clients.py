"""Connections of each kind, and clients of them for tests that do not look at where secrets come from."""

from dataclasses import replace
from typing import Any

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import CLOUDFLARE_BASE_URL, Connection, connection_of
from cfbatch_gui.core.workers_ai.limits import RateBudget
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.canary import TOKEN


async def save_cloudflare(program: Program, account_id: str, token: str) -> SavedConnection:
    """The first account, with its token."""
    connections = program.connections
    record = replace(connections.address_book.saved()[0], account_id=account_id)
    return await connections.save(record, secret=token)


def client_of(
    connection: Connection,
    token: str = TOKEN,
    *,
    gateway_token: str = "",
    transport: Transport | None = None,
    budget: RateBudget | None = None,
    **options: Any,
) -> WorkersAI:
    async def give() -> Token:
        return Token(token)

    async def give_gateway_token() -> Token | None:
        return Token(gateway_token) if gateway_token else None

    return WorkersAI(
        connection,
        give,
        gateway_token=give_gateway_token,
        transport=transport or Transport(),
        budget=budget or RateBudget(),
        **options,
    )


def cloudflare(account_id: str, *, base_url: str = "", title: str = "Cloudflare") -> Connection:
    return connection_of(SavedConnection("cloudflare", title, "cloudflare", account_id=account_id, url=base_url))


def worker(url: str, *, connection_id: str = "w", title: str = "Mine", **more: Any) -> Connection:
    return connection_of(SavedConnection(connection_id, title, "worker", url=url, **more))


def gateway(account_id: str, name: str, *, url: str = "", api_url: str = "", by_header: bool = False) -> Connection:
    saved = SavedConnection(
        "g", "My gateway", "gateway", account_id=account_id, gateway=name, url=url, by_header=by_header
    )
    return connection_of(saved, api_url or CLOUDFLARE_BASE_URL)
