"""Each failure of the connection page, as the user meets it: its result, its sentence, and nothing said twice."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtTest import QTest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.connections.connection_page import ConnectionPage
from cfbatch_gui.ui.notices import Notices
from tests.canary import TOKEN
from tests.core.endpoints.conftest import service
from tests.core.endpoints.test_checking import EXPIRED, FAILURES
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService, load_certificate
from tests.ui.conftest import Until
from tests.ui.test_connection_page import MemoryKeyring, everything_said, save, states


class Opening:
    """Opens one page over a service's address, "" for Cloudflare's own."""

    def __init__(self, root: Path, qtbot: Any, until: Until) -> None:
        self._root, self._qtbot, self._until = root, qtbot, until
        self.program: Program | None = None
        self.page: ConnectionPage | None = None

    async def page_of(self, url: str) -> ConnectionPage:
        environ = {"CLOUDFLARE_API_BASE_URL": url} if url else {}
        self.program = await Program.open(
            self._root / "data", environ=environ, credentials=Credentials(MemoryKeyring(), environ)
        )
        self.page = ConnectionPage(self.program, Notices(), open_in_browser=lambda address: False)
        self.page.resize(1000, 820)
        self._qtbot.addWidget(self.page)
        self.page.show()
        page = self.page
        await self._until(lambda: not page.tasks.is_running("refresh"))
        return page


@pytest.fixture
async def opening(tmp_path: Path, qtbot: Any, until: Until) -> AsyncIterator[Opening]:
    opening = Opening(tmp_path, qtbot, until)
    yield opening
    if opening.page is not None and opening.program is not None:
        await opening.page.tasks.close()
        await opening.program.close()


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[FaultyService]:
    async with FaultyService(service(tmp_path / "service")) as faulty:
        yield faulty


@pytest.mark.parametrize(("faults", "question", "words"), FAILURES.values(), ids=FAILURES)
async def test_a_failure_stands_at_its_tick_with_its_sentence(
    opening: Opening, faulty: FaultyService, until: Until, faults: tuple[Fault, ...], question: int, words: str
) -> None:
    page = await opening.page_of(faulty.url)
    faulty.follow(*faults)
    await save(page, until)
    rows = page.cloudflare.checks.rows
    assert words in rows[question].reason() and rows[question].reason()[-1] in ".?"
    assert states(page)[:question] == ["Yes"] * question and states(page)[question] in ("No", "Not certain")
    assert [row.reason() for row in rows[question + 1 :]] == [""] * (3 - question)
    assert page.cloudflare.state.text() in ("The test failed", "The test was cut short")
    assert page._program.settings.connection == "", "what fails is not used by itself"
    assert TOKEN not in everything_said(page)
    assert not faulty.submits  # no text was sent


async def test_a_global_key_never_reaches_the_network(opening: Opening, faulty: FaultyService) -> None:
    page = await opening.page_of(faulty.url)
    page.cloudflare.account.setText("0" * 32)
    QTest.keyClicks(page.cloudflare.token_block.field, "cfk_0123456789abcdefghijklmnop")
    page.cloudflare.save_button.click()
    assert page.cloudflare.token_block.hint().startswith("This is a global API key")
    assert not page.tasks.is_running("account")


async def test_a_wrong_clock_is_named(
    opening: Opening, until: Until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(EXPIRED))
    async with FaultyService(service(tmp_path / "tls"), tls=load_certificate(EXPIRED)) as faulty:
        page = await opening.page_of(faulty.url)
        await save(page, until)
        assert states(page)[0] == "No" and "Set the clock" in page.cloudflare.checks.rows[0].reason()


async def test_a_proxy_is_named_without_its_password(
    opening: Opening, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("HTTPS_PROXY", f"http://someone:their-password@127.0.0.1:{port}")
    page = await opening.page_of("")
    await save(page, until)
    assert states(page)[0] == "No" and f"proxy, 127.0.0.1:{port}," in page.cloudflare.checks.rows[0].reason()
    assert "their-password" not in everything_said(page)
    server.close()
    await server.wait_closed()
