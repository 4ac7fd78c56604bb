"""The rows that belong to the header of a delimited text."""

from collections.abc import Sequence


def rows_of_header(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows belong to the header.

    Beside the names these are the line of dashes of SQL Server's sqlcmd, the kinds of answers of SurveyMonkey, and the
    questions and import ids of Qualtrics.
    """
    width = len(rows[0])
    if len(rows) > 2 and _are_import_ids(rows[2], width):
        return 3
    return 2 if len(rows) > 1 and (_is_underline(rows[1], width) or _are_forms(rows[1], width)) else 1


def is_repeated(cells: Sequence[str], header: Sequence[str]) -> bool:
    """Return whether a row repeats the header, as in concatenated files; one name may well come again as a text."""
    return len(header) > 1 and tuple(cells) == tuple(header)


def _is_underline(cells: Sequence[str], width: int) -> bool:
    return len(cells) == width > 1 and all(len(cell) > 1 and not cell.strip("-") for cell in cells)


def _are_forms(cells: Sequence[str], width: int) -> bool:
    return len(cells) == width > 1 and not cells[0] and "Open-Ended Response" in cells


def _are_import_ids(cells: Sequence[str], width: int) -> bool:
    return len(cells) == width > 1 and all(cell.startswith('{"ImportId":') for cell in cells)
