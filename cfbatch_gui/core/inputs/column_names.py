"""Names of columns, and the words that usually name them, in several languages."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache, partial

from cfbatch_gui.core.messages import cut_list, quoted
from cfbatch_gui.core.resources import resource

_SHOWN = 12
_LONGEST_FIGURE = 60  # characters
_NUMBER = re.compile(r"\s*[-+]?[\d.,' ]*\d[\d.,' ]*(?:[eE][-+]?\d+)?\s*%?")
_DATE = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ][\d:.]+)?\s*")


def index_of(name: str, columns: Sequence[str]) -> int | None:
    """The index of the column with this name, or of the only one that differs just in case or outer spaces."""
    if name in columns:
        return columns.index(name)
    alike = [index for index, column in enumerate(columns) if column.strip().casefold() == name.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def listed(columns: Sequence[str]) -> str:
    """The names as part of a sentence; of more than 12 only the first."""
    names = [quoted(column) for column in columns[: _SHOWN + 1]]
    return cut_list(names[:_SHOWN], len(columns) - _SHOWN)


def complete_names(cells: Sequence[str], width: int) -> tuple[str, ...]:
    taken: set[str] = set()
    names = []
    for number in range(1, width + 1):
        cell = cells[number - 1] if number <= len(cells) else ""
        base = " ".join(cell.split()) or f"Column {number}"
        name, copy = base, 1
        while name in taken:
            copy += 1
            name = f"{base} ({copy})"
        taken.add(name)
        names.append(name)
    return tuple(names)


def is_number_or_date(cell: str) -> bool:
    return len(cell) <= _LONGEST_FIGURE and bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell))


# Letters that Unicode does not decompose into a base letter and a mark.
_UNDIVIDED = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe"})


def _fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold().translate(_UNDIVIDED))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _read() -> dict[str, frozenset[str]]:
    """The words of `resources/column_names.txt`, folded, by what a column of such a name holds."""
    found = defaultdict[str, set[str]](set)
    for line in resource("column_names.txt").read_text("utf-8").splitlines()[1:]:
        kind, _, words = line.partition(": ")
        found[kind].update(_fold(words).split())
    return {kind: frozenset(words) for kind, words in found.items()}


_BY_KIND = _read()
QUERY, CONTEXT, TEXT, ID, LABEL = (_BY_KIND[kind] for kind in ("query", "context", "text", "id", "label"))
_KNOWN = QUERY | CONTEXT | TEXT | ID | LABEL
_LAST_PARTS = sorted(
    _BY_KIND["compounds"] | {word for word in _KNOWN if len(word) > 1 and word[0] > "\u2e7f"}, key=len, reverse=True
)


@lru_cache(maxsize=4096)
def _words_of(name: str) -> tuple[str, ...]:
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return tuple(part for word in re.findall(r"[^\W\d_]+", _fold(parted)) for part in _parts_of(word))


def _parts_of(word: str) -> tuple[str, ...]:
    if word in _KNOWN:
        return (word,)
    last = next((end for end in _LAST_PARTS if word.endswith(end) and len(word) > len(end) + 1), "")
    return (word.removesuffix(last), last) if last else (word,)


def is_number_sign(name: str) -> bool:
    return name.strip() in ("#", "№")


def is_known(name: str) -> bool:
    words = _words_of(name)
    return 0 < len(words) <= 3 and words[-1] in _KNOWN


def is_id(name: str) -> bool:
    words = _words_of(name)
    is_named = bool(words) and (words[-1] in ID or words[0] in ("id", "sku")) and len(words) <= 3
    return is_named or is_number_sign(name)


def is_query_id(name: str) -> bool:
    words = _words_of(name)
    return is_id(name) and bool(_BY_KIND["id of a query"] & set(words))


def is_document_id(name: str) -> bool:
    return is_id(name) and bool(_BY_KIND["id of a document"] & set(_words_of(name)))


def is_label(name: str) -> bool:
    words = _words_of(name)
    is_own = not name.startswith("_")  # as _score in what a search engine has found
    return is_own and 0 < len(words) <= 3 and (words[-1] in LABEL or words[0] in LABEL)


def is_negative(name: str) -> bool:
    return any(word.startswith("neg") for word in _words_of(name))


def is_positive(name: str) -> bool:
    return any(word in ("pos", "positive", "positives") for word in _words_of(name))


def is_title(name: str) -> bool:
    found = set(_words_of(name))
    return is_text(name) and bool(found & _BY_KIND["title"]) and not found & (TEXT - _BY_KIND["title"])


def _is_of(group: frozenset[str], name: str) -> bool:
    words = _words_of(name)
    if not 0 < len(words) <= 3 or is_id(name) or is_label(name):
        return False
    return words[-1] in group or (words[0] in group and (words[-1] in TEXT or len(words[-1]) == 1))


is_query, is_context, is_text = (partial(_is_of, group) for group in (QUERY, CONTEXT, TEXT))
