"""The program that `decoding_process` runs; it needs python-calamine or arro3, none of our modules."""

import datetime
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import python_calamine

CellValue = bool | float | int | str | datetime.date | datetime.time | datetime.timedelta
WORD = "--decode"
PARQUET, WORKBOOK = "parquet", "workbook"
OUT_OF_RANGE = "\0out-of-range"  # cannot occur in a text, in which every NUL is replaced
PROTECTED = 3  # exit status for a workbook with a password
_MOST_MEMORY = 4 * 1024**3  # bytes; 64,000,000 cells take about 1.5 GB
_MOST_SECONDS = 600  # of computing; some damaged workbooks keep the library in a loop, also after the program has ended
_CELLS_IN_BLOCK = 20_000
_CONTENT = "content.xml"  # of an .ods
_TAB_OR_BREAK = re.compile(rb"<text:(tab|line-break)\b[^>]*?(?:/>|>\s*</text:\1\s*>)")
_EXACT_INTEGERS = 2.0**53  # above, a float cannot distinguish neighbouring integers


def open_workbook(workbook: Path | BytesIO) -> python_calamine.CalamineWorkbook:
    """Open a workbook, whatever its name says: by a path the library tries only its suffix."""
    if isinstance(workbook, BytesIO):
        return python_calamine.CalamineWorkbook.from_filelike(workbook)
    try:
        return python_calamine.CalamineWorkbook.from_path(str(workbook))
    except python_calamine.PasswordError:
        raise
    except python_calamine.CalamineError as error:
        try:
            return python_calamine.CalamineWorkbook.from_filelike(BytesIO(workbook.read_bytes()))
        except python_calamine.CalamineError:
            raise error from None


def _with_tabs_and_breaks(path: Path) -> Path | BytesIO:
    """A copy of an .ods with the tabs and line breaks that calamine (0.37) leaves out; the path if it has none."""
    try:
        with zipfile.ZipFile(path) as archive:
            content = _TAB_OR_BREAK.sub(_character, archive.read(_CONTENT))
            if content == archive.read(_CONTENT):
                return path
            copy = BytesIO()
            with zipfile.ZipFile(copy, "w") as written:
                for name in archive.namelist():
                    written.writestr(name, content if name == _CONTENT else archive.read(name))
    except (zipfile.BadZipFile, zlib.error, EOFError, LookupError, ValueError, RuntimeError):
        return path  # no .ods, or damaged, which the library says
    copy.seek(0)
    return copy


def _character(found: re.Match[bytes]) -> bytes:
    return b"\t" if found[1] == b"tab" else b"\n"


def sheets_in(workbook: python_calamine.CalamineWorkbook) -> tuple[tuple[str, bool], ...]:
    return tuple(
        (sheet.name, sheet.visible == python_calamine.SheetVisibleEnum.Visible)
        for sheet in workbook.sheets_metadata
        if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet
    )


def rows_in(workbook: python_calamine.CalamineWorkbook, sheet: str) -> Iterator[tuple[str, ...]]:
    """Yield the cells of every row from the first of the sheet; `OUT_OF_RANGE` where Python cannot hold a value."""
    found = workbook.get_sheet_by_name(sheet)
    rows = found.iter_rows()
    while True:
        try:
            for values in rows:
                yield tuple([_text_of(value) for value in values])
        except OverflowError:  # after it, the library goes on with the next row
            yield (OUT_OF_RANGE, *("",) * (found.width - 1))
        else:
            return


def _text_of(value: CellValue) -> str:
    """Write a value as text: 42 and not 42.0, dates and times as ISO 8601, durations as 36:30:00, TRUE and FALSE."""
    if type(value) is str:
        return value if "\0" not in value else value.replace("\0", "\ufffd")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return str(int(value))
    if isinstance(value, datetime.date | datetime.time):  # datetime is a date
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    return repr(value)


def _duration(value: datetime.timedelta) -> str:
    sign = "-" if value < datetime.timedelta() else ""
    minutes, seconds = divmod(round(abs(value).total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}:{minutes:02}:{seconds:02}"


def main(arguments: Sequence[str]) -> int:
    """Write to standard output what a file holds: Parquet as an Arrow stream, a workbook as lines of JSON."""
    kind, path, *sheet = arguments
    if kind == PARQUET:
        from arro3.io import read_parquet, write_ipc_stream

        write_ipc_stream(read_parquet(path), sys.stdout.buffer)
        return 0
    _limit_resources()
    try:
        with open_workbook(_with_tabs_and_breaks(Path(path)) if sheet else Path(path)) as workbook:
            for block in _blocks(rows_in(workbook, json.loads(sheet[0]))) if sheet else (sheets_in(workbook),):
                sys.stdout.buffer.write(json.dumps(block).encode() + b"\n")
                sys.stdout.buffer.flush()
    except python_calamine.PasswordError:
        return PROTECTED
    except (python_calamine.CalamineError, OSError) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}")
        return 1
    return 0


def _blocks(rows: Iterator[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    block: list[tuple[str, ...]] = []
    for row in rows:
        block.append(row)
        if len(block) * len(row) >= _CELLS_IN_BLOCK:
            yield block
            block = []
    yield block


def _limit_resources() -> None:
    # Elsewhere the library only ends when there is no memory left; the program that waits for it stays.
    if sys.platform == "linux":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = _MOST_MEMORY if most == resource.RLIM_INFINITY else min(_MOST_MEMORY, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        seconds = _MOST_SECONDS if most == resource.RLIM_INFINITY else min(_MOST_SECONDS, most)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
