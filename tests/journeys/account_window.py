"""Run by test_window_account.py, once for each start of the program, on a screen of its own.

Arguments: data folder, the Worker's address, the file of texts, and what somebody does: "send" it through the Worker
and close the window, "return" to it, or "take over" the job on another computer. At the first start of a folder the
secret comes on stdin, later from the environment, as on a computer without a keyring. Prints what stands on the screen.
"""

import asyncio
import os
import sys
from pathlib import Path

import keyring.backends.fail
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.window import loop
from tests.screen.person import Person
from tests.screen.stage import Stage, opened

PATIENCE = 240.0  # seconds; the machine may be busy
CTRL = Qt.KeyboardModifier.ControlModifier


async def connect(stage: Stage, address: str, secret: str, *, collects: bool) -> None:
    person = stage.person
    await person.press(Qt.Key.Key_Comma, CTRL)
    await person.click("New connection")
    await person.choose("Your own Worker")
    await person.type("Address", address)
    if collects:
        await person.click("Collect answers in my account")
        await person.type("qt_spinbox_lineedit", "7")
    await person.type("Secret", secret)
    await person.press(Qt.Key.Key_Return)  # in a field: save and test
    await person.until_sees("Connected", "Tested at")
    say(stage, "Collects answers")


async def send(stage: Stage, address: str, secret: str, file: Path) -> None:
    """Switch collecting on, send, and close the window once this computer is not needed."""
    person = stage.person
    await connect(stage, address, secret, collects=True)
    await person.press(Qt.Key.Key_N, CTRL)
    await person.click("Turn texts into vectors")
    await stage.open_file(file)
    await person.click("Send 3 batches")
    await person.until_sees("All that is not here yet is with your account.")
    say(stage, "All that is not here yet is with your account.")
    await person.press(Qt.Key.Key_Q, CTRL)
    await asyncio.wait_for(stage.workspace.closed.wait(), PATIENCE)  # and nothing was asked


async def come_back(stage: Stage) -> None:
    await stage.person.until(lambda: [job.state for job in stage.program.ledger.jobs()] == [JobState.DONE])
    await stage.person.until_sees("Export…", "Finished")
    say(stage, "copies in your account")


async def take_over(stage: Stage, address: str, secret: str, file: Path) -> None:
    person = stage.person
    await connect(stage, address, secret, collects=False)
    await person.press(Qt.Key.Key_J, Qt.KeyboardModifier.AltModifier)
    await person.choose("In your account…")
    await person.until_row("Jobs in your account", "Harbour")
    await person.click("Take over…")
    await person.click("Choose the file…")
    await person.name_file(file)
    await person.until_sees("it is checked to fit")
    await person.click("Take over")
    await come_back(stage)


def say(stage: Stage, words: str) -> None:
    found = next((text for text in stage.person.seen() if words in text), "")
    sys.stdout.write(f"{found}\n")


async def main() -> None:
    root, address, file, wish = sys.argv[1:]
    environ = {name: text for name, text in os.environ.items() if name.startswith("CFBATCH_")}
    credentials = Credentials(keyring.backends.fail.Keyring(), environ)  # type: ignore[no-untyped-call]
    theme = Theme()
    theme.apply(app)
    secret = sys.stdin.readline().strip()
    async with opened(Path(root), theme, environ=environ, credentials=credentials) as stage:
        stage.person = Person(PATIENCE)
        if wish == "send":
            await send(stage, address, secret, Path(file))
        elif wish == "return":
            await come_back(stage)
        else:
            await take_over(stage, address, secret, Path(file))


if __name__ == "__main__":
    app = QApplication(sys.argv[:1])
    sys.exit(loop.run(app, main))
