"""Pictures of the Worker's way into the user's account: the list of calls, the way through it, its end, failures."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import Qt

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.ui.theme import Theme
from tests.account_service import ACCOUNT, AccountService
from tests.screen.stage import Stage, opened
from tests.support import faults
from tests.support.faulty_service import FaultyService
from tests.support.keyrings import MemoryKeyring

Take = Callable[[Stage, str], Awaitable[None]]
NAMES = ("setup",)  # what its pictures begin with
TOKEN = "practice-takes-any-token-0000000000000000"
START = "Set up in my account"


async def worker_setup(root: Path, theme: Theme, take: Take) -> None:
    """An account at a stand-in: a failure, the way through, and out again."""
    account = AccountService(tokens=(TOKEN,))
    async with FaultyService(account) as faulty:
        environ = {"CLOUDFLARE_API_BASE_URL": faulty.url}
        credentials = Credentials(MemoryKeyring(), {})
        async with opened(root / "data", theme, environ=environ, credentials=credentials) as stage:
            await put(stage, take, account, faulty)
            await taken_away(stage, take, account)


async def put(stage: Stage, take: Take, account: AccountService, faulty: FaultyService) -> None:
    """From the guide to the end."""
    person = stage.person
    stage.program.change_settings(for_developers=True)
    await person.press(Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    await person.click("New connection")
    await person.choose("Your own Worker")
    await person.click("Save the Worker…")
    await person.until_sees("Or do it by hand")
    await take(stage, "setup-guide")
    await person.click("Set up in my account…")
    await person.until_sees("One-time API token", "Reads the account's address")
    await take(stage, "setup-calls")
    await person.type("Account ID", ACCOUNT)
    await person.type("One-time API token", TOKEN)
    account.r2_active = False
    await person.click(START)
    await person.until_sees("R2 is not activated")
    await take(stage, "setup-storage")
    account.r2_active = True
    account.foreign()
    await person.click(START)
    await person.until_sees("Replace what has this name there")
    await take(stage, "setup-foreign")
    await person.type("Name of the Worker", "cf-batch-door-2")
    account.scripts.clear()
    faulty.follow(faults.stall(on="any", number=6, seconds=60.0))
    await person.click(START)
    await person.until(lambda: len(faulty.arrivals) == len(account.calls) + 1 and "PUT" not in account.calls[-1])
    await take(stage, "setup-working")
    faulty.follow()
    await person.click("Stop")
    await person.until_sees("Stopped. What was done stays")
    await person.click(START)
    await person.until_sees("was added")
    await take(stage, "setup-done")
    await person.click("Close")


async def taken_away(stage: Stage, take: Take, account: AccountService) -> None:
    """By the card's menu."""
    account.store("answers/a-job/1/1", "orders/a-job/1", bucket="cf-batch-door-2-bucket")
    page = stage.workspace.connection_page
    page.take_down(page.cards[0])
    person = stage.person
    await person.until_sees("Keep the bucket with the stored answers")
    await person.type("Account ID", ACCOUNT)
    await person.type("One-time API token", TOKEN)
    await take(stage, "setup-removal")
    await person.click("Remove from my account")
    await person.until_sees("is not in the account any more")
    await take(stage, "setup-removed")
    await person.click("Close")
