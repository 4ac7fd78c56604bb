"""Pictures of other ways to the service: more connections, at once, begun elsewhere, what leaves this computer."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QScrollArea

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.resources import resource
from cfbatch_gui.ui.jobs.elsewhere import AttachDialog
from cfbatch_gui.ui.theme import Theme
from tests.core.endpoints import conftest as stand_ins
from tests.screen.past import draft, run
from tests.screen.stage import Stage, opened
from tests.support import faults
from tests.support.clients import save_cloudflare
from tests.support.faulty_service import FaultyService
from tests.support.keyrings import MemoryKeyring

Take = Callable[[Stage, str], Awaitable[None]]

HELP_CENTRE = "examples/help-centre-ranking.csv"
NO_QUEUE = faults.refusal(
    on="submit", times=0, status=400, code=8007, message="This model does not support request queueing"
)
QUEUED = (
    '{"result":{"status":"queued","request_id":"768f15b7-4fd6-4498-906e-ad94ffc7f8d2","model":"@cf/baai/bge-m3"},'
    '"success":true,"errors":[],"messages":[]}'
)
NAMES = ("other-", "at-once-", "begun-elsewhere", "settings-", "traffic")  # what its pictures begin with


async def elsewhere(root: Path, theme: Theme, take: Take) -> None:
    """A data folder of its own, with a Worker and a gateway that stand in for real ones."""
    root.mkdir(parents=True)
    behind = stand_ins.service(root / "service")
    async with (
        FaultyService(stand_ins.gateway(behind)) as faulty,
        FaultyService(stand_ins.worker(behind)) as worker,
    ):
        environ = {"CLOUDFLARE_API_BASE_URL": faulty.url}
        credentials = Credentials(MemoryKeyring(), {})
        async with opened(root / "data", theme, environ=environ, credentials=credentials) as stage:
            await save_cloudflare(stage.program, stand_ins.ACCOUNT, stand_ins.TOKEN)
            await connections(stage, take, worker)
            await synchronous(stage, take, faulty)
            await begun_elsewhere(stage, take, root)


async def connections(stage: Stage, take: Take, worker: FaultyService) -> None:
    """A Worker and a gateway are added, and tested."""
    person = stage.person
    stage.program.change_settings(for_developers=True)
    await person.press(Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    await person.click("New connection")
    await person.choose("Your own Worker")
    await person.type("Address", worker.url.removesuffix("/client/v4"))
    await person.type("Secret", stand_ins.SECRET)
    await person.click("Save the Worker…")
    await person.until_sees("Or do it by hand")
    await take(stage, "other-guide")
    await person.press(Qt.Key.Key_Escape)
    await person.click("Save and test")
    await person.until_sees("Workers AI answers", "New jobs use")
    await stage.person.until(lambda: not any(card.is_working for card in stage.workspace.connection_page.cards))
    await take(stage, "other-worker")
    worker.follow(faults.mutate(on="poll", times=0, how="references_null"))
    await checked(stage, take)
    worker.follow()
    await person.click("New connection")
    await person.choose("AI Gateway")
    card = stage.workspace.connection_page.cards[-1]
    card.lines["account_id"].field.setText(stand_ins.ACCOUNT)
    card.lines["gateway"].field.setText(stand_ins.GATEWAY)
    card.rows["by_header"].field.setChecked(True)
    card.lines["secret"].field.setText(stand_ins.TOKEN)
    card.save_button.click()
    await person.until(lambda: card.checks.rows[-1].word.text() == "Not certain")
    _scroll(stage, to_end=True)
    await take(stage, "other-gateway")


async def checked(stage: Stage, take: Take) -> None:
    """The service is checked through the Worker: before the check, and after it. One assumption does not hold."""
    person = stage.person
    card = stage.workspace.connection_page.cards[-1]
    card.check_button.click()  # the account's card has a button with the same name
    await person.until_sees("It takes as long as batches wait, usually less than 5 minutes.")
    await take(stage, "other-check-asked")
    await person.click("Check for under $0.001")
    await person.until_sees("Save report…")
    await take(stage, "other-check-done")
    await person.click("Close")


async def synchronous(stage: Stage, take: Take, faulty: FaultyService) -> None:
    """A small draft with its offer, and a batch that the queue did not take."""
    person = stage.person
    job = await draft(stage.program, "Help centre", resource(HELP_CENTRE), Kind.RANK, "cloudflare")
    stage.workspace.job_changed(job)
    await person.click_row("Jobs", "Help centre")
    await person.until_sees("without the queue", "Run at once")
    await take(stage, "at-once-offer")
    await person.click("Run at once")
    await person.until_sees("requests at once", "Use the queue")
    await person.click("Options")
    await person.until_sees("Models as Cloudflare listed them")
    await take(stage, "at-once-chosen")
    faulty.follow(NO_QUEUE)
    await run(stage.program, "Newsletter archive", resource(HELP_CENTRE), Kind.RANK, "cloudflare")
    await person.click_row("Jobs", "Newsletter archive")
    await person.until_sees("takes no batches", "Run at once")
    await take(stage, "at-once-refused")
    faulty.follow()


async def begun_elsewhere(stage: Stage, take: Take, root: Path) -> None:
    """The dialog for a job of somebody's own script, and the list of what has left."""
    person = stage.person
    await person.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    await person.until_sees("Add the job")
    dialog = next(each for each in QApplication.topLevelWidgets() if isinstance(each, AttachDialog))
    await take(stage, "begun-elsewhere-empty")
    dialog.text.setPlainText(QUEUED)
    dialog.files.open(resource(HELP_CENTRE))
    await person.until_sees("Ranked texts")
    await take(stage, "begun-elsewhere")
    queries, contexts = (root / name for name in ("questions.csv", "answers.csv"))
    queries.write_text("question\nhow do I reset my password\nwhere is my invoice\n", encoding="utf-8")
    contexts.write_text("answer\nChoose a new one on the sign-in page.\nAmong your orders.\n", encoding="utf-8")
    dialog.files.open(queries, contexts)
    await person.until_sees("answers.csv")
    await take(stage, "begun-elsewhere-two-files")
    await person.press(Qt.Key.Key_Escape)
    await person.press(Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    await person.click("Data and privacy")
    await take(stage, "settings-data")
    await person.click("What leaves this computer")
    await person.until_sees("sent", "received")
    await take(stage, "traffic")


def _scroll(stage: Stage, *, to_end: bool) -> None:
    area = stage.workspace.connection_page.findChild(QScrollArea)
    assert isinstance(area, QScrollArea)
    bar = area.verticalScrollBar()
    bar.setValue(bar.maximum() if to_end else 0)
