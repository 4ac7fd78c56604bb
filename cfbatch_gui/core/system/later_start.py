"""A later start of the program: it gives its files to the window that is open for the same data folder.

It runs before anything that takes long is imported, so it and what it imports need the standard library only.
"""

import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress

from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.window_messages import Answer, Request, identity, noted_address

PATIENCE = 10.0  # seconds for the window that is open to answer; while it is being opened it takes nothing
_AGAIN = 0.05  # seconds between two attempts to connect while too many others wait for the window
_LINE = 100  # bytes, more than an answer has
# What the desktop calls this start by. Some set only the older variable, with the token of Wayland in it.
_ACTIVATION = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")


def hand_over(
    paths: Paths, files: tuple[str, ...], environ: Mapping[str, str], *, patience: float = PATIENCE
) -> Answer:
    """Ask the window that has this data folder open to come forward and to open `files`; blocks for up to `patience`.

    `files` are as `file_arguments.independent` gives them. The ledger's lock is not tried: taking it for a moment could
    turn away another process that starts. A window that has ended has left a note at most, and nobody answers there;
    the window of another data folder answers that it is not this one's.
    """
    address = noted_address(paths)
    if not address:
        return Answer.NOBODY
    activation = next((environ[name] for name in _ACTIVATION if environ.get(name)), "")
    line = _answer(address, Request(identity(paths), files, activation).encoded(), patience)
    if line is None:
        return Answer.SILENT
    return Answer.TAKEN if line.strip() == Answer.TAKEN.encode() else Answer.NOBODY


if sys.platform == "win32":
    import threading

    def _answer(address: str, request: bytes, patience: float) -> bytes | None:
        """The window's line, b"" when nobody is there any more; None when it does not come in time.

        A pipe has no time limit, so a thread that may be left behind waits for it. Not tried on Windows.
        """
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
        return found[0] if found else None
else:
    from cfbatch_gui.core.system.peers import is_peer_ours

    def _answer(address: str, request: bytes, patience: float) -> bytes | None:
        """The window's line, b"" when nobody is there any more; None when it does not come in time.

        Nothing is said to a process of another user.
        """
        deadline = time.monotonic() + patience
        with socket.socket(socket.AF_UNIX) as window:
            try:
                if not _connect(window, address, deadline):
                    return None
                if not is_peer_ours(window.fileno()):
                    return b""
                window.settimeout(_left(deadline))
                with suppress(BrokenPipeError):  # it was not heard to its end; there may be an answer all the same
                    window.sendall(request)
                line = b""
                while not line.endswith(b"\n") and len(line) < _LINE:
                    window.settimeout(_left(deadline))
                    if not (more := window.recv(_LINE)):
                        return b""  # it was being closed, or did not understand
                    line += more
            except TimeoutError:
                return None
            except OSError:
                return b""
        return line

    def _connect(window: socket.socket, address: str, deadline: float) -> bool:
        """Whether the window's socket was reached in time. Raises OSError where there is none."""
        while True:
            window.settimeout(_left(deadline))
            try:
                window.connect(address)
            except BlockingIOError:  # as many wait as the system lets wait
                if time.monotonic() + _AGAIN > deadline:
                    return False
                time.sleep(_AGAIN)
            else:
                return True

    def _left(deadline: float) -> float:
        return max(deadline - time.monotonic(), 0.001)
