"""Run by test_accessibility.py on an accessibility bus and a screen of its own: the whole window, page after page.

Arguments: data folder, and the file for what the bus says about each page, as JSON. What is recorded is only what a
screen reader gets; the keys are pressed as a person presses them.
"""

import asyncio
import gc
import json
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.notices import announce
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.window import loop
from tests.screen import material
from tests.screen.accessibility_bus import AccessibilityBus, Node, State
from tests.screen.past import MemoryKeyring, draft, run
from tests.screen.person import Person
from tests.screen.stage import Stage, opened
from tests.screen.worker_stage import WorkerStage, served
from tests.support import faults
from tests.support.faulty_service import ThreadedService

ACCOUNT = "0123456789abcdef0123456789abcdef"
DAY = 86_400.0
PATIENCE = 240.0  # seconds; the machine may be busy
MOST_STOPS = 120  # of Tab on a page
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NO_MODIFIER = Qt.KeyboardModifier.NoModifier
HELP_CENTRE = resource("examples/help-centre-ranking.csv")


class Tabs(QObject):
    """Counts the Tabs that have arrived where they were pressed.

    While somebody listens Qt shows each key to the bus first, and sends it once more itself when the answer is there.
    """

    arrived = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyRelease and not event.spontaneous():
            self.arrived += event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        return False


