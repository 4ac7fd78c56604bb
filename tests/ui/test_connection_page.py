"""The page of connections: the first account, its test, its token; what is said of it, and nothing said twice."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit

from cfbatch_gui.core.system import logs
from cfbatch_gui.ui.connections.connection_fields import ACCOUNT_PAGE, TOKEN_PAGE, url_of
from cfbatch_gui.ui.connections.connection_page import ConnectionPage
from tests.canary import OTHER_TOKEN as OTHER
from tests.canary import TOKEN
from tests.support.keyrings import MemoryKeyring
from tests.support.practice import PracticeServer
from tests.ui.conftest import Until
from tests.ui.connections import answer, click, everything_said, paste, states

ACCOUNT = "0123456789abcdef0123456789abcdef"

Open = Callable[..., Awaitable[ConnectionPage]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with PracticeServer(tmp_path_factory.mktemp("service"), token=TOKEN) as server:
        yield server.url


async def save(page: ConnectionPage, until: Until, token: str = TOKEN) -> None:
    """Type both and press the button; returns when the test is over."""
    card = page.cloudflare
    paste(card.account, ACCOUNT)
    QTest.keyClicks(card.token_block.field, token)
    click(card.save_button)
    await until(lambda: not page.tasks.is_running("account"))


async def test_saving_gives_four_check_results_and_makes_it_the_one_for_new_jobs(
    open_page: Open, service: str, backend: MemoryKeyring, until: Until
) -> None:
    page = await open_page(service)
    changes: list[None] = []
    page.changed.connect(lambda: changes.append(None))
    assert states(page.cloudflare) == ["Not tested yet"] * 4
    assert page.practice.choice.isChecked() and not page.cloudflare.choice.isEnabled()

    await save(page, until)

    assert states(page.cloudflare) == ["Yes"] * 4
    assert page.cloudflare.checks.outcome.text() == "Everything works"
    assert page.cloudflare.state.text() == "Connected"
    assert page.cloudflare.token_block.where() == "Saved in this computer’s keyring"
    assert backend.stored == {("CF Batch", "cloudflare"): TOKEN}
    assert page.cloudflare.choice.isChecked() and page.header.state.text() == "New jobs use Cloudflare"
    assert len(changes) == 2, "it was saved, and after its test it is the one for new jobs"
    assert page.cloudflare.save_button.isHidden() and page.cloudflare.test_button.text() == "Test again"

    changes.clear()
    click(page.practice.choice)
    await until(lambda: changes)
    assert page._program.settings.connection == "practice"
    assert page.header.state.text() == "New jobs use the practice service"
    click(page.cloudflare.choice)
    await until(lambda: len(changes) == 2)
    assert page._program.settings.connection == "cloudflare"

    click(page.cloudflare.token_block.replace)
    QTest.keyClicks(page.cloudflare.token_block.field, OTHER)
    paste(page.cloudflare.account, "f" * 32)
    page.hide()
    page.show()
    await until(lambda: not page.tasks.is_running("refresh"))
    assert page.cloudflare.token_block.field.text() == OTHER and page.cloudflare.account.text() == "f" * 32
    click(page.cloudflare.token_block.cancel)
    assert page.cloudflare.token_block.where() == "Saved in this computer’s keyring"
    assert page.cloudflare.token_block.field.text() == ""

    paste(page.cloudflare.account, ACCOUNT)
    for words in ("Cancel", "Remove"):
        assert backend.stored
        click(page.cloudflare.token_block.remove)
        await answer(page, words, until)
        await until(lambda: not page.tasks.is_running("account"))
    assert backend.stored == {}
    assert page.cloudflare.token_block.takes_text() and page.cloudflare.account.text() == ACCOUNT
    assert page.practice.choice.isChecked() and page.cloudflare.state.text() == "Not connected yet"
    assert states(page.cloudflare) == ["Not tested yet"] * 4


async def test_the_token_is_never_seen_again(
    open_page: Open, service: str, until: Until, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    page = await open_page(service)
    handler = logs.set_up(page._program.paths, level=logging.DEBUG)
    for name in ("qasync", "asyncio", "httpcore", "httpx", "keyring"):  # which the program itself keeps quiet
        caplog.set_level(logging.DEBUG, name)
    loop = asyncio.get_running_loop()
    loop.set_debug(True)  # then qasync says what it calls, and with what
    try:
        block = page.cloudflare.token_block
        for token in (OTHER, TOKEN):  # refused, then accepted
            if not block.takes_text():
                click(block.replace)
            QTest.keyClicks(block.field, token)
            block.field.eye.trigger()
            paste(page.cloudflare.account, ACCOUNT)
            click(page.cloudflare.save_button)
            await until(lambda: not page.tasks.is_running("account"))
            block.field.undo()
            assert block.field.echoMode() == QLineEdit.EchoMode.Password
            assert token not in everything_said(page) + everything_said(page._notices) + caplog.text
    finally:
        loop.set_debug(False)
        logs.shut_down(handler)
    assert "qasync" in caplog.text
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert ACCOUNT.encode() in written
    assert TOKEN.encode() not in written and OTHER.encode() not in written


async def test_what_has_the_wrong_form_is_said_beside_its_field_and_an_id_is_cleaned(
    open_page: Open, backend: MemoryKeyring
) -> None:
    page = await open_page()
    card = page.cloudflare
    click(card.save_button)
    assert card.blocks["account_id"].hint() == "Enter your account ID."
    assert card.token_block.hint().startswith("There is no API token yet.")

    QTest.keyClicks(card.account, "12345")
    assert "address of any page" in card.blocks["account_id"].hint()
    QTest.keyClicks(card.token_block.field, "cfk_0123456789abcdefghijklmnop")
    click(card.save_button)
    assert card.blocks["account_id"].hint().startswith("That is not an account ID.")
    assert card.token_block.hint().startswith("This is a global API key")
    assert card.account.text() == "12345" and card.token_block.field.text().startswith("cfk_")
    assert backend.stored == {} and states(page.cloudflare) == ["Not tested yet"] * 4

    for pasted in (f'"{ACCOUNT}"', f"  {ACCOUNT.upper()} \n", f"https://dash.cloudflare.com/{ACCOUNT}/ai/workers-ai"):
        paste(card.account, pasted)
        assert card.account.text() == ACCOUNT


async def test_what_the_environment_says_cannot_be_changed_here(open_page: Open, service: str, until: Until) -> None:
    page = await open_page(service, CLOUDFLARE_API_TOKEN=TOKEN, CLOUDFLARE_ACCOUNT_ID=ACCOUNT)
    card = page.cloudflare
    assert card.account.isReadOnly() and card.account.text() == ACCOUNT
    assert card.blocks["account_id"].hint() == "Set by CLOUDFLARE_ACCOUNT_ID; change it there."
    assert card.token_block.where() == "From an environment variable"
    assert card.token_block.replace.isHidden() and card.token_block.remove.isHidden()
    assert card.save_button.isHidden() and f"Requests go to {service}" in everything_said(page)
    assert not any("Cloudflare alone" in label.text() for label in card.findChildren(QLabel) if label.isVisible())
    assert TOKEN not in everything_said(page)
    click(card.test_button)
    await until(lambda: states(page.cloudflare) == ["Yes"] * 4)


async def test_the_links_lead_to_the_right_pages_and_without_a_browser_the_address_can_be_copied(
    open_page: Open,
) -> None:
    opened: list[str] = []

    def browser(address: str) -> bool:
        opened.append(address)
        return len(opened) < 3

    page = await open_page(browser=browser)
    for block in (page.cloudflare.blocks["account_id"], page.cloudflare.token_block):
        click(block.link)
    assert opened == [ACCOUNT_PAGE, TOKEN_PAGE]
    assert ACCOUNT_PAGE in page.cloudflare.blocks["account_id"].link.toolTip()
    assert page._notices.texts() == []

    click(page.cloudflare.token_block.link)  # no browser was found
    assert page._notices.texts() == ["No browser could be opened. Copy the address of the page, and open it yourself."]
    page._notices.bars()[0].links()[0].click()
    assert QGuiApplication.clipboard().text() == TOKEN_PAGE

    for address in (ACCOUNT_PAGE, TOKEN_PAGE):
        assert bytes(url_of(address).toEncoded().data()).decode() == address
