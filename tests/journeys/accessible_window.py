"""Run by test_accessibility.py on an accessibility bus and a screen of its own: the whole window, page after page.

Arguments: data folder, and the file for what the bus says about each page, as JSON. What is recorded is only what a
screen reader gets; the keys are pressed as a person presses them.
"""

import asyncio
import gc
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.ui.notices import announce
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.window import loop
from tests.screen.accessibility_bus import AccessibilityBus, Node, State
from tests.screen.stage import Stage, opened
from tests.screen.tour import Past, Tour
from tests.support.faulty_service import ThreadedService
from tests.support.keyrings import MemoryKeyring

PATIENCE = 240.0  # seconds; the machine may be busy
MOST_STOPS = 120  # of Tab on a page
SHIFT = Qt.KeyboardModifier.ShiftModifier
NO_MODIFIER = Qt.KeyboardModifier.NoModifier


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

    async def visit(self, stage: Stage, name: str, window: QWidget) -> None:
        if not isinstance(window, QMenu):  # Tab goes nowhere in it
            await self.page(stage, name)

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
    """An empty data folder, the page of a connection that is not there yet, and a job from beginning to end."""
    person = stage.person
    await person.click("Connect my Cloudflare account")
    await person.until_sees("Not tested yet")
    await heard.page(stage, "connection-first")
    await person.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    await person.click("Start with an example")
    await person.click("Send 1 batch")
    await heard.wait_for_announcement("Finished")
    await person.click("Overview")
    await person.click("Copy the picture")
    await heard.wait_for_announcement("The picture is on the clipboard.")


async def main(bus: AccessibilityBus) -> None:
    root, file = map(Path, sys.argv[1:3])
    theme = Theme()
    theme.apply(app)
    with ThreadedService(root / "service").opened() as service:
        async with opened(root / "first", theme, credentials=Credentials(MemoryKeyring(), {})) as stage:
            stage.program.change_settings(for_developers=True)
            heard = await Heard.begin(stage, bus)
            await first_start(stage, heard)
        past = Past(root / "past", service)
        await past.make()
        async with past.opened(theme) as stage:
            await Tour(stage, past, heard.visit).go()
    file.write_text(json.dumps({"pages": heard.pages, "announced": heard.announced}), "utf-8")


if __name__ == "__main__":
    gc.disable()  # the threads that read the bus must not be those that collect what is left of a closed window
    listener = AccessibilityBus()
    app = QApplication(sys.argv[:1])
    status = loop.run(app, lambda: main(listener))
    listener.close()
    sys.exit(status)
