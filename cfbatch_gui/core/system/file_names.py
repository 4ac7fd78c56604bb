"""Names of files for any system, and as they stand on a command line.

Source: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
"""

import re
import unicodedata
from pathlib import Path
from typing import Final

from cfbatch_gui.core.errors import UsageError
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
            raise UsageError(message("name_is_not_utf_8_give", name=shown)) from error


def independent(argument: str) -> str:
    """The argument for a process with another working folder."""
    try:
        return str(Path(argument).absolute())
    except FileNotFoundError:  # the working folder was deleted, and so was what is named from there
        return argument
