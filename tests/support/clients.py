"""A client of any connection, for tests that do not look at how it gets its secrets."""

from typing import Any

from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import Connection
from cfbatch_gui.core.workers_ai.limits import RateBudget
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.canary import TOKEN


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
