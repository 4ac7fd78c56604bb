"""Pictures of a new version of a file: what is sent and what is taken, and its way into an index of Vectorize."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import Qt

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.theme import Theme
from tests.core.endpoints import conftest as stand_ins
from tests.screen import material
from tests.screen.past import run
from tests.screen.stage import Stage, opened
from tests.support.clients import save_cloudflare
from tests.support.faulty_service import FaultyService
from tests.support.keyrings import MemoryKeyring
from tests.support.vectorize import service_with_indexes

Take = Callable[[Stage, str], Awaitable[None]]
NAMES = ("update", "vectorize")  # what its pictures begin with
INDEX = "products"
MAY, JUNE = "Products, May", "Products, June"


async def versions(root: Path, theme: Theme, take: Take) -> None:
    """May's file is done; June's is opened, looked at and sent."""
    root.mkdir(parents=True)
    may = material.products(root / "products-may.csv")
    june = material.products(root / "products-june.csv", june=True)
    service = service_with_indexes(root / "service")
    async with FaultyService(service) as faulty:
        environ = {"CLOUDFLARE_API_BASE_URL": faulty.url}
        credentials = Credentials(MemoryKeyring(), {})
        program = await Program.open(root / "data", environ=environ, credentials=credentials, practice_times=(0.0, 0.0))
        await save_cloudflare(program, stand_ins.ACCOUNT, stand_ins.TOKEN)
        await program.keep_settings(connection="cloudflare")
        await run(program, MAY, may, Kind.EMBED, "cloudflare")
        await program.close()
        async with opened(root / "data", theme, environ=environ, credentials=credentials) as stage:
            await first_push(stage, take)
            await new_version(stage, take, june)
            await second_push(stage, take)


async def new_version(stage: Stage, take: Take, june: Path) -> None:
    """June's file, by mouse."""
    person = stage.person
    await person.click("New job")
    await person.click("Vectors for another program")
    await stage.open_file(june)
    await stage.rename(JUNE)
    await person.until_sees(f"A newer version of “{MAY}”", "188 to send")
    await take(stage, "update")
    page = stage.workspace.draft_page
    page.what.set_folded(True)
    page.data.set_folded(True)
    await person.until_sees("now with five years of guarantee")
    await take(stage, "update-list")
    await person.click("9,892 as before")
    await person.until_sees("Send these again all the same")
    await take(stage, "update-taken")
    await person.click("40 gone")
    await take(stage, "update-gone")
    await person.click("Send 1 batch")
    await person.until(lambda: str(stage.state(JUNE)) == "done")
    await person.until_sees("9,892 from earlier jobs")
    await take(stage, "update-finished")


async def first_push(stage: Stage, take: Take) -> None:
    """May's vectors into a new index."""
    person = stage.person
    await person.click_row("Jobs", MAY)
    await person.click("Vectorize")
    await person.until_sees("Name of the new index", "Send 10,000 vectors")
    await person.type("Name of the new index", INDEX)
    await person.until_sees("Send 10,000 vectors")
    await take(stage, "vectorize-form")
    await person.click("Send 10,000 vectors")
    await person.until_sees(f"10,000 of 10,000 are in “{INDEX}”")


async def second_push(stage: Stage, take: Take) -> None:
    """What is new of June's, and a search."""
    person = stage.person
    await person.click_row("Jobs", JUNE)
    await person.click("Vectorize")
    await person.until_sees("Send 200 vectors")
    await take(stage, "vectorize-changes")
    await person.click("Send 200 vectors")
    await person.until_sees(f"10,080 of 10,080 are in “{INDEX}”")
    await person.type("A sentence to look for in the index", "a pan that lasts a lifetime")
    await person.press(Qt.Key.Key_Return)
    await person.until_sees("nearest by exact comparison")
    await take(stage, "vectorize")
