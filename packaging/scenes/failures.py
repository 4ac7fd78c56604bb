"""Pictures of every way in which connecting fails: what the page says, and what it says to do next.

All of it is on this computer: the practice service with faults, an address where nothing listens, an expired
certificate, a proxy that asks for a password.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.messages import sentences
from cfbatch_gui.ui.theme import Theme
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.test_checking import EXPIRED, FAILURES
from tests.screen.stage import Stage, opened
from tests.support.faulty_service import FaultyService, load_certificate
from tests.support.keyrings import MemoryKeyring

Take = Callable[[Stage, str], Awaitable[None]]

NAMES = ("failure-",)  # what its pictures begin with
NOWHERE = "https://api.cloudflare.invalid/client/v4"
# By what is typed: the account id, the token, and words of what is said to it.
TYPED = {
    "wrong-id-typed": ("0123456789", stand_ins.TOKEN, "That is not an account ID"),
    "junk-token-typed": (stand_ins.ACCOUNT, "see the note on my desk", "This is not an API token"),
    "global-key": (stand_ins.ACCOUNT, "cfk_0123456789abcdefghijklmnop", "This is a global API key"),
}


async def failures(root: Path, theme: Theme, take: Take) -> None:
    """Refused as it is typed, refused by the service, and not reached at all."""
    root.mkdir(parents=True)
    behind = stand_ins.service(root / "service")
    async with FaultyService(behind) as faulty, _page(root / "typed", theme, faulty.url) as stage:
        for name, (account, token, words) in TYPED.items():
            await _connect(stage, account, token)
            await stage.person.until_sees(words)
            await take(stage, f"failure-{name}")
    async with FaultyService(behind) as faulty, _page(root / "refused", theme, faulty.url) as stage:
        await _connect(stage)
        await stage.person.until_sees("Connected")
        for name, (faults, _, code) in FAILURES.items():
            faulty.follow(*faults)
            await stage.person.click("Test again")
            one, many = sentences()[code]
            await stage.person.until_sees(max(re.split(r"\{[^}]*\}", many or one), key=len))
            await take(stage, f"failure-{name.replace(', ', '-').replace(' ', '-')}")
    async with _page(root / "nowhere", theme, NOWHERE) as stage:
        await _not_reached(stage, take, "no-network", "connected to the internet")
    with _environ(SSL_CERT_FILE=str(EXPIRED)):
        async with (
            FaultyService(behind, tls=load_certificate(EXPIRED)) as faulty,
            _page(root / "clock", theme, faulty.url) as stage,
        ):
            await _not_reached(stage, take, "clock-wrong", "Set the clock")
    async with _proxy() as address, _page(root / "proxy", theme, "") as stage:
        with _environ(HTTPS_PROXY=address, NO_PROXY=""):
            await _not_reached(stage, take, "proxy", "Check the system")


async def _not_reached(stage: Stage, take: Take, name: str, words: str) -> None:
    await _connect(stage)
    await stage.person.until_sees(words)
    await take(stage, f"failure-{name}")


async def _connect(stage: Stage, account: str = stand_ins.ACCOUNT, token: str = stand_ins.TOKEN) -> None:
    person = stage.person
    await person.type("Account ID", account)
    await person.type("API token", token)
    await person.click("Save and test")


@asynccontextmanager
async def _page(root: Path, theme: Theme, url: str) -> AsyncIterator[Stage]:
    """A first start, with the connection page in front."""
    environ: Mapping[str, str] = {"CLOUDFLARE_API_BASE_URL": url} if url else {}
    async with opened(root, theme, environ=environ, credentials=Credentials(MemoryKeyring(), {})) as stage:
        await stage.person.click("Connect my Cloudflare account")
        await stage.person.until_sees("Find my account ID", "Not tested yet")
        yield stage
        card = stage.workspace.connection_page.cloudflare
        await stage.person.until(lambda: not card.is_working)


@asynccontextmanager
async def _proxy() -> AsyncIterator[str]:
    """The address of a proxy that asks for a password which was not set."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@contextmanager
def _environ(**variables: str) -> Iterator[None]:
    """The environment with these variables, until the end of the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, text in before.items():
            if text is None:
                del os.environ[name]
            else:
                os.environ[name] = text
