"""A later start gives its files to the window that is open for the data folder, before anything slow is imported."""

import hashlib
import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from cfbatch_gui.core.system.paths import Paths

PATIENCE = 10.0  # seconds for the window that is open to answer; while it is being opened it takes nothing
_LINE = 100  # bytes, more than an answer has
# Of the 108 bytes that a socket's path has on Linux, 104 elsewhere; Qt makes the socket in a temporary folder beside
# its place first, which takes some more.
_LONGEST_ADDRESS = 90
# What the desktop calls this start by. Some set only the older variable, with the token of Wayland in it.
_ACTIVATION = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")


class Answer(StrEnum):
    """What became of the files that were to be opened in the window that is open."""

    TAKEN = "taken"
    NOBODY = "nobody"  # no window of this user listens for this data folder
    SILENT = "silent"  # one does, and has not answered that it took the files


@dataclass(frozen=True, slots=True)
class Request:
    """Come to the front and open these files; `activation` is the desktop's token, "" for none."""

    files: tuple[str, ...] = ()
    activation: str = ""

    def encoded(self) -> bytes:
        return json.dumps({"files": self.files, "activation": self.activation}).encode() + b"\n"

    @classmethod
    def decoded(cls, line: bytes) -> "Request":
        """Read such a line. Raises ValueError for any other."""
        match json.loads(line):
            case {"files": list(files), "activation": str(activation)} if all(isinstance(file, str) for file in files):
                return cls(tuple(files), activation)
        raise ValueError("not a request")


def addresses(paths: Paths, environ: Mapping[str, str]) -> Iterator[str]:
    """Where a window of this folder may listen: a socket in it, else in the user's runtime folder."""
    root = paths.root.resolve()
    name = f"cfbatch-{hashlib.sha256(os.fsencode(root)).hexdigest()[:20]}"
    if sys.platform == "win32":
        yield rf"\\.\pipe\{name}"
        return
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    for address in (str(root / paths.window_socket.name), *([f"{runtime}/{name}"] if runtime.startswith("/") else [])):
        if len(os.fsencode(address)) <= _LONGEST_ADDRESS:
            yield address


def hand_over(
    paths: Paths, files: tuple[str, ...], environ: Mapping[str, str], *, patience: float = PATIENCE
) -> Answer:
    """Ask the open window to open `files`; blocks up to `patience`. The ledger's lock is not tried."""
    activation = next((environ[name] for name in _ACTIVATION if environ.get(name)), "")
    request = Request(files, activation).encoded()
    answers = (_answer(address, request, patience) for address in addresses(paths, environ))
    return next((answer for answer in answers if answer is not Answer.NOBODY), Answer.NOBODY)


if sys.platform == "win32":
    import threading

    def _answer(address: str, request: bytes, patience: float) -> Answer:
        """A pipe has no time limit, so a thread that may be left behind waits for it. Not tried on Windows."""
        found: list[bytes] = []

        def ask() -> None:
            try:
                with open(address, "r+b", buffering=0) as pipe:  # noqa: PTH123 - no path of a file
                    pipe.write(request)
                    found.append(pipe.readline(_LINE))
            except OSError:
                found.append(b"")

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(patience)
        return _understood(found[0]) if found else Answer.SILENT
else:

    def _answer(address: str, request: bytes, patience: float) -> Answer:
        try:
            if os.lstat(address).st_uid != os.geteuid():  # somebody else's, who shall not hear the names of files
                return Answer.NOBODY
            with socket.socket(socket.AF_UNIX) as window:
                window.settimeout(patience)
                window.connect(address)
                window.sendall(request)
                return _understood(window.makefile("rb").readline(_LINE))
        except (TimeoutError, BlockingIOError):  # it is busy; or as many wait for it as the system lets wait
            return Answer.SILENT
        except OSError:  # left behind by a window that has ended
            return Answer.NOBODY


def _understood(line: bytes) -> Answer:
    """An empty line is from a window that was being closed."""
    return Answer.TAKEN if line.strip() == Answer.TAKEN.encode() else Answer.NOBODY