@dataclass
class Heard:
    bus: AccessibilityBus
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    announced: list[str] = field(default_factory=list)
    _focus: str = ""  # the object that said last that it got the focus
    _tabs: Tabs = field(default_factory=Tabs)

    @classmethod
    async def begin(cls, stage: Stage, bus: AccessibilityBus) -> "Heard":
        """Wait until the program knows that someone listens, for only then it tells of changes."""
        await asyncio.to_thread(bus.wait_for_program)
        heard = cls(bus)
        app.installEventFilter(heard._tabs)
        async with asyncio.timeout(PATIENCE):
            while not heard.announced:
                announce(stage.workspace.window, "Does anyone listen?")
                await heard._events()
        return heard

    async def page(self, stage: Stage, name: str) -> None:
        windows = await asyncio.to_thread(self.bus.windows)
        await self._events()
        stops = [await self._step(stage, Qt.Key.Key_Tab)]
        while len(stops) < MOST_STOPS and (not stops[1:] or stops[-1].path not in {each.path for each in stops[:-1]}):
            stops.append(await self._step(stage, Qt.Key.Key_Tab))
        again = stops.pop()
        back = [await self._step(stage, Qt.Key.Key_Backtab, SHIFT) for _ in stops]
        await self._step(stage, Qt.Key.Key_Backtab, SHIFT)  # to where the focus was
        self.pages[name] = {
            "windows": [_plain(each) for each in windows],
            "stops": [_plain(each) for each in stops],
            "again": _plain(again),
            "back": [_plain(each) for each in back],
        }
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()

    async def wait_for_announcement(self, words: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while not any(words in each for each in self.announced):
                await self._events()
                await asyncio.sleep(0.02)

    async def _step(self, stage: Stage, key: Qt.Key, modifier: Any = NO_MODIFIER) -> Node:
        """Press the key, and say where the focus is afterwards.

        The bus does not keep the order of answers and events, so an object that said that it got the focus is asked
        whether it still has it.
        """
        arrived = self._tabs.arrived
        await stage.person.press(key, modifier)
        await stage.person.until(lambda: self._tabs.arrived > arrived)
        async with asyncio.timeout(PATIENCE):
            while True:
                await self._events()
                if self._focus:
                    node = await asyncio.to_thread(self.bus.describe, self._focus)
                    if State.FOCUSED in node.states:
                        return node
                await asyncio.sleep(0)

    async def _events(self) -> None:
        for event in await asyncio.to_thread(self.bus.events):
            if event.kind == "focus":
                self._focus = event.path
            else:
                self.announced.append(event.about)


def _plain(node: Node) -> dict[str, Any]:
    return {
        "path": node.path,
        "role": node.role,
        "name": node.name,
        "description": node.description,
        "states": sorted(each.name for each in State if each in node.states),
        "children": [_plain(each) for each in node.children],
    }


async def first_start(stage: Stage, heard: Heard) -> None:
    """An empty data folder, and the page of a connection that is not there yet."""
    person = stage.person
    await person.until_sees("Start with the example")
    await heard.page(stage, "welcome")
    await person.click("Connect my account")
    await person.until_sees("Not tested yet")
    await heard.page(stage, "settings, first connection")


async def past(root: Path, service: ThreadedService, credentials: Credentials) -> None:
    program = await Program.open(
        root,
        environ={"CLOUDFLARE_API_BASE_URL": service.url},
        on_change=lambda job: None,
        credentials=credentials,
        practice_times=(0.0, 0.0),
    )
    await program.connections.save_cloudflare(ACCOUNT, "practice-takes-any-token-0000000000000000")
    program.change_settings(connection="practice")
    files = root / "files"
    files.mkdir()
    await run(program, "Baseline", HELP_CENTRE, Kind.RANK)
    await run(program, "Short answers", material.beginnings(files / "beginnings.csv", HELP_CENTRE), Kind.RANK)
    plain = material.without_labels(files / "plain.csv", HELP_CENTRE)
    await run(program, "Without labels", plain, Kind.RANK)
    await run(program, "Catalogue", material.catalogue(files / "catalogue.csv", 120), Kind.EMBED)
    await run(program, "Reviews", material.reviews(files / "reviews.csv", 40, 12), Kind.RANK)
    await draft(program, "Not sent yet", HELP_CENTRE, Kind.RANK)
    service.follow(faults.reset_after_body(on="submit"))
    await run(program, "Nobody knows", HELP_CENTRE, Kind.RANK, "cloudflare")
    service.follow(faults.fail_requests(on="poll", requests=(2, 5), error="AiError: Internal server error"))
    await run(program, "Half of it", material.reviews(files / "half.csv", 9, 30), Kind.RANK, "cloudflare")
    service.follow(faults.refusal(on="any", times=0, status=401, code=10000, message="Authentication error"))
    await run(program, "Refused", HELP_CENTRE, Kind.RANK, "cloudflare")
    service.follow()
    await program.close()


async def drafts(stage: Stage, heard: Heard, files: Path) -> None:
    person = stage.person
    await new_job(stage)
    await heard.page(stage, "draft, empty")
    await person.click("Use the example")
    await person.until_sees("Finish without sending", "Compare with…")
    await heard.page(stage, "draft, ranking")
    stage.workspace._draft.data.set_folded(True)  # for room
    stage.workspace._draft.version.set_folded(True)
    await person.click("Options")
    await person.until_sees("Texts that are too long")
    await heard.page(stage, "draft, options")
    await new_job(stage)
    await person.click("Turn texts into vectors")
    await person.click("Use the example")
    await person.until_sees("Send 1 batch")
    await heard.page(stage, "draft, vectors")
    await new_job(stage)
    await open_file(stage, material.old_letters(files / "letters-1998.csv"))
    await person.click("Change")
    await person.until_sees("Choose the encoding in which its text looks right")
    await heard.page(stage, "draft, encoding")
    await person.click("Cancel")
    await new_job(stage)
    await open_file(stage, material.misquoted(files / "stock.csv"))
    await person.until_sees("Send them as read")
    await person.click("Show rows")
    await person.until_sees("Compare the file with what was read.")
    await heard.page(stage, "draft, doubtful rows")


async def ranking(stage: Stage, heard: Heard) -> None:
    person = stage.person
    await new_job(stage)
    await person.click("Use the example")
    await person.until_sees("Finish without sending")
    stage.workspace._draft.version.switch.click()  # it is below what this window shows
    await person.click("Send 1 batch")
    await heard.wait_for_announcement("Finished")
    await person.until_sees("Export…", "how do I reset my password")
    await heard.page(stage, "ranking")
    await person.click("Details")
    await person.until_sees("A double click opens the answer")
    await heard.page(stage, "details")
    await person.click("Quality")
    await person.until_sees("mean of 12 queries")
    await heard.page(stage, "quality")
    await person.click("Ranking")
    await person.press(Qt.Key.Key_E, CTRL)
    await person.until_sees("Export as", "rows")
    await heard.page(stage, "export")
    await escape(stage)
    await person.click_row("Jobs", "Reviews")
    await person.click("Overview")
    await person.until_sees("How to read it")
    await heard.page(stage, "overview")
    await person.click("Copy the picture")
    await heard.wait_for_announcement("The picture is on the clipboard.")
    await person.click("Dismiss")  # it would fade some time, and Tab comes to it until then
    await person.until(lambda: not stage.workspace.window.notices.bars())


async def comparing(stage: Stage, heard: Heard) -> None:
    person = stage.person
    await person.click_row("Jobs", "Baseline")
    await person.click("Compare")
    await person.until_sees("Compare “Baseline” with")
    await heard.page(stage, "choose jobs")
    await person.click_row("Jobs to compare with", "Short answers")
    await person.press(Qt.Key.Key_Return)
    await person.until_sees("overlap (RBO)", "Each query, from B")
    await heard.page(stage, "comparison, answer")
    await person.click("Queries")
    await heard.page(stage, "comparison, queries")
    await person.click("Scores")
    await heard.page(stage, "comparison, scores")
    await person.click("Jobs and metrics")
    await heard.page(stage, "comparison, jobs")
    await person.click_row("Jobs", "Without labels")
    await person.press(Qt.Key.Key_J, CTRL)
    await person.until_sees("Start judging", "texts to judge")
    await heard.page(stage, "judging, start")
    await person.press(Qt.Key.Key_Return)
    await person.until_sees("Would this text help?")
    await heard.page(stage, "judging")
    await person.click("Pause")


async def vectors(stage: Stage, heard: Heard) -> None:
    person = stage.person
    await person.click_row("Jobs", "Catalogue")
    await person.until_sees("Nearest to")
    await heard.page(stage, "vectors")
    await person.click("Map")
    await person.until_sees("distances between islands")
    await heard.page(stage, "map")
    await person.click("Similar")
    await person.until_sees("Find similar")
    await heard.page(stage, "similar")
    await person.click("Duplicates")
    await person.until_sees("would go")
    await heard.page(stage, "duplicates")
    await person.click("Clusters")
    await person.until_sees(" clusters")
    await heard.page(stage, "clusters")
    await person.click("Compare with a ranking")
    await heard.page(stage, "vectors, compared with a ranking")


async def states(stage: Stage, heard: Heard) -> None:
    person = stage.person
    await person.click_row("Jobs", "Not sent yet")
    await person.click("Send 1 batch")
    await heard.wait_for_announcement("Not sent yet: Running")
    for name, words in (
        ("Not sent yet", "Check now"),
        ("Nobody knows", "Send again"),
        ("Refused", "Carry on"),
        ("Half of it", "The service refused 2 of 9 requests"),
    ):
        await person.click_row("Jobs", name)
        if name == "Half of it":
            await person.click("Progress")
        await person.until_sees(words)
        await heard.page(stage, f"job, {name}")


async def elsewhere(stage: Stage, heard: Heard) -> None:
    person = stage.person
    await person.press(Qt.Key.Key_Comma, CTRL)
    tabs = stage.workspace._settings.page.tabs
    for index in range(tabs.count()):
        await person.click(tabs.tabText(index))
        await heard.page(stage, f"settings, {tabs.tabText(index).lower()}")
    stage.workspace.window.traffic.emit()
    await person.until_sees("sent", "received")
    await heard.page(stage, "traffic")
    for name, key, modifier, words in (
        ("attach", Qt.Key.Key_N, CTRL | SHIFT, "Add the job"),
        ("shortcuts", Qt.Key.Key_F1, NO_MODIFIER, "This list"),
        ("help", Qt.Key.Key_F1, SHIFT, "What is a score?"),
        ("notices", Qt.Key.Key_M, CTRL | SHIFT, "Close"),
    ):
        await person.press(key, modifier)
        await person.until_sees(words)
        await heard.page(stage, name)
        await escape(stage)
    stage.workspace.window.about.emit()
    await person.until_sees("Copy diagnostics")
    await heard.page(stage, "about")
    await escape(stage)


async def account(stage: Stage, heard: Heard, files: Path, worker: WorkerStage) -> None:
    """A Worker that collects: its card, a draft, a job, and what is in the account."""
    person = stage.person
    await worker.connect(stage.program, for_new_jobs=False)
    worker.room.put("abcdefgh", "Product texts, all shops", batches=96)
    await person.press(Qt.Key.Key_Comma, CTRL)
    await person.until_sees("My Worker", "Set up, not tested yet")
    await heard.page(stage, "settings, a Worker that collects")
    name = "Collected"
    job = await draft(
        stage.program, name, material.catalogue(files / "collected.csv", 60), Kind.EMBED, worker.connection_id
    )
    stage.workspace.job_changed(job)
    await person.click_row("Jobs", name)
    stage.workspace._draft.what.set_folded(True)  # for room
    stage.workspace._draft.data.set_folded(True)
    await person.click("Options")
    await person.until_sees("Collect in my account")
    await heard.page(stage, "draft, collected")
    await person.click("Send 1 batch")
    await person.until_sees("The batch is with your account.")
    await heard.wait_for_announcement(f"{name}: with your account. You can close this computer.")
    await heard.page(stage, "job, collected")
    stage.workspace.window.account.emit()
    await person.until_row("Jobs in your account", "Product texts, all shops")
    await heard.page(stage, "in your account")
    await person.click_row("Jobs in your account", "Product texts, all shops")
    await person.click("Take over…")
    await person.until_sees("Choose the file…")
    await heard.page(stage, "take over")
    await person.press(Qt.Key.Key_Escape)
    await person.until(lambda: not person.sees("Choose the file…"))
    await escape(stage)


async def escape(stage: Stage) -> None:
    """Close the dialog that is in front, and wait until it has gone."""
    await stage.person.press(Qt.Key.Key_Escape)
    await stage.person.until(lambda: sum(each.isVisible() for each in QApplication.topLevelWidgets()) == 1)


async def new_job(stage: Stage) -> None:
    await stage.person.press(Qt.Key.Key_N, CTRL)
    await stage.person.until_sees("Use the example")


async def open_file(stage: Stage, path: Path) -> None:
    await stage.person.press(Qt.Key.Key_O, CTRL)
    await stage.person.name_file(path)


async def main(bus: AccessibilityBus) -> None:
    root, file = map(Path, sys.argv[1:3])
    theme = Theme()
    theme.apply(app)
    heard: Heard | None = None
    with ThreadedService(root / "service").opened() as service:
        environ = {"CLOUDFLARE_API_BASE_URL": service.url}
        window = partial(opened, theme=theme, environ=environ)
        async with window(root / "first", credentials=Credentials(MemoryKeyring(), {})) as stage:
            stage.person = Person(PATIENCE)
            heard = await Heard.begin(stage, bus)
            await first_start(stage, heard)
        credentials = Credentials(MemoryKeyring(), {})
        await past(root / "data", service, credentials)
        async with window(root / "data", credentials=credentials) as stage:
            stage.person = Person(PATIENCE)
            await drafts(stage, heard, root / "data" / "files")
            for scene in (ranking, comparing, vectors):
                await scene(stage, heard)
        async with window(root / "data", credentials=credentials, practice_times=(DAY, DAY)) as stage:
            stage.person = Person(PATIENCE)
            await states(stage, heard)
            await elsewhere(stage, heard)
            async with served(root / "worker") as worker:
                await account(stage, heard, root / "data" / "files", worker)
    file.write_text(json.dumps({"pages": heard.pages, "announced": heard.announced}), "utf-8")


if __name__ == "__main__":
    gc.disable()  # the threads that read the bus must not be those that collect what is left of a closed window
    listener = AccessibilityBus()
    app = QApplication(sys.argv[:1])
    status = loop.run(app, lambda: main(listener))
    listener.close()
    sys.exit(status)
