"""The dialog that checks the service: its price before anything is sent, and what holds afterwards."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog, QLabel

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai.probe import Outcome
from cfbatch_gui.ui.connections.connection_page import ConnectionPage
from cfbatch_gui.ui.connections.service_check import ServiceCheck
from tests.canary import TOKEN
from tests.core.endpoints.conftest import ACCOUNT, service
from tests.support import faults
from tests.support.faulty_service import FaultyService
from tests.support.keyrings import MemoryKeyring
from tests.ui.conftest import Until
from tests.ui.connections import choose_path, click, everything_said, opened_page


class Desk:
    """A page with a connected account at a stand-in."""

    def __init__(self, program: Program, page: ConnectionPage, faulty: FaultyService, until: Until) -> None:
        self.program, self.page, self.faulty, self.until = program, page, faulty, until
        self.changes: list[bool] = []
        page.changed.connect(lambda: self.changes.append(True))

    def open(self) -> ServiceCheck:
        click(self.page.cloudflare.check_button)
        return self.dialog()

    def dialog(self) -> ServiceCheck:
        (dialog,) = self.page.window().findChildren(ServiceCheck)
        return dialog

    async def check(self, dialog: ServiceCheck) -> None:
        click(dialog.start_button)
        await self.until(lambda: dialog.save_button.isVisible() or dialog.problem.isVisible())

    @property
    def submissions(self) -> list[dict[str, Any]]:
        path = self.program.paths.submissions
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


@pytest.fixture
async def desk(tmp_path: Path, until: Until, request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    """`request.param`, where there is one, is how many seconds a batch is queued."""
    queued: float = getattr(request, "param", 0.0)
    async with (
        FaultyService(service(tmp_path / "service", seconds_queued=queued)) as faulty,
        opened_page(
            tmp_path,
            until,
            MemoryKeyring(),
            faulty.url,
            prepare=lambda program: program.connections.save_cloudflare(ACCOUNT, TOKEN),
        ) as page,
    ):
        yield Desk(page._program, page, faulty, until)


async def test_it_says_what_it_does_and_its_price_before_anything_is_sent(desk: Desk) -> None:
    dialog = desk.open()
    assert dialog.sends.text() == "3 small batches, and one request without the queue, to @cf/baai/bge-m3"
    assert dialog.price.text() == "It costs under $0.001."
    assert dialog.start_button.text() == "Check for under $0.001" and dialog.start_button.isVisible()
    assert not dialog.save_button.isVisible()
    click(dialog.close_button)
    await desk.until(lambda: not desk.page.window().findChildren(ServiceCheck))
    assert not desk.faulty.arrivals


async def test_all_that_can_be_seen_is_held(desk: Desk) -> None:
    dialog = desk.open()
    await desk.check(dialog)
    assert dialog.outcome.text() == "All that a check can see is as assumed"
    words = [each.finding.outcome for each in dialog.rows]
    assert Outcome.NOT_HELD not in words and Outcome.HELD in words and Outcome.NOT_SEEN in words
    assert len(desk.faulty.submits) == 4
    assert len([each for each in desk.submissions if each["request_id"]]) == 3
    assert desk.changes
    said = everything_said(dialog)
    assert TOKEN not in said and ACCOUNT not in said
    assert "Every element repeats the “external_reference” of its request." in said and "`" not in said


async def test_what_does_not_hold_comes_first_with_what_happens_then(desk: Desk) -> None:
    desk.faulty.follow(faults.mutate(on="poll", times=0, how="references_null"))
    dialog = desk.open()
    await desk.check(dialog)
    assert dialog.outcome.text() == "1 assumption does not hold"
    assert dialog.rows[0].finding.assumption.id == "references"
    assert dialog.rows[0].accessibleName().startswith("Not held: Every element repeats")
    shown = [label.text() for label in dialog.rows[0].findChildren(QLabel)]
    assert "Not held" in shown and any(each.startswith("What happens then: Elements are told apart") for each in shown)
    assert desk.program.connections.learned("cloudflare", "@cf/baai/bge-m3").references is False


async def save_as(desk: Desk, dialog: ServiceCheck, path: Path | None) -> str:
    """Press “Save report…” and choose a file, or none; the name that was offered."""
    click(dialog.save_button)
    await desk.until(lambda: dialog.findChildren(QFileDialog))
    (chooser,) = dialog.findChildren(QFileDialog)
    offered = Path(chooser.selectedFiles()[0]).name
    if path is None:
        chooser.reject()
    else:
        await choose_path(dialog, path, desk.until)
    await desk.until(lambda: not desk.page.tasks.is_running("service report"))
    await desk.until(lambda: not dialog.findChildren(QFileDialog))
    return offered


async def test_a_report_is_saved_where_the_user_says(desk: Desk, tmp_path: Path) -> None:
    text, as_json = tmp_path / "report.txt", tmp_path / "report.json"
    dialog = desk.open()
    await desk.check(dialog)
    offered = await save_as(desk, dialog, None)
    assert offered.startswith("cfbatch-check-20") and offered.endswith(".txt")
    assert not dialog.saved.isVisible() and not dialog.problem.isVisible()
    await save_as(desk, dialog, text)
    assert "Not held: none" in text.read_text("utf-8")
    assert dialog.saved.text().startswith("Saved as report.txt.")
    await save_as(desk, dialog, as_json)
    assert json.loads(as_json.read_text("utf-8"))["outcomes"]["not held"] == 0
    if not Path("/proc").is_dir():
        pytest.skip("needs a folder in which nobody can write")
    await save_as(desk, dialog, Path("/proc/report.txt"))
    assert "could not be written" in dialog.problem.text() and not dialog.saved.isVisible()


@pytest.mark.parametrize("desk", [3_600.0], indirect=True)
async def test_closing_ends_the_check_and_what_was_sent_is_written_down(desk: Desk) -> None:
    dialog = desk.open()
    click(dialog.start_button)
    await desk.until(lambda: dialog.doing.text() == "Waiting for the results…")
    click(dialog.close_button)
    await desk.until(lambda: not desk.page.window().findChildren(ServiceCheck))
    await desk.until(lambda: "service check" not in desk.page.tasks.running())
    assert len([each for each in desk.submissions if each["request_id"]]) == 3
    assert len(desk.faulty.submits) == 3 and not desk.changes
