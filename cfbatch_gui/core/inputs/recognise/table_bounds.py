"""The records at the beginning of a delimited text, and where in it a table begins and ends."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from cfbatch_gui.core.inputs import column_names as vocabulary
from cfbatch_gui.core.inputs.input_values import Quoting, Source
from cfbatch_gui.core.inputs.open_file import GZIP, ZIP, open_raw
from cfbatch_gui.core.inputs.readers.decoded_text import END_MARK
from cfbatch_gui.core.inputs.readers.delimited_rows import csv_rows, width_of_line
from cfbatch_gui.core.inputs.recognise.headers import filled_width, has_header
from cfbatch_gui.core.messages import Message, message, quoted


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a sample: `line` is its first, from 1; `raw` has no line end at its end."""

    line: int
    cells: tuple[str, ...]
    after_blank: bool
    raw: str = ""
    is_open: bool = False  # a quotation mark in it is not closed

    @property
    def filled(self) -> int:
        return sum(1 for cell in self.cells if cell.strip())

    @property
    def reach(self) -> int:
        return filled_width(self.cells)


def sample_records(sample: str, separator: str, quoting: Quoting, *, first_line: int, is_whole: bool) -> list[Record]:
    """The records that are not blank, up to the first that cannot be read.

    Below one with a mark that is not closed reading goes on if the line there is a row by itself.
    """
    lines = list(io.StringIO(sample, newline=""))
    line, after_blank = first_line, False
    reader = csv_rows(chain(lines[line - 1 :], (END_MARK,)), separator, quoting)
    above = line - 1  # lines above those that the reader gets
    found: list[Record] = []
    with suppress(csv.Error):
        while (cells := next(reader, None)) not in (None, [END_MARK]):
            below = above + reader.line_num + 1
            is_open = bool(cells) and cells[-1].endswith(END_MARK)
            if (
                is_open
                and found
                and width_of_line("".join(lines[line : line + 1]), separator, quoting) == len(found[0].cells) > 1
            ):
                reader, above = csv_rows(chain(lines[line:], (END_MARK,)), separator, quoting), line
                below, cells = line + 1, []
            is_blank = not any(cell.strip() for cell in cells)
            if not is_blank:
                raw = "".join(lines[line - 1 : below - 1]).rstrip("\r\n")
                found.append(Record(line, tuple(cells), after_blank, raw, is_open))
            line, after_blank = below, is_blank
    # The last may be cut off by the end of the sample.
    return found if is_whole or len(found) < 3 else found[:-1]


_MOST_ABOVE = 20  # records of a preamble
_ROWS_OF_UNNAMED = 5  # at least so many rows of several cells are a table even without known column names
_COMMENTS = ("#", "//", "--", "%")
_TOTALS = """
total totals sum grand subtotal summe gesamt gesamtsumme zwischensumme somme totale suma totaal razem summa итого всего
合計 总计 合计 總計 합계 المجموع
"""
_TOTAL_WORDS = frozenset(_TOTALS.split())
_COUNT = re.compile(r"\(\s*\d[\d.,]*\s+\w+\s*\)")  # psql: (3 rows)
_TAIL = 16 * 1024  # bytes
_MOST_BELOW = 12  # lines
_SHOWN = 40  # characters of a line in a notice
_QUOTING_NOTICES = {
    Quoting.ESCAPED: message("backslashes_before_quotation_marks_are_not"),
    Quoting.SPACED: message("space_after_each_separator_is_not"),
    Quoting.NONE: message("quotation_marks_are_read_part_texts"),
}


