"""Find the columns and the bounds of an ASCII table."""

from dataclasses import replace

from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.files.unsupported_files import only_header, without_rows
from cfbatch_gui.core.inputs.input_values import Source
from cfbatch_gui.core.inputs.readers.ascii_table import AsciiTable, end_of_ascii_table, find_ascii_table
from cfbatch_gui.core.inputs.recognise.table_bounds import (
    lines_of,
    notice_above,
    notice_below,
    notice_of_other_tables,
    plain_codec,
    tail_of,
)


def open_ascii_table(source: Source, head: bytes, sample: str) -> Source:
    """Return the source with its columns, first line and end. Raises InputError for a table without rows.

    `sample` is the decoded `head` without a byte order mark.
    """
    lines = lines_of(sample)
    is_whole = source.size <= len(head)
    table = find_ascii_table(lines, is_whole=is_whole)
    if table is None:
        raise without_rows(source.path)
    if not any(map(table.is_row, lines[table.rule + 1 : end_of_ascii_table(table, lines)])):
        raise only_header(source.path)
    names = [name.strip() for name in table.cells(lines[table.header])]
    above = notice_above([line for line in lines[: table.header] if not table.is_rule(line)])
    source = replace(
        source,
        columns=complete_names(names, table.columns),
        has_header=True,
        first_line=table.header + 1,
        notices=(above,) if above else (),
    )
    return _with_end(source, table, head, lines) if is_whole else _with_far_end(source, table, head)


def _with_end(source: Source, table: AsciiTable, head: bytes, lines: list[str]) -> Source:
    end = end_of_ascii_table(table, lines)
    rest = [line.strip() for line in lines[end:] if line.strip()]
    begin = "".join(lines[:end])
    size = len(begin.encode(source.encoding))
    if not rest or head[:size].decode(source.encoding, "replace").removeprefix("\ufeff") != begin:
        return source
    is_another = find_ascii_table(lines[end:], is_whole=True) is not None
    notice = notice_of_other_tables(begin) if is_another else notice_below(rest)
    return replace(source, end=size, notices=(*source.notices, notice))


def _with_far_end(source: Source, table: AsciiTable, head: bytes) -> Source:
    lines = lines_of(tail_of(source, head))
    last = next((at for at in range(len(lines) - 1, -1, -1) if _is_of(table, lines[at])), None)
    rest = [line.strip() for line in lines[last + 1 :] if line.strip()] if last is not None else []
    if last is None or not rest:
        return source
    size = sum(len(line.encode(plain_codec(source.encoding))) for line in lines[last + 1 :])
    return replace(source, end=source.size - size, notices=(*source.notices, notice_below(rest)))


def _is_of(table: AsciiTable, line: str) -> bool:
    return table.is_rule(line) or table.is_row(line)
