"""A caseless search over all texts of a job, for a part of a text or for the words of a question. Blocking: half a
second for a million texts.
"""

import re
import sqlite3
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, chain, groupby

from cfbatch_gui.core.job_folder.folder import JobFolder

_TEXTS = """
SELECT item_no FROM items JOIN texts USING(text_no) WHERE contains(text) OR contains(text_id) ORDER BY item_no
"""
_WORDS = "SELECT item_no FROM items JOIN texts USING(text_no) WHERE contains(text) ORDER BY item_no"
_CONTEXTS = """
SELECT query_no, item_no FROM items
WHERE query_no IS NOT NULL AND text_no IN (SELECT text_no FROM texts WHERE contains(text))
"""
_QUERIES = "SELECT query_no FROM queries WHERE contains(text)"
_ITEMS_OF = "SELECT item_no FROM items WHERE query_no IN (SELECT value FROM json_each(?))"


@contextmanager
def _searching(folder: JobFolder, contains: Callable[[str], bool]) -> Iterator[sqlite3.Connection]:
    """The data of a job, where `contains` says whether a text contains what is sought."""
    with folder.open(read_only=True) as database:
        database.create_function("contains", 1, contains, deterministic=True)
        yield database


def _containing(sought: str) -> Callable[[str], bool]:
    needle = sought.casefold()
    return lambda text: needle in text.casefold()


def items_with(folder: JobFolder, sought: str) -> tuple[int, ...]:
    """The numbers of the items whose text or id contains `sought`, ascending. Raises DataError."""
    with _searching(folder, _containing(sought)) as database:
        return tuple(item for (item,) in database.execute(_TEXTS))


def items_with_words(folder: JobFolder, words: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the items with any of the words in their text, as `word_spans` finds them. Raises DataError."""
    with _searching(folder, lambda text: bool(word_spans(text, words))) as database:
        return tuple(item for (item,) in database.execute(_WORDS))


def search_ranking(folder: JobFolder, sought: str) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of the queries that contain `sought`, also in a context, and of the contexts that do, or whose query
    alone does. Raises DataError.
    """
    with _searching(folder, _containing(sought)) as database:
        found = database.execute(_CONTEXTS).fetchall()
        queries = {query for query, _ in found}
        alone = {query for (query,) in database.execute(_QUERIES)} - queries
        of_alone = database.execute(_ITEMS_OF, (str(sorted(alone)),))
        items = frozenset(chain((item for _, item in found), (item for (item,) in of_alone)))
    return frozenset(queries | alone), items


def found_spans(text: str, sought: str) -> list[tuple[int, int]]:
    """The places of `sought`, from left to right; one inside a character ("ß" → "ss") has the whole one."""
    needle, folded = sought.casefold(), text.casefold()
    if not needle or needle not in folded:
        return []
    # A character never becomes fewer than one, so that texts of one length correspond character by character.
    lengths = (map(len, map(str.casefold, text))) if len(folded) != len(text) else (1 for _ in text)
    stops = list(accumulate(lengths))
    spans: list[tuple[int, int]] = []
    at = folded.find(needle)
    while at >= 0:
        stop = at + len(needle)
        first, last = bisect_right(stops, at), bisect_right(stops, stop - 1)
        if spans and first < spans[-1][1]:  # both lie in one character
            spans[-1] = (spans[-1][0], last + 1)
        else:
            spans.append((first, last + 1))
        at = folded.find(needle, stop)
    return spans


_UNSPACED = re.compile(  # scripts whose words have no spaces between them
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_LEAST_LETTERS, _LEAST_RUN, _LONGEST_RUN = 3, 2, 60


def _kind(character: str) -> int:
    """1 of a word, 2 of a script without spaces, 0 of neither."""
    if not character or unicodedata.category(character)[0] not in "LMN":
        return 0
    return 2 if _UNSPACED.match(character) else 1


def words_of(question: str) -> tuple[str, ...]:
    """What is marked of a question: its words, but for those of one or two letters, and runs without spaces."""
    runs = ((kind, "".join(letters)) for kind, letters in groupby(question.casefold(), _kind))
    return tuple(
        dict.fromkeys(
            run[:_LONGEST_RUN] if kind == 2 else run
            for kind, run in runs
            if kind and (len(run) >= (_LEAST_RUN if kind == 2 else _LEAST_LETTERS) or run.isdecimal())
        )
    )


def word_spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """From left to right, none in another, where words of `words_of` stand whole, and what occurs of runs without
    spaces; case is ignored.
    """
    folded, found = text.casefold(), set[tuple[int, int]]()
    for word in words:
        if _kind(word[0]) == 2:
            found.update(chain.from_iterable(found_spans(text, piece) for piece in _pieces(word, folded)))
        elif word in folded:
            spans = found_spans(text, word)
            found.update((a, b) for a, b in spans if _kind(text[:a][-1:]) != 1 and _kind(text[b : b + 1]) != 1)
    apart: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(stop, apart[-1][1]))
        else:
            apart.append((start, stop))
    return apart


def _pieces(run: str, folded: str) -> Iterator[str]:
    """The longest parts of a run that occur in a text, from left to right, of at least two characters."""
    at = 0
    while at + _LEAST_RUN <= len(run):
        stop = at + 1
        if run[at : at + _LEAST_RUN] in folded:
            stop = next(stop for stop in range(len(run), at + 1, -1) if run[at:stop] in folded)
            yield run[at:stop]
        at = stop
