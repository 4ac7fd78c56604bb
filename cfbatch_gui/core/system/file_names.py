"""Names of files: for any system, whatever a job or a book is called; and as they stand on a command line.

Source: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
"""

import os
import re
import sys
import unicodedata
from pathlib import Path
from typing import Final

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.messages import message

LONGEST_STEM: Final = 80  # characters; Windows counts 260 with the folders
_FORBIDDEN: Final = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
# Names of devices, in any folder and before any suffix; the superscript digits count as digits there.
_DEVICE: Final = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³])(?= *(\.|$))", re.IGNORECASE)


def file_stem(name: str, fallback: str = "") -> str:
    """What can stand before a suffix: no sign that a system forbids, no blank or dot at its ends, no device.

    In composed form, as macOS may give decomposed names, and as long as `LONGEST_STEM` at most. `fallback` stands for a
    name of which nothing is left.
    """
    kept = _FORBIDDEN.sub("-", unicodedata.normalize("NFC", name)).strip(" .")
    kept = kept[:LONGEST_STEM].strip(" .") or fallback
    return _DEVICE.sub(r"\1_", kept, count=1) if _DEVICE.match(kept) else kept


def file_name(name: str) -> str:
    """A whole name, of which the part behind its last dot stays the suffix."""
    stem, dot, suffix = name.rpartition(".")
    if not stem or not re.fullmatch(r"\w{1,10}", suffix):
        return file_stem(name)
    return f"{file_stem(stem, '_')}{dot}{suffix}"


_SCHEME = "file:"


def independent(argument: str) -> str:
    """The argument so that a process with another working folder understands it: an absolute path.

    Addresses stay as they are, also those that name no file of this computer: `path_of` says so where it can be shown.
    No absolute path begins like an address, so nothing is taken for one that was none, and nothing is decoded twice.
    """
    if _is_address(argument):
        return argument
    try:
        return str(Path(argument).absolute())
    except FileNotFoundError:  # the working folder was deleted, and so was what is named from there
        return argument


def path_of(argument: str) -> Path:
    """The file that an independent argument names. Raises InputError for an address that names none of this computer.

    Bytes of an address that are no UTF-8 stay what they are, as in every path.
    """
    if not _is_address(argument):
        return Path(argument)
    from urllib.parse import unquote_to_bytes  # takes a while to import, and is seldom needed

    rest = argument[len(_SCHEME) :]
    host, path = "", rest
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        path = slash + path
    name = os.fsdecode(unquote_to_bytes(os.fsencode(path)))
    if sys.platform == "win32" and name[2:3] == ":":  # file:///C:/texts.csv
        name = name[1:]
    if host.lower() not in ("", "localhost"):
        raise InputError(
            message(
                "“{address}” is on another computer, “{host}”. Copy the file to this one, and open it here.",
                address=argument,
                host=host,
            )
        )
    if not name or "\0" in name:
        raise InputError(message("“{address}” is not the address of a file.", address=argument))
    return Path(name)


def _is_address(argument: str) -> bool:
    return argument[: len(_SCHEME) + 1].lower() == f"{_SCHEME}/"
