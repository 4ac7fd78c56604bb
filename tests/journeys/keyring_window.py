"""Run by test_keyring_states.py beside a Secret Service: the whole window while the keyring is locked, slow or refused.

Arguments: data folder, address of the service, and what to do. Prints what a person would read, a line for each step.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import secretstorage
from jeepney import message_bus
from jeepney.io.blocking import Proxy, open_dbus_connection
from PySide6.QtWidgets import QApplication
from secretstorage.collection import DEFAULT_COLLECTION
from secretstorage.defines import SS_PATH
from secretstorage.util import DBusAddressWrapper, format_secret, open_session

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.system import logs
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.window import loop
from tests.screen.past import draft
from tests.screen.stage import Stage, opened

ACCOUNT = "0123456789abcdef0123456789abcdef"
NAME = "Questions"
PASSWORD = b"test"  # of the keyring
# Seconds that an answer of the keyring is waited for: where it is to be late, where the wait is seen, and elsewhere
WAITS = {"locked": 0.5, "prompted": 0.5, "slow": 5.0}
LONG = 60.0


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


@asynccontextmanager
async def window(theme: Theme) -> AsyncIterator[Stage]:
    environ = {"CLOUDFLARE_API_BASE_URL": sys.argv[2]}
    credentials = Credentials(environ=environ, time_limit=WAITS.get(sys.argv[3], LONG))
    async with opened(Path(sys.argv[1]), theme, environ=environ, credentials=credentials) as stage:
        logs.set_up(stage.program.paths)
        yield stage


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
    await stage.program.connections.save_cloudflare(ACCOUNT, sys.stdin.readline().strip())
    await stage.program.keep_settings(connection="cloudflare")
    await draft(stage.program, NAME, resource("examples/help-centre-ranking.csv"), Kind.RANK, "cloudflare")
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
    await until(lambda: "was not unlocked" in paused_because(stage), "a refusal")
    say(paused_because(stage))
    await stage.person.until_sees("Unlock", "Carry on")
    state = stage.program.credentials.state
    stage.workspace.window.library.foot.unlock.click()
    await until(lambda: not stage.workspace.tasks.is_running("unlock"), "an answer to the second prompt")
    say(f"{state}, asked again: {stage.program.credentials.state}")
    await asyncio.to_thread(unlock_elsewhere)
    await finished(stage)


async def slow(stage: Stage) -> None:
    await until(lambda: "Checking" in foot(stage), "the foot")
    say(foot(stage), f"a page: {stage.workspace.window.pages.currentWidget() is not None}")
    stage.workspace.settings.show_connections()
    await stage.person.until_sees("New jobs use Cloudflare", ACCOUNT)
    say("settings", "checking: " + str(stage.person.sees("Checking the keyring…")))
    await until(lambda: "does not answer" in foot(stage), "the foot")
    await send(stage)
    await until(lambda: paused_because(stage), "a pause")
    say(foot(stage), paused_because(stage))
    os.kill(int(os.environ["KEYRING_PID"]), signal.SIGCONT)
    await finished(stage)


async def absent(stage: Stage) -> None:
    await stage.person.until_sees("Cloudflare: The API token is missing.")
    say(foot(stage))
    await stage.person.click("Open connection")
    await stage.person.type("API token", sys.stdin.readline().strip())
    await stage.person.click("Save and test")
    await until(lambda: "sent there" in foot(stage), "the foot")
    say("kept in the " + str(await stage.program.credentials.token_source("cloudflare")))
    await send(stage)
    await finished(stage)


async def finished(stage: Stage) -> None:
    await until(lambda: stage.state(NAME) is JobState.DONE, "the end of the job")
    await until(lambda: "sent there" in foot(stage), "the foot afterwards")
    say(str(stage.state(NAME)), foot(stage))


JOURNEYS = {each.__name__: each for each in (prepare, locked, slow, absent)}


async def main() -> None:
    theme = Theme()
    theme.apply(app)
    if sys.argv[3] != "absent":
        wait_for_service()
    async with window(theme) as stage:
        await JOURNEYS[sys.argv[3]](stage)


if __name__ == "__main__":
    app = QApplication(sys.argv[:1])
    sys.exit(loop.run(app, main))
