"""The line at the foot of the window: which connection new jobs use, and what is worth knowing of it."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import Qt

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.ui.theme import Theme
from tests.canary import TOKEN
from tests.core.endpoints.conftest import ACCOUNT, service
from tests.screen.past import MemoryKeyring
from tests.screen.stage import opened
from tests.support import faults
from tests.support.faulty_service import FaultyService

Until = Callable[..., Awaitable[None]]
CONNECTION = (Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)


async def test_calls_that_are_left_are_counted_only_where_they_are_few(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, credentials=Credentials(MemoryKeyring(), {})) as stage:
        await stage.program.connections.save_cloudflare("0" * 32, TOKEN)
        await stage.program.keep_settings(connection="cloudflare")
        person, budget = stage.person, stage.program.connections.budget
        await budget.take()
        await person.press(*CONNECTION)
        await person.click("Done")
        await person.until_sees("new jobs are sent there")
        assert not person.sees("calls left")
        budget.heed('"default";r=150;t=300')
        await person.press(*CONNECTION)
        await person.click("Done")
        await person.until_sees("150 of 800 calls left in 5 minutes")


async def test_a_failed_test_of_the_connection_stands_there_until_one_succeeds(
    tmp_path: Path, theme: Theme, until: Until
) -> None:
    async with FaultyService(service(tmp_path / "service")) as faulty:
        environ = {"CLOUDFLARE_API_BASE_URL": faulty.url}
        credentials = Credentials(MemoryKeyring(), environ)
        async with opened(tmp_path / "data", theme, environ=environ, credentials=credentials) as stage:
            await stage.program.connections.save_cloudflare(ACCOUNT, TOKEN)
            await stage.program.keep_settings(connection="cloudflare")
            person, gear = stage.person, stage.workspace.window.library.foot._gear
            await person.press(*CONNECTION)
            faulty.follow(faults.refusal(status=404, code=7003, message="Could not route"))
            await person.click("Test")
            await person.until_sees("no account with this id")
            await until(lambda: "its last test failed" in gear.accessibleDescription())
            await person.click("Test again")
            await person.until_sees("new jobs are sent there")
            await until(lambda: "its last test failed" not in gear.accessibleDescription())