def first_of_table(records: Sequence[Record]) -> int:
    """The index of the record where the table begins; 0 unless those above are clearly not part of it."""
    if begin := _below_comments(records):
        return begin
    for start in range(1, min(_MOST_ABOVE, len(records) - 3) + 1):
        above, head, below = records[:start], records[start], records[start : start + 100]
        width = len(head.cells)
        is_below = width > 1 and all(_is_narrower(record, head) for record in above) and not _are_rows(above)
        if not is_below or len(below[1].cells) != width or _usual(below) != width:
            continue
        are_titles = all(record.reach == 1 for record in above) and head.filled == width
        if are_titles and width > 2 and len(below) >= _ROWS_OF_UNNAMED:
            return start
        if (head.after_blank or any(map(vocabulary.is_known, head.cells))) and has_header([row.cells for row in below]):
            return start
    return 0


def _is_narrower(record: Record, head: Record) -> bool:
    """Whether a record may be above a table with this first one: a line of text, or a padded title."""
    is_short = len(record.cells) < len(head.cells) and record.reach < head.reach
    return is_short or record.reach * 2 <= len(head.cells)


def _are_rows(records: Sequence[Record]) -> bool:
    return any(one.reach == other.reach > 1 for one, other in pairwise(records))


def _below_comments(records: Sequence[Record]) -> int:
    start = 0
    while start < min(_MOST_ABOVE, len(records) - 2) and _is_comment(records[start].cells):
        start += 1
    width = len(records[start].cells)
    if not start or width < 2:
        return 0
    rows = [record.cells for record in records[start - 1 : start + 100]]
    is_named = len(rows[0]) == width and has_header(rows) and not has_header(rows[1:])
    return start - 1 if is_named else start


def _is_comment(cells: Sequence[str]) -> bool:
    return cells[0].startswith(_COMMENTS) and not (len(cells) > 1 and vocabulary.is_number_sign(cells[0]))


def end_of_table(records: Sequence[Record], start: int) -> int:
    """The index after the table's last record, below which another table may begin."""
    width = _usual(records[start:])
    known_width = len(records[start].cells) if start < len(records) else 0
    for index in range(start + 2, len(records)):
        if not records[index].after_blank:
            continue
        following = index
        # There may be a title or blank cells above the second table.
        while following < min(len(records) - 2, index + 3) and records[following].filled <= 1:
            following += 1
        if _is_other_table(records, start, following, (width, known_width)):
            return index
    return len(records)


def _is_other_table(records: Sequence[Record], start: int, at: int, widths: tuple[int, int]) -> bool:
    head, rest = records[at], records[at + 1 : at + 4]
    if not rest or len(rest[0].cells) != len(head.cells) or len(head.cells) < 2:
        return False
    rows = [head.cells, *(record.cells for record in rest)]
    if len(head.cells) not in widths:
        return len(records[start].cells) > 1 and (len(rest) > 1 or has_header(rows))
    names = [cell.strip() for cell in head.cells]
    if names == [cell.strip() for cell in records[start].cells] or not has_header(rows):
        return False
    table = [record.cells for record in records[start + 1 : start + 20] if record.line < head.line]
    return sum(map(vocabulary.is_known, names)) * 2 > head.filled or _had_figures(table, rows)


def _had_figures(table: Sequence[Sequence[str]], below: Sequence[Sequence[str]]) -> bool:
    """Whether a column of figures has none below."""
    columns = zip(zip(*table, strict=False), zip(*below, strict=False), strict=False)
    is_figure = vocabulary.is_number_or_date
    return len(table) > 2 and any(
        all(map(is_figure, above)) and not any(map(is_figure, under)) for above, under in columns
    )


def _usual(records: Sequence[Record]) -> int:
    widths = Counter(len(record.cells) for record in records)
    return widths.most_common(1)[0][0] if widths else 0


