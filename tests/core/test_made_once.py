"""Attributes that are made at their first use, also when threads ask for them at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor

from cfbatch_gui.core.system.made_once import made_once


class Parts:
    def __init__(self) -> None:
        self.made: list[str] = []
        self.begun, self.may_end = threading.Event(), threading.Event()

    @made_once
    def slow(self) -> object:
        """Takes until it may end."""
        self.made.append("slow")
        self.begun.set()
        assert self.may_end.wait(30)
        return object()


def test_threads_that_ask_together_get_one_object() -> None:
    parts = Parts()
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(lambda: parts.slow) for _ in range(4)]
        assert parts.begun.wait(30)
        parts.may_end.set()
        assert len({id(each.result()) for each in asked}) == 1
    assert parts.made == ["slow"]
