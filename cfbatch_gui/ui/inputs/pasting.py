"""What is pasted becomes a file of the job, and is then read like any other."""

from pathlib import Path

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.files import write_atomically
from cfbatch_gui.core.inputs.separators import is_clearly_delimited

NOTHING_TO_PASTE = "There is no text on the clipboard. Copy cells or lines first."
_SAMPLE = 64 * 1024  # characters


def save_pasted(text: str, folder: Path) -> Path:
    """Write a text from the clipboard to the folder; the suffix says whether it holds cells or lines.

    Spreadsheets copy cells with tabs, quoted where needed. Raises InputError for nothing, and DiskFull.
    """
    clean = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()
    if not clean.strip():
        raise InputError(NOTHING_TO_PASTE)
    path = folder / _name(clean)
    write_atomically(path, clean.encode())
    return path


def _name(text: str) -> str:
    first = next(line for line in text.split("\n") if line.strip())
    if "\t" in first:
        return "pasted.tsv"
    sample = text[:_SAMPLE]
    return "pasted.csv" if is_clearly_delimited(sample, is_whole=len(sample) == len(text)) else "pasted.txt"
