"""Names of files for any system, and as they stand on a command line.

Source: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
"""

import os
import re
import sys
import unicodedata
from pathlib import Path
from typing import Final

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.messages import message

LONGEST_STEM: Final = 80  # characters; Windows counts 260 with the folders
_FORBIDDEN: Final = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
# Names of devices, in any folder and before any suffix; the superscript digits count as digits there.
_DEVICE: Final = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³])(?= *(\.|$))", re.IGNORECASE)


def file_stem(name: str, fallback: str = "") -> str:
    """What can stand before a suffix on every system, composed and at most `LONGEST_STEM`; else `fallback`."""
    kept = _FORBIDDEN.sub("-", unicodedata.normalize("NFC", name)).strip(" .")
    kept = kept[:LONGEST_STEM].strip(" .") or fallback
    return _DEVICE.sub(r"\1_", kept, count=1) if _DEVICE.match(kept) else kept


def file_name(name: str) -> str:
    """A whole name, of which the part behind its last dot stays the suffix."""
    stem, dot, suffix = name.rpartition(".")
    if not stem or not re.fullmatch(r"\w{1,10}", suffix):
        return file_stem(name)
    return f"{file_stem(stem, '_')}{dot}{suffix}"


def check_utf8(*names: str) -> None:
    """Raise UsageError for a name that is not UTF-8, which neither JSON nor a database can hold."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            shown = name.encode(errors="backslashreplace").decode()
            raise UsageError(
                message("“{name}” is not UTF-8. Give it a name that is, and try again. Nothing was sent.", name=shown)
            ) from error


_SCHEME = "file:"


def independent(argument: str) -> str:
    """The argument for a process with another working folder; addresses stay as they are."""
    if _is_address(argument):
        return argument
    try:
        return str(Path(argument).absolute())
    except FileNotFoundError:  # the working folder was deleted, and so was what is named from there
        return argument


def path_of(argument: str) -> Path:
    """The file that an independent argument names. Raises InputError for other addresses."""
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
