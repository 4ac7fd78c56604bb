import asyncio
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.window.app import CrashHandler


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
    handler = CrashHandler("1.2.3")
    handler.crashed.connect(crashes.append)
    asyncio.get_running_loop().set_exception_handler(handler.loop_handler)

    async def fail() -> None:
        raise ZeroDivisionError("bug")

    await asyncio.wait({tasks.start("fail", fail())})
    await asyncio.sleep(0)
    asyncio.get_running_loop().set_exception_handler(None)
    assert errors == []
    assert len(crashes) == 1
    assert "CF Batch 1.2.3" in crashes[0] and "ZeroDivisionError: bug" in crashes[0]


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
