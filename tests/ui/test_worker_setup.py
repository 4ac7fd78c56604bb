"""The dialogs that put the user's Worker into their account and take it away: from the guide to the connection."""

from collections.abc import AsyncIterator
from pathlib import Path

import keyring.backends.fail
import pytest
from keyring.backend import KeyringBackend
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.worker_setup import GONE, State
from cfbatch_gui.ui.connections.connection_dialogs import WorkerGuide, WorkerRemovalDialog, WorkerSetupDialog
from cfbatch_gui.ui.connections.connection_page import ConnectionPage
from tests.account_service import ACCOUNT, SCRIPTS, STORAGE, AccountService
from tests.canary import TOKEN
from tests.support import faults
from tests.support.faulty_service import FaultyService
from tests.support.sentences import shows
from tests.ui.connections import WORKER, begin, choose, click, everything_said, opened_page, until


class Desk:
    """A page of connections, and an account at a stand-in."""

    def __init__(self, program: Program, page: ConnectionPage, account: AccountService, faulty: FaultyService) -> None:
        self.program, self.page, self.account, self.faulty = program, page, account, faulty

    def set_up(self) -> WorkerSetupDialog:
        """From a new card by the guide into the dialog."""
        card = begin(self.page, WORKER)
        click(card.lines["url"].link)
        (guide,) = self.page.window().findChildren(WorkerGuide)
        click(guide.set_up_button)
        (dialog,) = self.page.window().findChildren(WorkerSetupDialog)
        dialog.account.setText(ACCOUNT)
        return dialog

    def remove(self) -> WorkerRemovalDialog:
        """From the menu of the first card into the dialog."""
        choose(self.page.cards[0], "Remove from my account…")
        (dialog,) = self.page.window().findChildren(WorkerRemovalDialog)
        dialog.account.setText(ACCOUNT)
        return dialog

    async def do(self, dialog: WorkerSetupDialog | WorkerRemovalDialog, token: str = TOKEN) -> None:
        """Type the token, press the button, and wait for the end."""
        if token:
            dialog.token.setText(token)
        click(dialog.start_button)
        await until(lambda: not dialog.is_working())

    async def close(self, dialog: WorkerSetupDialog | WorkerRemovalDialog) -> None:
        """Close it, and wait until it is gone."""
        click(dialog.close_button)
        kind = type(dialog)
        await until(lambda: not self.page.window().findChildren(kind))
        await until(lambda: not self.page.tasks.is_running("refresh"))


@pytest.fixture
async def desk(tmp_path: Path, backend: KeyringBackend) -> AsyncIterator[Desk]:
    account = AccountService()
    async with (
        FaultyService(account) as faulty,
        opened_page(tmp_path, backend, faulty.url, browser=lambda address: True) as page,
    ):
        yield Desk(page.program, page, account, faulty)


async def test_from_the_guide_to_a_connection(desk: Desk) -> None:
    dialog = desk.set_up()
    assert len(dialog.calls) == 8
    assert dialog.calls[5].sentence.text() == message("puts_worker_worker_there_secret", worker="cf-batch-door")
    assert all(each in dialog.calls[5].words.text() for each in ("PUT …/workers/scripts/cf-batch-door", SCRIPTS))
    assert SCRIPTS in dialog.lines["token"].hint() and STORAGE in dialog.lines["token"].hint()
    assert not desk.account.calls

    dialog.paid_plan.setChecked(True)
    await desk.do(dialog)

    assert dialog.outcome.text() == message("done_connection_name_was_added", name="My Worker")
    assert shows(dialog.afterwards.text(), "token_is_not_needed_any_more")
    assert [row.state for row in dialog.calls[:8]] == [State.DONE] * 8
    assert dialog.calls[0].note.text() == "It is anna.workers.dev."
    assert dialog.token.text() == "" and not dialog.start_button.isVisible() and not dialog.copy_secret.isVisible()
    said = everything_said(dialog)
    assert TOKEN not in said and desk.account.secret() not in said
    await desk.close(dialog)

    (card,) = desk.page.cards
    assert (
        card.record.name == "My Worker" and card.lines["url"].field.text() == "https://cf-batch-door.anna.workers.dev"
    )
    assert card.rows["paid_plan"].field.isChecked() and card.lines["secret"].remove.isVisible() and not card.has_news()


