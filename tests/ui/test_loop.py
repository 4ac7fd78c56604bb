"""The properties that the window’s loop has and qasync’s has not, and the tasks of a page on it."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from cfbatch_gui import __version__
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.window.app import CrashHandler
from cfbatch_gui.ui.window.loop import EventLoop
from tests.ui.connections import until


async def test_a_timer_is_never_early() -> None:
    loop = asyncio.get_running_loop()
    early: list[float] = []
    waits = [0.0, 0.0004, 0.001, 0.0033, 0.01, 0.0301, 0.0777, 0.25]

    async def wait(seconds: float) -> None:
        due, fired = loop.time() + seconds, loop.create_future()
        loop.call_later(seconds, fired.set_result, None)
        await fired
        if loop.time() < due:
            early.append(seconds)

    await asyncio.gather(*(wait(seconds) for seconds in waits * 5))
    assert early == []


async def test_cancelling_after_firing_harms_nobody_who_got_the_same_number() -> None:
    loop = asyncio.get_running_loop()
    fired: list[str] = []
    first = loop.call_later(0, fired.append, "first")
    await until(lambda: fired == ["first"])
    others = [loop.call_later(0.05, fired.append, "other") for _ in range(20)]
    first.cancel()
    await until(lambda: fired == ["first"] + ["other"] * len(others))


async def test_a_wait_longer_than_qt_can_count_is_not_cut() -> None:
    handle = asyncio.get_running_loop().call_later(10**9, lambda: None)
    assert not handle.cancelled()
    handle.cancel()


def test_nothing_goes_on_while_the_loop_does_not_run(qapp: QApplication) -> None:
    """Between two runs, as at the program's end, Qt may still handle events."""
    loop = EventLoop(qapp)
    steps: list[str] = []

    async def work() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        steps.append(f"{asyncio.get_running_loop() is loop}")

    async def begin() -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work())

    async def end(task: asyncio.Task[None]) -> None:
        await task

    try:
        task = loop.run_until_complete(begin())
        for _ in range(10):
            qapp.processEvents()
        assert steps == []
        assert not task.done()
        loop.run_until_complete(end(task))
        assert steps == ["True"]
    finally:
        loop.close()


HANGING = """
import asyncio, sys, time, threading
from PySide6.QtWidgets import QApplication
from cfbatch_gui.ui.window import loop
app = QApplication(sys.argv)
async def main():
    begun, forever, running = asyncio.Event(), threading.Event(), asyncio.get_running_loop()
    def hang():
        running.call_soon_threadsafe(begun.set)
        forever.wait()
    hanging = [asyncio.create_task(asyncio.to_thread(hang)) for _ in range(12)]
    await begun.wait()
    print("bye", flush=True)
loop.run(app, main)
"""

STOPPED = """
import asyncio, os, signal, sys, threading
from PySide6.QtWidgets import QApplication
from cfbatch_gui.ui.window import loop
app = QApplication(sys.argv)
async def main():
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        await asyncio.Event().wait()
    finally:
        print("tidied", flush=True)
try:
    loop.run(app, main)
except KeyboardInterrupt:
    pass
"""


def test_a_thread_that_hangs_does_not_keep_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", HANGING], stdout=subprocess.PIPE, timeout=240, check=False)
    assert (done.stdout, done.returncode) == (b"bye\n", 0)  # its threads would hang for good


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_ends_an_idle_window_in_order() -> None:
    done = subprocess.run([sys.executable, "-c", STOPPED], stdout=subprocess.PIPE, timeout=240, check=False)
    assert done.stdout == b"tidied\n"


@pytest.fixture
def errors() -> list[UserError]:
    return []


@pytest.fixture
def owner(qtbot: Any) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def tasks(owner: QWidget, errors: list[UserError]) -> Tasks:
    return Tasks(owner, errors.append)


async def test_the_same_name_replaces_and_waits_for_the_old_one(tasks: Tasks) -> None:
    seen: list[str] = []
    begun = asyncio.Event()

    async def work(name: str) -> None:
        seen.append(f"{name} begins")
        begun.set()
        try:
            if name == "first":
                await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            seen.append(f"{name} ends")

    tasks.start("send", work("first"))
    await begun.wait()
    await tasks.start("send", work("second"))
    assert seen == ["first begins", "first ends", "second begins", "second ends"]
    assert not tasks.is_running("send")


async def test_a_replaced_one_that_never_began_is_closed(tasks: Tasks) -> None:
    seen: list[int] = []

    async def work(number: int) -> None:
        seen.append(number)

    tasks.start("look", work(1))
    tasks.start("look", work(2))
    await tasks.start("look", work(3))
    assert seen == [3]


async def test_work_after_its_last_step_is_not_under_way(tasks: Tasks) -> None:
    """A caller that asks between that step and the task's end may start new work, which this task would not do."""
    seen: list[tuple[bool, tuple[str, ...]]] = []

    async def work() -> None:
        asyncio.get_running_loop().call_soon(lambda: seen.append((tasks.is_running("read"), tasks.running())))

    await tasks.start("read", work())
    assert seen == [(False, ("read",))]
    await asyncio.sleep(0)
    assert tasks.running() == ()


async def test_an_expected_failure_is_reported_a_cancel_is_not(tasks: Tasks, errors: list[UserError]) -> None:
    async def fail() -> None:
        raise UserError("No space left.")

    await asyncio.wait({tasks.start("fail", fail())})
    tasks.start("wait", asyncio.Event().wait())
    tasks.cancel("wait")
    await tasks.close()
    assert [error.message for error in errors] == ["No space left."]


async def test_a_bug_goes_to_the_crash_handler(tasks: Tasks, errors: list[UserError]) -> None:
    crashes: list[str] = []
    handler = CrashHandler()
    handler.crashed.connect(crashes.append)
    asyncio.get_running_loop().set_exception_handler(handler.loop_handler)

    async def fail() -> None:
        raise ZeroDivisionError("bug")

    await asyncio.wait({tasks.start("fail", fail())})
    await asyncio.sleep(0)
    asyncio.get_running_loop().set_exception_handler(None)
    assert errors == []
    assert len(crashes) == 1
    assert f"CF Batch {__version__}" in crashes[0] and "ZeroDivisionError: bug" in crashes[0]


async def test_closing_waits_for_the_tidying_up(tasks: Tasks) -> None:
    tidied = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.to_thread(tuple)  # it takes a while
            tidied.set()

    tasks.start("one", work())
    tasks.start("two", asyncio.Event().wait())
    await asyncio.sleep(0)
    await tasks.close()
    assert tidied.is_set()


async def test_nothing_begins_after_the_close(tasks: Tasks) -> None:
    begun: list[str] = []

    async def work() -> None:
        begun.append("late")

    await tasks.close()
    assert tasks.start("late", work()).cancelled()
    await asyncio.sleep(0)
    assert begun == []


async def test_the_owners_end_cancels(errors: list[UserError]) -> None:
    owner = QWidget()
    tasks = Tasks(owner, errors.append)
    task = tasks.start("wait", asyncio.Event().wait())
    await asyncio.sleep(0)
    owner.deleteLater()
    await asyncio.wait({task}, timeout=5)
    assert task.cancelled()
