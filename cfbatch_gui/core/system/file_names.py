"""Names for files that every system takes, whatever a job or a book is called.

Source: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
"""

import re
import unicodedata
from typing import Final

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
