"""Tell a sheet that is a note, such as “Read me”, from one that is a table."""

import re
from collections.abc import Sequence

from cfbatch_gui.core.inputs import words
from cfbatch_gui.core.inputs.headers import has_header, is_number_or_date

Cells = Sequence[str]

_NAMES = """
readme about info information cover instructions legend liesmich hinweise anleitung deckblatt legende lisezmoi
instrucciones leeme istruzioni leggimi leesmij instrucoes leiame instrukcja прочти инструкция 説明 说明 說明
"""
_NOTE_NAMES = frozenset(_NAMES.split())
_LONGEST_NOTE = 30  # rows
_FEW = 8  # rows of a note that has no blank one
_SENTENCE_END = re.compile(r"[.!?:。．！？؟।]\W*$")


def is_note(name: str, rows: Sequence[Cells]) -> bool:
    """Return whether a sheet that begins with `rows`, the blank ones included, is rather a note than a table.

    A list of texts is no table either; a note has a blank row below its title, or it is short, a title above sentences
    or figures.
    """
    if _is_note_name(name):
        return True
    filled = [row for row in rows if _filled(row)]
    if not filled or len(rows) > _LONGEST_NOTE or words.is_known(name) or _share_wide(filled) > 0.3:
        return False
    if len(rows) == 1 or not _filled(rows[1]):
        return True
    title, *below = (next(cell for cell in row if cell.strip()).strip() for row in filled)
    said = sum(bool(_SENTENCE_END.search(text)) or is_number_or_date(text) for text in below)
    is_title = not words.is_known(title) and not _SENTENCE_END.search(title)
    return is_title and len(filled) <= _FEW and said * 2 > len(below)


def is_table(name: str, rows: Sequence[Cells]) -> bool:
    """Return whether the rows are a table beyond doubt: several columns in nearly every row, below their names."""
    filled = [row for row in rows if _filled(row)]
    return not _is_note_name(name) and len(filled) > 2 and _share_wide(filled) > 0.7 and has_header(filled)


def _is_note_name(name: str) -> bool:
    return "".join(letter for letter in name.casefold() if letter.isalnum()) in _NOTE_NAMES


def _share_wide(rows: Sequence[Cells]) -> float:
    return sum(_filled(row) > 1 for row in rows) / len(rows) if rows else 0.0


def _filled(row: Cells) -> int:
    return sum(1 for cell in row if cell.strip())
