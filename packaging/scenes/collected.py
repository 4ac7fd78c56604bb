"""Pictures of a job whose answers the user's account collects: its draft, its page, and what else is in the account."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.account import STOPPED
from cfbatch_gui.core.jobs.states import AccountProgress, account_progress
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.resources import resource
from cfbatch_gui.ui.jobs.elsewhere import AccountDialog
from cfbatch_gui.ui.theme import Theme
from tests.core.endpoints.conftest import SECRET
from tests.screen import material
from tests.screen.past import Clock, run
from tests.screen.stage import Stage
from tests.screen.worker_stage import WorkerStage, on_stage, served

Take = Callable[[Stage, str], Awaitable[None]]
NAMES = ("account",)  # what its pictures begin with
NAME = "Abstracts 2019–2024"
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0


async def collected(root: Path, theme: Theme, take: Take) -> None:
    """A data folder of its own, and an account that other computers use too."""
    root.mkdir(parents=True)
    clock = Clock()
    async with served(root / "service", told_time=clock) as worker:
        await past(root, worker, clock)
        async with on_stage(root / "data", theme, worker, clock=clock, is_connected=False) as stage:
            await card(stage, take, worker)
            await job(stage, take, worker, root, clock)
            await dialog(stage, take)


async def past(root: Path, worker: WorkerStage, clock: Clock) -> None:
    """Finished jobs of this computer, and what another one has handed over."""
    program = await Program.open(root / "data", environ={}, practice_times=(0.0, 0.0), clock=clock)
    clock.offset = -4 * DAY
    await run(program, "Help centre, baseline", resource("examples/help-centre-ranking.csv"), Kind.RANK)
    clock.offset = -DAY
    await run(program, "Catalogue vectors", material.catalogue(root / "catalogue.csv", 1_820), Kind.EMBED)
    await program.close()
    clock.offset = 0.0
    worker.room.put("k7m2p9qa", "Product texts, all shops", batches=96, at=clock() - 3 * HOUR)
    worker.room.put("w3nd8xte", "Reviews by topic, spring", kind="rank", batches=48, at=clock() - 2 * DAY)


async def card(stage: Stage, take: Take, worker: WorkerStage) -> None:
    """The Worker's card: collecting is switched on, and tested."""
    person = stage.person
    stage.program.change_settings(for_developers=True)
    await person.press(Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    await person.click("New connection")
    await person.choose("Your own Worker")
    await person.type("Address", worker.address)
    await person.type("Secret", SECRET)
    await person.click("Collect answers in my account")
    await take(stage, "account-switch")
    worker.room.is_open = False
    (shown,) = stage.workspace.connection_page.cards
    shown.save_button.click()  # the account's card has a button with the same name
    await person.until_sees("keeps no answers")
    await person.until(lambda: not shown.is_working)
    await take(stage, "account-no-room")
    worker.room.is_open = True
    shown.test_button.click()
    await person.until(lambda: not person.sees("keeps no answers"))
    await person.until(lambda: not shown.is_working)
    await take(stage, "account-card")
    worker.connection_id = shown.record.id


async def job(stage: Stage, take: Take, worker: WorkerStage, root: Path, clock: Clock) -> None:
    """From the draft to answers that wait in the account."""
    person, program = stage.person, stage.program
    clock.offset = -41 * MINUTE
    await person.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    await person.click("Vectors for another program")
    await stage.open_file(material.abstracts(root / "abstracts.csv", 23_400))
    await person.until_sees("Send 12 batches")
    await stage.rename(NAME)
    page = stage.workspace.draft_page
    page.what.set_folded(True)
    page.data.set_folded(True)
    await person.click("Options")
    await person.until_sees("Collect in my account")
    await take(stage, "account-draft")
    await person.click("Send 12 batches")
    await person.until_sees("is with your account.")
    await take(stage, "account-handed-over")
    clock.offset = 0.0
    worker.finish()
    worker.room.collects = lambda number: number <= 3
    program.runner.check_now(stage.job(NAME).id)
    await person.until(lambda: _progress(stage).here == 3)
    worker.room.gives.clear()
    worker.room.collects = lambda number: number <= 7
    program.runner.check_now(stage.job(NAME).id)
    await person.until_sees("4 waiting in your account", "Look at what is here")
    await take(stage, "account-job")


async def dialog(stage: Stage, take: Take) -> None:
    """What is in the account, and a job of another computer taken over."""
    person, program = stage.person, stage.program
    await person.press(Qt.Key.Key_J, Qt.KeyboardModifier.AltModifier)
    await person.choose("In your account…")
    await person.until_row("Jobs in your account", "Product texts, all shops")
    await person.click_row("Jobs in your account", "Product texts, all shops")
    await take(stage, "account")
    await person.until_sees("Choose the file…")
    dialog = next(each for each in QApplication.topLevelWidgets() if isinstance(each, AccountDialog))
    dialog.files.open(resource("examples/product-texts.csv"))
    await person.until_sees("product-texts.csv")
    await take(stage, "account-take-over-file")
    await person.click("Remove from my account…")
    await person.until_sees("Remove “Product texts, all shops” from your account?")
    await take(stage, "account-remove")
    await person.press(Qt.Key.Key_Escape)
    await person.press(Qt.Key.Key_Escape)
    known = stage.job(NAME)
    await program.runner.stop(known.id)
    direct = [replace(each, direct_only=not each.is_in_account) for each in known.batches]
    await program.store.change(known.id, lambda now: replace(now, account_problem=STOPPED, batches=tuple(direct)))
    await person.until_sees("has stopped")
    await take(stage, "account-problem")


def _progress(stage: Stage) -> AccountProgress:
    return account_progress(stage.job(NAME))
