"""Run by test_desktop_services.py beside a Secret Service or a server of notices: the whole window, without a tray.

Arguments: data folder, address of the service, and what to do. Prints what a person would read, a line for each step.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import secretstorage
from jeepney import message_bus
from jeepney.io.blocking import Proxy, open_dbus_connection
from PySide6.QtWidgets import QApplication, QSystemTrayIcon
from secretstorage.collection import DEFAULT_COLLECTION
from secretstorage.defines import SS_PATH
from secretstorage.util import DBusAddressWrapper, format_secret, open_session

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.system import logs
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.window import loop
from tests.journeys.terminal import ACCOUNT, EXAMPLE
from tests.screen.past import draft
from tests.screen.stage import Stage, opened
from tests.support.clients import save_cloudflare
from tests.support.sentences import code_of

NAME = "Questions"
NOTICED = ("Prices <b>&amp; terms</b>", "Second")
PASSWORD = b"test"  # of the keyring
LONG = 60.0  # seconds that an answer of the keyring is waited for; where it is to be late, half a second


def say(*words: str) -> None:
    sys.stdout.write(" | ".join(words) + "\n")
    sys.stdout.flush()


async def until(predicate: Callable[[], object], what: str) -> None:
    try:
        async with asyncio.timeout(240):
            while not predicate():
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise SystemExit(f"what was waited for did not come: {what}") from None


def foot(stage: Stage) -> str:
    shown = stage.workspace.window.library.foot
    return f"{shown.detail()}{' · Unlock' if shown.unlock.isVisible() else ''}"


def unlock_elsewhere() -> None:
    """As the desktop does it at a login; the program is not told."""
    with closing(secretstorage.dbus_init()) as bus:
        secret = format_secret(open_session(bus), PASSWORD, "text/plain")
        inside = DBusAddressWrapper(SS_PATH, "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", bus)
        inside.call("UnlockWithMasterPassword", "o(oayays)", DEFAULT_COLLECTION, secret)


def wait_for_service() -> None:
    """Until the Secret Service is there: a call before that would start a second one."""
    with open_dbus_connection("SESSION") as connection:
        while not Proxy(message_bus, connection).NameHasOwner("org.freedesktop.secrets")[0]:
            time.sleep(0.02)


async def prepare(stage: Stage) -> None:
    """The keyring is open: connect the account, and make a draft for it."""
    await save_cloudflare(stage.program, ACCOUNT, sys.stdin.readline().strip())
    await stage.program.keep_settings(connection="cloudflare")
    await draft(stage.program, NAME, EXAMPLE, Kind.RANK, "cloudflare")
    say("kept in the " + str(await stage.program.credentials.token_source("cloudflare")))


async def send(stage: Stage) -> None:
    stage.workspace.open_job(stage.job(NAME).id)
    await stage.person.click("Send 1 batch")


def paused_because(stage: Stage) -> str:
    return stage.job(NAME).paused_because


async def locked(stage: Stage) -> None:
    """Nobody can answer the prompt: there is no display for it, which the Secret Service takes for a refusal."""
    await until(lambda: "locked" in foot(stage), "the foot")
    say(foot(stage), f"a page: {stage.workspace.window.pages.currentWidget() is not None}")
    await send(stage)
    await until(lambda: paused_because(stage), "a refusal")
    say(code_of(paused_because(stage)))
    await stage.person.until_sees("Unlock", "Carry on")
    state = stage.program.credentials.state
    stage.workspace.window.library.foot.unlock.click()
    await until(lambda: not stage.workspace.tasks.is_running("unlock"), "an answer to the second prompt")
    say(f"{state}, asked again: {stage.program.credentials.state}")
    await asyncio.to_thread(unlock_elsewhere)
    await finished(stage)


async def finished(stage: Stage) -> None:
    await until(lambda: stage.state(NAME) is JobState.DONE, "the end of the job")
    await until(lambda: "sent there" in foot(stage), "the foot afterwards")
    say(str(stage.state(NAME)), foot(stage))


async def asked(*command: str) -> str:
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=240, check=True)
    return done.stdout.strip()


async def shown(count: int) -> None:
    """Wait until the desktop shows this many notices."""
    async with asyncio.timeout(240):
        while int(await asked("dunstctl", "count", "displayed")) != count:
            await asyncio.sleep(0.05)


def opened_name(stage: Stage) -> str:
    job_id = stage.workspace.window.library.opened_job()
    return stage.program.ledger.job(job_id).name if job_id else ""


async def noticed(stage: Stage) -> None:
    """Two jobs end, one after the other; the first notice is closed, the second one clicked."""
    await until(lambda: stage.workspace.announcements.bus.connection, "the desktop")
    for name in NOTICED:
        made = await draft(stage.program, name, EXAMPLE, Kind.RANK)
        await stage.program.actions.send(made.id)
        await shown(1)
        if name == NOTICED[0]:
            say(f"tray: {QSystemTrayIcon.isSystemTrayAvailable()}", f"open: {opened_name(stage)}")
            await asked("dunstctl", "close-all")
            await shown(0)
            notice = json.loads(await asked("dunstctl", "history"))["data"][0][0]
            say(*(notice[part]["data"] for part in ("appname", "summary", "body")))
    await asked("dunstctl", "action", "0")
    await until(lambda: opened_name(stage) == NOTICED[1], "the job")
    say(f"open: {opened_name(stage)}")


JOURNEYS = {each.__name__: each for each in (prepare, locked, noticed)}


async def main() -> None:
    root, url, journey = sys.argv[1:]
    theme = Theme()
    theme.apply(app)
    if journey in ("prepare", "locked"):
        wait_for_service()
    environ = {"CLOUDFLARE_API_BASE_URL": url}
    credentials = Credentials(environ=environ, time_limit=0.5 if journey == "locked" else LONG)
    async with opened(Path(root), theme, environ=environ, credentials=credentials) as stage:
        logs.set_up(stage.program.paths)
        await JOURNEYS[journey](stage)


if __name__ == "__main__":
    app = QApplication(sys.argv[:1])
    sys.exit(loop.run(app, main))
