"""What tells a data folder from its copies: an id, its place and its openings, kept in it and outside of it."""

import secrets
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from cfbatch_gui.core.system.files import write_own_file

_MACHINE_ID = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_PURPOSE = "cfbatch data folder "  # the machine's id itself is not to be written anywhere, by its documentation


class Place(msgspec.Struct, frozen=True):
    """Where a data folder is. `machine` identifies this computer, "" when it has no id."""

    path: str
    machine: str


class Identity(msgspec.Struct, frozen=True):
    """A data folder's own. `generation` counts the times that it was opened for writing."""

    id: str
    place: Place
    generation: int


def new_id() -> str:
    """A random id for a folder."""
    return secrets.token_hex(8)


def place_of(root: Path) -> Place:
    """Where a folder is now, on this computer."""
    return Place(str(root.resolve()), machine())


def machine() -> str:
    """An id of this computer, made of the system's own, which does not change between starts; "" without one."""
    found = ""
    if sys.platform == "win32":
        import winreg

        with suppress(OSError), winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography") as key:
            found = str(winreg.QueryValueEx(key, "MachineGuid")[0])
    else:
        for path in _MACHINE_ID:
            with suppress(OSError, ValueError):
                found = found or path.read_text(encoding="ascii").strip()
    return sha256((_PURPOSE + found).encode()).hexdigest()[:16] if found else ""


def read_identity(path: Path) -> Identity | None:
    """What a file holds; None when there is none, or none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Identity)
    except (OSError, ValueError, RecursionError):
        return None


def write_identity(path: Path, identity: Identity) -> None:
    """Write a file durably; its folder is created. Raises DiskFull and DataError."""
    write_own_file(path, msgspec.json.encode(identity))