def _is_below_table(cells: Sequence[str], width: int, *, after_blank: bool) -> bool:
    """Whether a last record is a sum, a source or a count rather than a row of `width` columns."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    if len(filled) == 1:
        return filled[0] == r"\." or bool(_COUNT.fullmatch(filled[0])) or (len(cells) == 1 and after_blank)
    if after_blank and len(cells) < width and all(cell.startswith(" ") for cell in cells[1:]):
        return True  # a sentence with commas
    first = [word for word in re.findall(r"\w+", filled[0].casefold()) if not word.isdigit()]
    is_total = bool(first) and len(first) <= 2 and all(word in _TOTAL_WORDS for word in first)
    return is_total and len(cells) == width and all(vocabulary.is_number_or_date(cell) for cell in filled[1:])


def with_ends(source: Source, head: bytes, sample: str, end_line: int) -> Source:
    """The source with its table's end and notices; `end_line` is the line of another table, 0 for none."""
    notices: list[str] = [_QUOTING_NOTICES[source.quoting]] if source.quoting in _QUOTING_NOTICES else []
    lines = lines_of(sample) if source.first_line > 1 or end_line else []
    if source.first_line > 1:
        notices.append(notice_above(lines[: source.first_line - 1]))
    begin = "".join(lines[: end_line - 1]) if end_line else ""
    end = len(begin.encode(source.encoding))
    if begin and head[:end].decode(source.encoding, "replace").removeprefix("\ufeff") == begin:
        notices.append(message("file_several_tables_only_first_is", line=len(lines_of(begin.rstrip()))))
    elif below := _below(source, head):
        end = source.size - sum(len(line.encode(plain_codec(source.encoding))) for line in below)
        said = [line.strip() for line in below if line.strip()]
        if said not in ([], [r"\."]):
            notices.append(message("n_lines_below_table_are_not", n=len(said), first=_first_of(said)))
    else:
        end = 0
    return replace(source, end=end, notices=tuple(filter(None, notices)))


def lines_of(text: str) -> list[str]:
    """Split a text into lines with their line ends, as the readers do."""
    # Not splitlines(), which also splits at characters that do not end a line of a file, such as U+2028.
    return list(io.StringIO(text, newline=""))


def notice_above(lines: list[str]) -> str:
    """The notice for lines above the table; "" if they are blank or only declare the separator."""
    said = [line.strip().strip(",;|\t").strip() for line in lines]
    said = [line for line in said if line and not line.casefold().strip('"').startswith("sep=")]
    if not said:
        return ""
    return message("n_lines_above_table_are_not", n=len(said), first=_first_of(said))


def _first_of(lines: list[str]) -> Message:
    first = lines[0] if len(lines[0]) <= _SHOWN else f"{lines[0][:_SHOWN].rstrip()}…"
    return message("text_more", text=first) if len(lines) > 1 else quoted(first)


def plain_codec(encoding: str) -> str:
    return {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)


def _below(source: Source, head: bytes) -> list[str]:
    lines = lines_of(tail_of(source, head))
    records = sample_records("".join(lines), source.separator, source.quoting, first_line=1, is_whole=True)
    width = _usual([record for record in records[-200:] if len(record.cells) > 1])
    cut = len(lines)
    for record in reversed(records[-_MOST_BELOW:] if width else []):
        if record.raw.count('"') % 2 or len(lines_of(record.raw)) > 1:
            break  # this may end a cell of several lines
        if _is_below_table(record.cells, width, after_blank=record.after_blank):
            cut = record.line - 1
        elif len(record.cells) > 1:
            break  # below, it may be a further line of a note whose first line is above
    # After an open quotation mark further up, all of this is part of a cell.
    is_in_cell = source.quoting is Quoting.DOUBLED and "".join(lines[:cut]).count('"') % 2
    return [] if is_in_cell else lines[cut:]


def tail_of(source: Source, head: bytes) -> str:
    """The end of the file; "" if that needs reading all of it."""
    data, codec = head, source.encoding
    if source.size > len(head):
        codec = plain_codec(source.encoding)
        with open_raw(source.path) as file:
            if file.read(4).startswith((GZIP, ZIP)) or codec.startswith(("utf-16", "utf-32")):
                return ""  # packed, or it is not known where a character begins
            file.seek(source.size - _TAIL)
            data = file.read(_TAIL)
        data = data[data.find(b"\n") + 1 :]
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return ""
