"""Connections that are added on the connection page: another account, a Worker, a gateway; and what is pasted."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest_asyncio
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog, QLineEdit

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.practice.app import PREFIX
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.core.worker_setup.worker_setup import GUIDE
from cfbatch_gui.ui.connections.connection_page import ConnectionPage
from cfbatch_gui.ui.connections.worker_guide import WorkerGuide
from tests.canary import SECRET, TOKEN
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.collecting_room import CollectingRoom
from tests.core.endpoints.conftest import ACCOUNT, GATEWAY, GATEWAY_TOKEN, Endpoints
from tests.support.faulty_service import FaultyService
from tests.support.keyrings import MemoryKeyring
from tests.ui.conftest import Until
from tests.ui.connections import (
    answer,
    begin,
    choose,
    choose_path,
    click,
    everything_said,
    paste,
    save,
    settled,
    shown,
    states,
)

Open = Callable[..., Awaitable[ConnectionPage]]


@pytest_asyncio.fixture
async def endpoints(tmp_path: Path) -> AsyncIterator[Endpoints]:
    async with stand_ins.opened(stand_ins.service(tmp_path / "service")) as endpoints:
        yield endpoints


async def test_a_worker_is_added_tested_and_used_for_new_jobs(
    open_page: Open, endpoints: Endpoints, backend: MemoryKeyring, until: Until
) -> None:
    page = await open_page()
    card = begin(page, "Your own Worker")
    assert card.title() == "My Worker" and states(card) == ["Not tested yet"] * 4
    assert not card.choice.isEnabled()
    paste(card.url, endpoints.worker_url)
    QTest.keyClicks(card.token_block.field, SECRET)
    await save(page, card, until)
    assert states(card) == ["Yes"] * 4 and card.state.text() == "Connected"
    assert card.token_block.where() == "Saved in this computer’s keyring"
    saved = page._program.address_book.saved()[1]
    assert (saved.name, saved.kind, saved.url) == ("My Worker", "worker", endpoints.worker_url)
    assert backend.stored == {("CF Batch", saved.id): SECRET}
    assert card.choice.isChecked() and page._program.settings.connection == saved.id
    assert page.header.state.text() == "New jobs use My Worker"
    assert SECRET not in everything_said(page)
    click(page.practice.choice)
    await until(lambda: page._program.settings.connection == "practice")
    await settled(page, until)
    click(card.choice)
    await until(lambda: page._program.settings.connection == saved.id)
    assert not saved.paid_plan and card.save_button.isHidden()
    card.paid_plan.click()
    await save(page, card, until)
    assert page._program.address_book.saved()[1].paid_plan and card.save_button.isHidden()
    assert page._program.address_book.connection(saved.id).body_bytes > 9_000_000


@pytest_asyncio.fixture
async def room(tmp_path: Path) -> AsyncIterator[tuple[CollectingRoom, str]]:
    """A Worker with a collecting room, and its address."""
    room = CollectingRoom(stand_ins.service(tmp_path / "service"))
    async with FaultyService(room.application) as service:
        yield room, service.url.removesuffix(PREFIX)


async def test_collecting_is_switched_on_tested_and_kept(
    open_page: Open, room: tuple[CollectingRoom, str], until: Until
) -> None:
    page = await open_page()
    card = begin(page, "Your own Worker")
    paste(card.url, room[1])
    QTest.keyClicks(card.token_block.field, SECRET)
    await save(page, card, until)
    assert card.checks.rows[4].word.text() == "Yes"
    assert "Switch “Collect answers in my account” on" in card.checks.rows[4].note.text()
    assert not card.collect.days.isVisible() and not card.collect.jobs_link.isVisible()
    card.collect.switch.click()
    assert card.collect.days.isVisible() and not card.collect.jobs_link.isVisible() and card.save_button.isVisible()
    card.collect.days.selectAll()
    QTest.keyClicks(card.collect.days, "7")
    await save(page, card, until)
    saved = page._program.address_book.saved()[1]
    assert saved.collects and saved.keep_days == 7 and card.save_button.isHidden()
    assert card.collect.days.value() == 7 and card.checks.rows[4].note.text() == ""
    wanted: list[str] = []
    page.account_wanted.connect(wanted.append)
    click(card.collect.jobs_link)
    choose(card, "In your account…")
    assert wanted == [saved.id] * 2


async def test_a_gateway_is_marked_and_its_last_tick_stays_open(
    open_page: Open, endpoints: Endpoints, backend: MemoryKeyring, until: Until
) -> None:
    page = await open_page(endpoints.locked_gateway.url)
    card = begin(page, "AI Gateway")
    assert card.mark.text() == "Batches unconfirmed by Cloudflare" and card.mark.isVisible()
    paste(card.account, ACCOUNT)
    QTest.keyClicks(card.gateway, GATEWAY)
    QTest.keyClicks(card.token_block.field, TOKEN)
    QTest.keyClicks(card.gateway_block.field, GATEWAY_TOKEN)
    card.by_header.click()
    await save(page, card, until)
    assert states(card)[0] == "Yes" and states(card)[3] == "Not certain"
    assert "Cloudflare does not say that batches go through a gateway" in card.checks.rows[3].note.text()
    saved = page._program.address_book.saved()[1]
    assert saved.by_header and saved.gateway == GATEWAY
    assert backend.stored == {("CF Batch", saved.id): TOKEN, ("CF Batch", f"{saved.id}/gateway"): GATEWAY_TOKEN}
    assert page._program.settings.connection != saved.id  # nobody is moved to an unconfirmed way

    click(card.gateway_block.remove)
    await answer(page, "Remove", until)
    await settled(page, until)
    assert backend.stored == {("CF Batch", saved.id): TOKEN} and card.gateway_block.takes_text()


async def test_more_than_a_field_can_hold_is_understood_wherever_it_is_pasted(open_page: Open) -> None:
    page = await open_page()
    card = page.cloudflare
    both = f"CLOUDFLARE_ACCOUNT_ID={ACCOUNT} CLOUDFLARE_API_TOKEN={TOKEN}"
    paste(card.token_block.field, both)
    assert (card.account.text(), card.token_block.field.text()) == (ACCOUNT, TOKEN)
    card.account.clear()
    card.token_block.field.clear()
    paste(card.account, both)
    assert (card.account.text(), card.token_block.field.text()) == (ACCOUNT, TOKEN)
    paste(card.account, f"export CLOUDFLARE_API_TOKEN={TOKEN}")
    assert TOKEN not in card.account.text() and card.token_block.field.text() == TOKEN

    for field in (card.account, card.token_block.field):
        field.clear()
    QGuiApplication.clipboard().setText("two words")
    click(page.paste_button)
    assert page._notices.texts() == [
        "Nothing in what you pasted looks like an account ID, a token, a Worker’s address or a gateway’s."
    ]
    QGuiApplication.clipboard().setText("curl -H 'X-Auth-Key: cfk_0123456789abcdefghijklmnop'")
    click(page.paste_button)
    assert page.cloudflare.found.text().startswith("This is a global API key")
    assert page.cloudflare.token_block.field.text() == ""

    paste(
        page.cloudflare.account,
        f'curl https://batch.mine.workers.dev/ai/run/@cf/baai/bge-m3 -H "Authorization: Bearer {SECRET}"',
    )
    worker = page.cards[0]
    assert worker.record.kind == "worker" and worker.url.text() == "https://batch.mine.workers.dev"
    assert worker.token_block.field.text() == SECRET and page.cloudflare.account.text() == ""
    QGuiApplication.clipboard().setText(
        f"https://gateway.ai.cloudflare.com/v1/{ACCOUNT}/my-gateway/workers-ai/@cf/baai/bge-m3"
    )
    click(page.paste_button)
    gateway = page.cards[1]
    assert (gateway.record.kind, gateway.account.text(), gateway.gateway.text()) == ("gateway", ACCOUNT, "my-gateway")


async def test_rename_and_remove(
    open_page: Open, endpoints: Endpoints, backend: MemoryKeyring, until: Until, tmp_path: Path
) -> None:
    page = await open_page()
    card = begin(page, "Your own Worker")
    paste(card.url, endpoints.worker_url)
    QTest.keyClicks(card.token_block.field, SECRET)
    await save(page, card, until)
    choose(card, "Rename…")
    dialog = await shown(QInputDialog, until)
    name = dialog.findChild(QLineEdit)
    assert isinstance(name, QLineEdit)
    QTest.keyClicks(name, "Batch in Berlin")
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    await settled(page, until)
    assert card.title() == "Batch in Berlin" and page._program.address_book.saved()[1].name == "Batch in Berlin"

    program = page._program
    connection = card.record.id
    job = program.drafts.create(Kind.RANK, "Waits", "@cf/baai/bge-m3", connection)
    for words in ("Cancel", "Remove"):
        assert backend.stored
        choose(card, "Remove…")
        await answer(page, words, until)
        await settled(page, until)
    assert backend.stored == {} and page.cards == [] and program.settings.connection == "practice"
    await until(page.practice.choice.isChecked)
    assert program.ledger.job(job.id).state is JobState.DRAFT


async def test_the_worker_is_saved_and_its_secret_handed_over(open_page: Open, until: Until, tmp_path: Path) -> None:
    page = await open_page()
    card = begin(page, "Your own Worker")
    click(card.guide)
    guide = page.window().findChild(WorkerGuide)
    assert isinstance(guide, WorkerGuide)
    said = everything_said(guide)
    assert all(step.text in said and step.command in said for step in GUIDE)

    folder = tmp_path / "my-worker"
    folder.mkdir()
    (folder / "wrangler.jsonc").write_text("{}", encoding="utf-8")
    for words in ("Cancel", "Replace"):
        click(guide.save_button)
        await choose_path(guide, folder, until)
        assert "wrangler.jsonc" in await answer(guide, words, until)
        await until(lambda: not page.tasks.is_running("worker"))
        assert guide.saved.isVisible() is (words == "Replace")
    for path in resource("worker").rglob("*"):
        assert path.is_dir() or (folder / path.relative_to(resource("worker"))).read_bytes() == path.read_bytes()
    assert "saved in “my-worker”" in guide.saved.text()

    click(guide.commands[0])
    assert QGuiApplication.clipboard().text() == GUIDE[0].command
    click(guide.copy_secret)
    secret = QGuiApplication.clipboard().text()
    assert card.token_block.field.text() == secret and len(secret) >= 43
    QTest.keyClick(guide, Qt.Key.Key_Escape)
    QGuiApplication.clipboard().clear()
