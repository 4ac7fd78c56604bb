"""What stands above and below a table in a text file: found, left aside, and said."""

import csv
import io
from dataclasses import replace

from cfbatch_gui.core.inputs.extent import is_below_table
from cfbatch_gui.core.inputs.model import Quoting, Source
from cfbatch_gui.core.inputs.opening import GZIP, ZIP, open_raw
from cfbatch_gui.core.inputs.separators import csv_rows

_TAIL = 16 * 1024  # bytes
_MOST_BELOW = 12  # lines
_SHOWN = 40  # characters of a line in a notice


def with_ends(source: Source, head: bytes, sample: str, end_line: int) -> Source:
    """The source with its table's end and with notices. `end_line` is where another table begins in the sample, or 0.

    `sample` is the text of `head` without a byte order mark.
    """
    notices = []
    lines = lines_of(sample) if source.first_line > 1 else []
    if source.first_line > 1:
        notice = said_above(lines[: source.first_line - 1])
        notices.extend([notice] if notice else [])
    if end_line:
        begin = "".join(lines_of(sample)[: end_line - 1])
        end = len(begin.encode(source.encoding))
        if head[:end].decode(source.encoding, "replace").removeprefix("\ufeff") == begin:
            notices.append(only_first(begin))
            return replace(source, end=end, notices=tuple(notices))
    below = _below(source, head)
    if below:
        size = sum(len(line.encode(plain_codec(source.encoding))) for line in below)
        said = [line.strip() for line in below if line.strip()]
        if said and not (len(said) == 1 and said[0] == r"\."):
            notices.append(said_below(said))
        return replace(source, end=source.size - size, notices=tuple(notices))
    if source.quoting in _SAID:
        notices.append(_SAID[source.quoting])
    return replace(source, notices=tuple(notices))


_SAID = {
    Quoting.ESCAPED: "A backslash before a quotation mark is taken as part of the file's form, not of its texts.",
    Quoting.OUTFILE: "As MySQL means it, \\N is taken for an empty cell, and a backslash before a quotation mark, a "
    "line end or another backslash for a part of the file's form.",
    Quoting.WRAPPED: "Quotation marks around whole lines are taken as part of the file's form, not of its texts.",
    Quoting.SPACED: "The space after each separator is taken as part of the file's form, not of its texts.",
    Quoting.NONE: "Quotation marks are taken as part of the texts, for they do not stand around whole cells.",
}


def lines_of(text: str) -> list[str]:
    """Lines with their ends, cut where the readers cut them."""
    # Not splitlines(): it also cuts at signs that are no line ends in a file, such as U+2028.
    return list(io.StringIO(text, newline=""))


def only_first(begin: str) -> str:
    """The notice that of several tables only the first is read, which `begin` ends with."""
    return (
        f"The file has several tables. Only the first is read, down to line {len(lines_of(begin.rstrip())):,}; "
        "save the others as files of their own."
    )


def said_below(lines: list[str]) -> str:
    """The notice for lines below the table, of which none is blank."""
    return f"{_count(lines)} below the table left aside: {_quoted(lines)}."


def said_above(lines: list[str]) -> str:
    """The notice for lines above the table; "" where they say nothing."""
    said = [line.strip().strip(",;|\t").strip() for line in lines]
    said = [line for line in said if line and not line.casefold().strip('"').startswith("sep=")]
    return f"{_count(said)} above the table left aside: {_quoted(said)}." if said else ""


def said_rows_above(rows: list[str]) -> str:
    """The same for rows of a sheet, of which none is blank."""
    return f"{_count(rows, 'row')} above the table left aside: {_quoted(rows)}."


def _count(lines: list[str], what: str = "line") -> str:
    return f"1 {what} was" if len(lines) == 1 else f"{len(lines):,} {what}s were"


def _quoted(lines: list[str]) -> str:
    first = lines[0] if len(lines[0]) <= _SHOWN else f"{lines[0][:_SHOWN].rstrip()}…"
    return f"“{first}”" + (" and more" if len(lines) > 1 else "")


def plain_codec(encoding: str) -> str:
    """The codec that writes no byte order mark of its own."""
    return {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)


def _below(source: Source, head: bytes) -> list[str]:
    """The last lines of the file that are no rows of its table, blank ones between them included; [] for none."""
    tail = tail_of(source, head)
    lines = lines_of(tail)
    widths = [len(cells) for line in lines[-200:] if len(cells := _cells(line, source)) > 1]
    width = max(set(widths), key=widths.count, default=1)
    if width < 2:
        return []
    cut = len(lines)
    for index in range(len(lines) - 1, max(-1, len(lines) - 1 - _MOST_BELOW), -1):
        cells = _cells(lines[index], source)
        after_blank = index > 0 and not any(cell.strip() for cell in _cells(lines[index - 1], source))
        if '"' in lines[index] and lines[index].count('"') % 2:
            break  # the end of a cell of several lines
        if not is_below_table(cells, width, after_blank=after_blank):
            if len(cells) > 1:
                break
            continue  # a further line of a note, if one is found above
        if any(cell.strip() for cell in cells):
            cut = index
    if cut == len(lines):
        return []
    while cut and not any(cell.strip() for cell in _cells(lines[cut - 1], source)):
        cut -= 1
    # An open quotation mark further up would make all of this part of a cell.
    if "".join(lines[:cut]).count('"') % 2 and source.quoting is Quoting.DOUBLED:
        return []
    return lines[cut:]


def tail_of(source: Source, head: bytes) -> str:
    """The last lines of the file, all of a short one; "" where they cannot be had without reading all of it."""
    codec = plain_codec(source.encoding)
    if source.size <= len(head):
        data = head
    else:
        with open_raw(source.path) as file:
            if file.read(4).startswith((GZIP, ZIP)):
                return ""
            file.seek(source.size - _TAIL)
            data = file.read(_TAIL)
        if codec.startswith(("utf-16", "utf-32")):
            return ""  # where a letter begins is not known
        data = data[data.find(b"\n") + 1 :]
    try:
        text = data.decode(source.encoding if data is head else codec)
    except UnicodeDecodeError:
        return ""
    return text


def _cells(line: str, source: Source) -> list[str]:
    try:
        return next(iter(csv_rows([line], source.separator, source.quoting)), [])
    except csv.Error:
        return []