async def test_a_worker_of_somebody_else_is_left_or_replaced_as_the_user_says(desk: Desk) -> None:
    desk.account.foreign()
    dialog = desk.set_up()
    await desk.do(dialog)
    assert shows(dialog.problem.text(), "there_is_worker_name_account_program") and not desk.account.changes
    assert dialog.replace.isVisible() and dialog.token.text() == TOKEN, "it is needed once more"
    dialog.replace.setChecked(True)
    dialog.worker.setText("cf-batch-door-2")
    assert not dialog.replace.isChecked() and not dialog.replace.isVisible(), "it was said of the other name"
    await desk.do(dialog, token="")
    assert dialog.outcome.isVisible()
    assert desk.account.scripts.keys() == {"cf-batch-door", "cf-batch-door-2"}
    assert desk.account.scripts["cf-batch-door"].modules == {"theirs.js": b"// theirs"}
    await desk.close(dialog)

    dialog = desk.set_up()
    await desk.do(dialog)
    dialog.replace.setChecked(True)
    await desk.do(dialog, token="")
    assert "index.js" in desk.account.scripts["cf-batch-door"].modules
    await desk.close(dialog)
    assert len(desk.page.cards) == 2


async def test_stopped_in_the_middle_it_goes_on_when_the_button_is_pressed_again(desk: Desk) -> None:
    desk.faulty.follow(faults.stall(on="any", number=6, billed=True))
    dialog = desk.set_up()
    dialog.token.setText(TOKEN)
    click(dialog.start_button)
    await until(lambda: desk.account.changes[-1:] == ["PUT /accounts/{account}/workers/scripts/cf-batch-door"])
    assert dialog.close_button.text() == "Stop" and not dialog.start_button.isEnabled()
    assert dialog.calls[5].state is State.RUNNING
    click(dialog.close_button)
    await until(lambda: dialog.close_button.text() == "Cancel")
    assert dialog.problem.text() and dialog.calls[5].state is None
    await desk.do(dialog, token="")
    assert dialog.outcome.text() == message("done_connection_name_was_added", name="My Worker")
    await desk.close(dialog)


async def test_closing_it_ends_the_work_and_forgets_the_token(desk: Desk) -> None:
    desk.faulty.follow(faults.stall(on="any", number=2))
    dialog = desk.set_up()
    dialog.token.setText(TOKEN)
    click(dialog.start_button)
    await until(lambda: len(desk.faulty.arrivals) == 2)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    await until(lambda: not desk.page.window().findChildren(WorkerSetupDialog))
    await until(lambda: not desk.page.tasks.running())
    assert not desk.account.changes and desk.program.settings.connections == ()


@pytest.mark.parametrize("backend", [keyring.backends.fail.Keyring()], ids=["no keyring"])  # type: ignore[no-untyped-call]
async def test_without_a_keyring_the_secret_can_be_copied(desk: Desk) -> None:
    dialog = desk.set_up()
    await desk.do(dialog)
    click(dialog.copy_secret)
    await until(lambda: dialog.copy_secret.text() == "Copied")
    assert QGuiApplication.clipboard().text() == desk.account.secret()
    QGuiApplication.clipboard().clear()
    await desk.close(dialog)


async def test_all_of_it_is_removed_and_the_connection_only_if_the_user_says_so(desk: Desk) -> None:
    dialog = desk.set_up()
    await desk.do(dialog)
    await desk.close(dialog)
    desk.account.store("answers/a-job/1/1", "orders/a-job/1")
    taking = desk.remove()
    assert taking.worker.text() == "cf-batch-door" and not taking.forget.isChecked()
    assert len(taking.calls) == 8
    await desk.do(taking)
    assert taking.outcome.text() == message("done_name_is_not_account_any", name="cf-batch-door")
    assert shows(taking.afterwards.text(), "n_stored_objects_were_deleted")
    assert desk.account.state == ({}, {}, {}) and taking.token.text() == ""
    await desk.close(taking)
    assert [card.record.name for card in desk.page.cards] == ["My Worker"]

    again = desk.remove()
    again.forget.setChecked(True)
    await desk.do(again)
    assert again.calls[3].state is State.NOT_NEEDED and again.calls[3].note.text() == GONE
    await desk.close(again)
    assert desk.page.cards == [] and desk.program.settings.connections == ()
