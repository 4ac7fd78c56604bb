"""Run by test_desktop_notices.py beside a server of notifications: the whole window, without a tray.

Argument: data folder. Prints what a person would see, a line for each step.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.window import loop
from tests.journeys.keyring_window import say, until
from tests.screen.past import draft
from tests.screen.stage import Stage, opened

NAMES = ("Prices <b>&amp; terms</b>", "Second")


async def asked(*command: str) -> str:
    return await asyncio.to_thread(_run, command)


def _run(command: tuple[str, ...]) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=True).stdout.strip()


async def shown(count: int) -> None:
    """Wait until the desktop shows this many notices."""
    async with asyncio.timeout(240):
        while int(await asked("dunstctl", "count", "displayed")) != count:
            await asyncio.sleep(0.05)


async def send(stage: Stage, name: str) -> None:
    made = await draft(stage.program, name, resource("examples/help-centre-ranking.csv"), Kind.RANK)
    await stage.program.actions.send(made.id)
    await until(lambda: stage.state(name) is JobState.DONE, "the end of the job")


def opened_name(stage: Stage) -> str:
    job_id = stage.workspace.window.library.opened_job()
    return stage.program.ledger.job(job_id).name if job_id else ""


async def clicked(stage: Stage) -> None:
    """Two jobs end, one after the other; the first notice is closed, the second one clicked."""
    await send(stage, NAMES[0])
    await shown(1)
    say(f"tray: {QSystemTrayIcon.isSystemTrayAvailable()}", f"open: {opened_name(stage)}")
    await asked("dunstctl", "close-all")
    await shown(0)
    notice = json.loads(await asked("dunstctl", "history"))["data"][0][0]
    say(*(notice[part]["data"] for part in ("appname", "summary", "body")))
    await send(stage, NAMES[1])
    await shown(1)
    await asked("dunstctl", "action", "0")
    await until(lambda: opened_name(stage) == NAMES[1], "the job")
    say(f"open: {opened_name(stage)}")


async def main() -> None:
    theme = Theme()
    theme.apply(app)
    async with opened(Path(sys.argv[1]), theme) as stage:
        await until(lambda: not stage.workspace.tasks.is_running("desktop"), "the desktop")
        await clicked(stage)


if __name__ == "__main__":
    app = QApplication(sys.argv[:1])
    sys.exit(loop.run(app, main))
