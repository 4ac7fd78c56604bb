"""The page of Vectorize on the screen, with a real program behind it, as its tests need it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.vectorize.vectorize import vectorize_of
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.vectorize.running_pushes import RunningPushes
from cfbatch_gui.ui.vectorize.vectorize_page import VectorizePage
from tests.canary import TOKEN
from tests.screen.past import run
from tests.support.faulty_service import ThreadedService
from tests.support.keyrings import MemoryKeyring
from tests.ui.conftest import Until

ACCOUNT = "0123456789abcdef0123456789abcdef"
WORDS = ("Desk lamp of brass", "Garden hose with a nozzle", "Saucepan of steel", "Cotton towel in green")
PART = 10  # vectors of an upload in these tests


def rows(numbers: range, *, long_id: bool = False) -> str:
    """A catalogue with these numbers."""
    lines = [
        f'{"x" * 65 if long_id and number == 3 else number:04},"{WORDS[number % 4]}, {number}",{number * 1.5}\n'
        for number in numbers
    ]
    return "id,text,price\n" + "".join(lines)


@dataclass
class Desk:
    """The page on the screen, with the program behind it."""

    root: Path
    program: Program
    notices: Notices
    pushes: RunningPushes
    page: VectorizePage
    until: Until
    wanted: list[tuple[object, str]] = field(default_factory=list)

    async def job(self, name: str, content: str, connection: str = "practice") -> Job:
        """A finished job, not shown yet."""
        path = self.root / f"{name}.csv"
        path.write_text(content, encoding="utf-8")
        return await run(self.program, name, path, Kind.EMBED, connection)

    async def show(self, job: Job) -> None:
        """Show a job, and wait until all of it is there."""
        self.page.show_job(job)
        await self.idle()

    async def idle(self) -> None:
        """Wait until nothing is under way."""
        await self.until(lambda: not self.page.tasks.running() and not self.pushes.tasks.running())

    def parts(self) -> str:
        """Which part is shown."""
        shown = self.page._parts.currentWidget()
        names = {"form": self.page._form_part, "progress": self.page._progress_part, "after": self.page._after_part}
        return next(name for name, part in names.items() if part is shown)

    def click(self, button: object) -> None:
        """Click what can be clicked."""
        assert button.isVisibleTo(self.page) and button.isEnabled()  # type: ignore[attr-defined]
        button.click()  # type: ignore[attr-defined]


@asynccontextmanager
async def desk_over(root: Path, until: Until, environ: dict[str, str]) -> AsyncIterator[Desk]:
    """A window over a data folder; at its end it is closed as the program closes it."""
    program = await Program.open(
        root / "data", environ=environ, practice_times=(0.0, 0.0), credentials=Credentials(MemoryKeyring(), {})
    )
    if environ:
        await program.connections.save_cloudflare(ACCOUNT, TOKEN)
    parts = (program.ledger, program.address_book, program.paths, program._metadata_for)
    program.vectorize = vectorize_of(*parts, clock=program.clock, most_vectors=PART)
    notices = Notices()
    pushes = RunningPushes(program, notices.show_error, notices)
    page = VectorizePage(program, notices, pushes)
    desk = Desk(root, program, notices, pushes, page, until)
    page.rows_wanted.connect(lambda items, name: desk.wanted.append((items, name)))
    page.resize(1000, 700)
    page.show()
    try:
        yield desk
    finally:
        await page.tasks.close()
        await pushes.tasks.close()
        await program.close()
        page.close()
        page.deleteLater()
        notices.deleteLater()


@pytest.fixture
async def desk(tmp_path: Path, until: Until) -> AsyncIterator[Desk]:
    async with desk_over(tmp_path, until, {}) as desk:
        yield desk


@pytest.fixture
async def account(tmp_path: Path, until: Until) -> AsyncIterator[tuple[Desk, ThreadedService]]:
    """An account whose service can be told to fail."""
    with ThreadedService(tmp_path / "service").opened() as service:
        async with desk_over(tmp_path, until, {"CLOUDFLARE_API_BASE_URL": service.url}) as desk:
            yield desk, service
