"""What a later start of the program says to the window that is open for the same data folder, and where.

A request is one line of JSON, and so is short work for either side; the answer is one word. What an older version asks
or answers is not understood, which either side takes for nobody being there: the user is told that the program is open.
"""

import hashlib
import json
import os
import stat
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.peers import is_private_socket

# Of the 108 bytes that a socket's path has on Linux, 104 elsewhere; Qt makes the socket in a temporary folder beside
# its place first, which takes some more.
LONGEST_ADDRESS = 90
# Bytes of a request. A command line has at most 2 MiB on Linux, and JSON takes up to six bytes for one of them.
LONGEST_REQUEST = 16 * 1024 * 1024


class Answer(StrEnum):
    """What became of the files that were to be opened in the window that is open."""

    TAKEN = "taken"
    NOBODY = "nobody"  # no window of this user listens for this data folder
    SILENT = "silent"  # one does, and has not answered that it took the files


@dataclass(frozen=True, slots=True)
class Request:
    """Come to the front, and open these files in new jobs.

    `root` is the data folder as `identity` names it. `files` are as `file_arguments.independent` gives them.
    `activation` is the token by which the desktop lets the window come to the front, "" when there is none.
    """

    root: str
    files: tuple[str, ...] = ()
    activation: str = ""

    def encoded(self) -> bytes:
        """The line that is sent."""
        asked = {"root": self.root, "files": self.files, "activation": self.activation}
        return json.dumps(asked).encode() + b"\n"

    @classmethod
    def decoded(cls, line: bytes) -> "Request":
        """Read such a line. Raises ValueError for any other."""
        asked = json.loads(line)
        if not isinstance(asked, dict):
            raise ValueError("not a request")  # noqa: TRY004 - of a line that is no request, whatever it is
        match asked:
            case {"root": str(root), "files": list(files), "activation": str(activation)} if all(
                isinstance(file, str) for file in files
            ):
                return cls(root, tuple(files), activation)
        raise ValueError("not a request of this version")


def identity(paths: Paths) -> str:
    """The data folder by the one name that both processes find for it."""
    return str(paths.root.resolve())


def pipe_name(paths: Paths) -> str:
    """A name for the socket or the pipe of this data folder's window."""
    return f"cfbatch-{hashlib.sha256(identity(paths).encode(errors='surrogateescape')).hexdigest()[:20]}"


def noted_address(paths: Paths) -> str:
    """The socket that the open window has noted, if it is one that only this user can have made; else "".

    On Windows it is a pipe, whose name needs no note.
    """
    if sys.platform == "win32":
        return rf"\\.\pipe\{pipe_name(paths)}"
    try:
        descriptor = os.open(paths.window_address, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as note:  # noqa: PTH123 - of a descriptor
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
                return ""
            address = Path(os.fsdecode(note.read(LONGEST_ADDRESS)))
    except (OSError, ValueError):
        return ""
    return str(address) if address.is_absolute() and is_private_socket(address) else ""
