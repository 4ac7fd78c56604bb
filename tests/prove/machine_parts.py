"""What the state machine is made of: the faults of the service, a disk that can be full, copies of
the data folder, and the story of a run."""

import resource
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, TypeVar

from cfbatch_gui.core.practice.app import Application
from tests.support import faults
from tests.support.faults import Fault

T = TypeVar("T")
P = ParamSpec("P")
LATE = 0.3  # seconds of real time

FAULTS: dict[str, Fault] = {
    "nobody listens": faults.refuse(),
    "the body is cut": faults.reset_in_body(on="submit", byte=40),
    "accepted, no answer": faults.reset_after_body(on="submit", billed=True),
    "not accepted, no answer": faults.reset_after_body(on="submit"),
    "accepted, half an answer": faults.reset_in_reply(on="submit", billed=True),
    "accepted, garbage": faults.garbage(on="submit", billed=True),
    "accepted, a page": faults.page(on="submit", billed=True),
    "accepted, a late answer": faults.stall(on="submit", seconds=LATE, billed=True),
    "busy": faults.refusal(on="submit", status=429, code=3040, retry_after="70"),
    "refused": faults.refusal(on="submit", status=400, code=5006, message="bad input"),
    "token refused": faults.refusal(status=401, code=10000, message="Authentication error"),
    "asked too often": faults.block(seconds=300.0),
    "a question without an answer": faults.reset_after_body(on="poll", times=2),
    "a page for a question": faults.page(on="poll", times=2),
    "a server error for a question": faults.refusal(on="poll", status=500, code=5001),
    "an answer cut in the middle": faults.reset_in_reply(on="poll", byte=500, billed=True),
}


class Disk:
    """A full disk, simulated for this process by a resource limit. It does not apply to the service's files."""

    def __init__(self) -> None:
        self.is_full = False
        self._in_use = self._lifted = 0
        self._guard = threading.Lock()
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Apply the limit within the block, if the disk is full. Outside of it the test itself can write."""
        with self._changed(in_use=1):
            yield

    def lifted_for(self, application: Application) -> Application:
        """The application without the limit during its requests."""

        async def with_room(*arguments: Any) -> None:
            with self._changed(lifted=1):
                await application(*arguments)

        return with_room

    @contextmanager
    def _changed(self, *, in_use: int = 0, lifted: int = 0) -> Iterator[None]:
        self._change(in_use, lifted)
        try:
            yield
        finally:
            self._change(-in_use, -lifted)

    def _change(self, in_use: int, lifted: int) -> None:
        with self._guard:
            self._in_use += in_use
            self._lifted += lifted
            stands = self.is_full and self._in_use and not self._lifted
            resource.setrlimit(resource.RLIMIT_FSIZE, (0 if stands else self._before[0], self._before[1]))


class Folders:
    """The data folder with its copies. Each method gets the one in use and returns the one to go on with."""

    def __init__(self, parent: Path) -> None:
        self._parent, self._count = parent, 0
        self.others: list[Path] = []  # copies that are not in use
        self.backup: Path | None = None

    def moved(self, root: Path) -> Path:
        """The folder gets another name."""
        return root.rename(self._new())

    def copied(self, root: Path, *, goes_on_with_copy: bool) -> Path:
        """A copy is made, which is to be used from now on or later."""
        copy = Path(shutil.copytree(root, self._new()))
        kept, used = (root, copy) if goes_on_with_copy else (copy, root)
        self.others.append(kept)
        return used

    def other(self, root: Path) -> Path:
        """Another copy, in place of this one."""
        self.others.append(root)
        return self.others.pop(0)

    def backed_up(self, root: Path) -> Path:
        """A copy is made that is never used itself."""
        self.backup = Path(shutil.copytree(root, self._new()))
        return root

    def put_back(self, root: Path, *, what: str) -> Path:
        """The backup, or its ledger alone or with the request ids, takes the place of what is there."""
        assert self.backup is not None
        if what == "whole folder":
            shutil.rmtree(root)
            shutil.copytree(self.backup, root)
            return root
        for name in ("ledger.db", "submissions.jsonl")[: 1 + (what != "ledger")]:
            if (self.backup / name).exists():
                shutil.copyfile(self.backup / name, root / name)
        return root

    def _new(self) -> Path:
        self._count += 1
        return self._parent / f"data {self._count}"


class BrokenPromise(AssertionError):
    """The finding and the actions that led to it. `first` is the first one of a test."""

    first: ClassVar["BrokenPromise | None"] = None

    def __init__(self, words: str) -> None:
        super().__init__(words)
        BrokenPromise.first = BrokenPromise.first or self


def told(act: Callable[P, T]) -> Callable[P, T]:
    """A decorator that also records the rule's call in the machine's `story`."""

    @wraps(act)
    def telling(*arguments: P.args, **drawn: P.kwargs) -> T:
        machine: Any = arguments[0]
        words = ", ".join(f"{name}={value!r}" for name, value in drawn.items())
        machine.story.append(f"{act.__name__}({words})")
        return act(*arguments, **drawn)

    return telling
