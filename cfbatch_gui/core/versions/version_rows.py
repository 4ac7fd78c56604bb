"""The rows of two versions of a file for people: ids and texts, and the words that are new in a text."""

import json
from collections.abc import Sequence
from difflib import SequenceMatcher

import msgspec

from cfbatch_gui.core.job_folder.folder import JobFolder

_ROWS = """
SELECT i.item_no, t.text_id, t.text, coalesce(q.query_id, ''), coalesce(q.text, ''), t.row
FROM json_each(?) wanted JOIN items i ON i.item_no = wanted.value JOIN texts t USING(text_no)
LEFT JOIN queries q USING(query_no) ORDER BY wanted.key
"""
_MOST_WORDS = 600  # of a text that is compared word by word


class VersionRow(msgspec.Struct, frozen=True, gc=False):
    """One item as it stands in its version. Ids and queries are "" where there are none."""

    item_no: int
    id: str
    text: str
    query_id: str
    query: str
    row: int


def read_rows(folder: JobFolder, items: Sequence[int]) -> list[VersionRow]:
    """The rows of these items, in the order given. Raises DataError."""
    with folder.open(read_only=True) as database:
        return [VersionRow(*row) for row in database.execute(_ROWS, (json.dumps([int(item) for item in items]),))]


def new_words(text: str, earlier: str) -> list[tuple[int, int]]:
    """Where in `text` stand words that are not in the earlier text: characters from and to, in order, joined where
    only spaces are between them. Of very long texts nothing is marked.
    """
    words, before = _words(text), [earlier[start:stop] for start, stop in _words(earlier)]
    if len(words) > _MOST_WORDS or len(before) > _MOST_WORDS:
        return []
    matcher = SequenceMatcher(None, before, [text[start:stop] for start, stop in words], autojunk=False)
    spans = [
        (words[first][0], words[last - 1][1])
        for what, _, _, first, last in matcher.get_opcodes()
        if what in ("insert", "replace")
    ]
    joined: list[tuple[int, int]] = []
    for start, stop in spans:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    return joined


def _words(text: str) -> list[tuple[int, int]]:
    """Where words begin and end: runs of letters and digits, and every other sign alone; spaces are none."""
    found: list[tuple[int, int]] = []
    for index, sign in enumerate(text):
        if sign.isspace():
            continue
        if sign.isalnum() and found and found[-1][1] == index and text[index - 1].isalnum():
            found[-1] = (found[-1][0], index + 1)
        else:
            found.append((index, index + 1))
    return found
