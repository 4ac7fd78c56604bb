"""A real program on the practice service, and the page of a draft in front of it."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenu, QVBoxLayout, QWidget

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind, Role
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.ui.inputs.draft_page import DraftPage
from cfbatch_gui.ui.inputs.draft_state import DraftState
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.theme import styled_once
from tests.canary import SECRET, TOKEN
from tests.core.endpoints import conftest as stand_ins
from tests.core.endpoints.conftest import ACCOUNT, GATEWAY
from tests.support.clients import save_cloudflare
from tests.support.faulty_service import FaultyService
from tests.ui.connections import until
from tests.ui.job_page_driver import job_actions


class DraftDriver:
    """Drives a draft page as a user does, and records the signals that it emits."""

    def __init__(self, program: Program, qtbot: Any) -> None:
        self.program, self.qtbot = program, qtbot
        with styled_once():
            self.window = QWidget()
            self.window.resize(1004, 820)
            self.notices = Notices(self.window)
            self.page = DraftPage(program, self.notices, job_actions(program, self.notices, self.window))
            layout = QVBoxLayout(self.window)
            layout.addWidget(self.page, 1)
        qtbot.addWidget(self.window)
        self.sent: list[str] = []
        self.page.drafts.sent.connect(self.sent.append)
        self.window.show()

    def new_draft(self, name: str = "Products", kind: Kind = Kind.RANK, connection: str = "practice") -> Job:
        job = self.program.drafts.create(kind, name, self.program.settings.model, connection)
        self.page.show_job(job)
        return job

    def begin(self, *paths: Path, kind: Kind = Kind.RANK, connection: str = "practice") -> Job:
        """Open one file or two in a new draft."""
        job = self.new_draft(kind=kind, connection=connection)
        self.page.drafts.open_paths(paths)
        return job

    async def open(self, path: Path, *, kind: Kind = Kind.RANK, connection: str = "practice") -> None:
        """Open a file in a new draft, and wait until it can be sent."""
        self.begin(path, kind=kind, connection=connection)
        await until(self.is_ready)

    @property
    def job(self) -> Job:
        return self.program.ledger.job(self.page.job_id())

    @property
    def state(self) -> DraftState:
        return self.page.drafts.state(self.page.job_id())

    def is_ready(self) -> bool:
        return self.page.check.send_button.isEnabled()

    def is_settled(self) -> bool:
        state = self.state
        return not (state.is_reading or state.opening or state.unsaved) and state.has_data

    def click(self, widget: QWidget) -> None:
        shown: QWidget | None = widget
        while shown is not None:  # what was put into a window just now is shown by a call that may still be queued
            QCoreApplication.sendPostedEvents(shown, QEvent.Type.MetaCall)
            shown = shown.parentWidget()
        assert widget.isVisible() and widget.isEnabled()
        self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)

    def choose_kind(self, kind: Kind) -> None:
        """Open the first part, which folds when there is data, and choose."""
        self.page.what.set_folded(False)
        self.click(self.page.what.cards[Purpose.RANK if kind is Kind.RANK else Purpose.VECTORS])

    def choose_role(self, column: int, role: Role) -> None:
        """Click the role in the header, then the wanted one in the menu."""
        header = self.page.data.first.table.roles
        self.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=header.chip(column).center())
        self.pick(lambda action: action.data() == role)

    def pick(self, wanted: Callable[[QAction], bool]) -> None:
        """Choose from the menu that is open."""
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        action = next(action for action in menu.actions() if wanted(action))
        action.trigger()
        menu.close()

    def counts(self) -> tuple[int, int]:
        """Queries and texts, zeros before they were counted."""
        found = self.state.preflight
        return (found.queries, found.texts) if found is not None else (0, 0)

    def problems(self) -> dict[str, int]:
        """How many rows of each kind the bars tell of."""
        found = self.state.preflight
        return {each.kind: each.count for each in found.problems} if found is not None else {}

    def press(self, kind: str, link: int) -> None:
        """Click a link of the bar of these problems."""
        self.click(self.page.check.problem_bars.bars[kind].links()[link])

    def start_again(self) -> None:
        """Show the draft as after a new start of the program."""
        job = self.job
        self.page.drafts.forget(job.id)
        self.page.show_job(job)

    def notes(self) -> str:
        return self.page.check.problem_bars.notes.text()

    def why_not(self) -> str:
        return self.page.check.line.text()


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    program = await Program.open(tmp_path / "program", environ={}, practice_times=(0.0, 0.0))
    yield program
    await program.close()


@pytest.fixture
async def driver(program: Program, qtbot: Any) -> AsyncIterator[DraftDriver]:
    driver = DraftDriver(program, qtbot)
    yield driver
    await driver.page.drafts.tasks.close()


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A ranking of two queries, with two rows that cannot be sent."""
    path = tmp_path / "questions.csv"
    path.write_text(
        "question;answer;sku;relevance\n"
        "how do I reset my password;Choose a new one on the sign-in page;A-1;2\n"
        "how do I reset my password;Delivery takes three days;A-2;0\n"
        "how do I reset my password;;A-3;0\n"
        "where is my parcel;Delivery takes three days;A-2;2\n"
        "where is my parcel;<b>Follow</b> the link & look;A-4;1\n"
        ";An answer to nothing;A-5;0\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Too much for a run without the queue."""
    path = tmp_path / "many.csv"
    path.write_text("question,answer\n" + "".join(f"question {n},answer {n}\n" for n in range(200)), encoding="utf-8")
    return path


@pytest.fixture
async def connected(tmp_path: Path, qtbot: Any) -> AsyncIterator[DraftDriver]:
    """A draft page with an account, a Worker and a gateway."""
    behind = stand_ins.service(tmp_path / "service")
    async with FaultyService(stand_ins.gateway(behind)) as api, FaultyService(stand_ins.worker(behind)) as worker:
        environ = {"CLOUDFLARE_API_BASE_URL": api.url}
        program = await Program.open(
            tmp_path / "program", environ=environ, credentials=Credentials(environ=environ), practice_times=(0.0, 0.0)
        )
        await save_cloudflare(program, ACCOUNT, TOKEN)
        worker_url = worker.url.removesuffix("/client/v4")
        await program.connections.save(SavedConnection("", "Berlin", "worker", url=worker_url), secret=SECRET)
        await program.connections.save(
            SavedConnection("", "Logged", "gateway", account_id=ACCOUNT, gateway=GATEWAY, by_header=True), secret=TOKEN
        )
        driver = DraftDriver(program, qtbot)
        yield driver
        await driver.page.drafts.tasks.close()
        await program.close()
