"""Run by test_connection_keyring.py, once for each start of the program, beside a Secret Service.

Arguments: data folder, address of the service, what to do ("save" or "remove"). The token comes on stdin.
Prints what a person would read.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system import logs
from cfbatch_gui.ui.connections.connection_page import ConnectionPage
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.window import loop

ACCOUNT = "0123456789abcdef0123456789abcdef"
LEFT = Qt.MouseButton.LeftButton


async def until(predicate: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not predicate():
            await asyncio.sleep(0.01)


async def save(page: ConnectionPage) -> None:
    card = page.cloudflare
    QTest.keyClicks(card.account, ACCOUNT)
    QTest.keyClicks(card.token_block.field, sys.stdin.readline().strip())
    QTest.mouseClick(card.save_button, LEFT)
    await until(lambda: not page.tasks.is_running("account"))


async def test_and_remove(page: ConnectionPage) -> None:
    card = page.cloudflare
    QTest.mouseClick(card.test_button, LEFT)
    await until(lambda: not page.tasks.is_running("account"))
    say(page)
    QTest.mouseClick(card.token_block.remove, LEFT)
    await until(lambda: page.findChild(QMessageBox))
    box = page.findChild(QMessageBox)
    assert isinstance(box, QMessageBox)
    QTest.mouseClick(next(button for button in box.buttons() if button.text() == "Remove"), LEFT)
    await until(lambda: not page.tasks.is_running("account"))


def say(page: ConnectionPage) -> None:
    block = page.cloudflare.token_block
    where = "a field for a token" if block.takes_text() else block.where()
    sys.stdout.write(" | ".join((where, *(row.state() for row in page.cloudflare.checks.rows))) + "\n")


async def main() -> None:
    folder, address, wish = sys.argv[1:]
    program = await Program.open(Path(folder), environ={"CLOUDFLARE_API_BASE_URL": address})
    logs.set_up(program.paths)
    page = ConnectionPage(program, Notices())
    page.show()
    await until(lambda: not page.tasks.is_running("refresh"))
    say(page)
    await (save(page) if wish == "save" else test_and_remove(page))
    say(page)
    await page.tasks.close()
    await program.close()


if __name__ == "__main__":
    app = QApplication(sys.argv[:1])
    Theme().apply(app)
    loop.run(app, main)
