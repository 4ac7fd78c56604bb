"""Names of groups of texts: the words that many texts of a group have, and few of the others; in any script."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import compress, count, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.results.numbers import starts
from cfbatch_gui.core.system.threads import check_stopped

Numbers = NDArray[np.int64]

_BATCH = 5_000  # texts that are read at once
_MOST_READ, _LEAST_READ = 15_000, 15  # texts of all groups, and of one, whose words are counted
_RATIO = 2.0  # a telling word is at least so many times as frequent in its group as elsewhere
_LEAST = 0.2  # of the score of the group's most telling word
_LOOKED_AT = 50  # words of a group
_MARKED = 8  # a letter with all its marks has no more characters
_HAN = "\u2e80-\u2fdf\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = (  # scripts without spaces: the characters of each, and how long the pieces are that are counted
    (_HAN, 1, 3),
    ("\u3041-\u309f", 2, 4),
    ("\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f", 2, 4),
    ("\u0e01-\u0e4e", 3, 5),
    ("\u0e81-\u0ece\u0edc-\u0edf", 3, 5),
    ("\u1780-\u17d3\u17dc", 3, 5),
    ("\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f", 2, 4),
)
_ANY_UNSPACED = re.compile(f"[{''.join(characters for characters, _, _ in _UNSPACED)}]+")


class _Patterns(NamedTuple):
    word: re.Pattern[str]
    runs: tuple[tuple[re.Pattern[str], int, int], ...]
    letter: re.Pattern[str]  # with the marks on it


@cache
def _patterns() -> _Patterns:
    # Above U+FFFF every character of a class is looked at in turn.
    marks = "".join(each for each in map(chr, range(0x10000)) if unicodedata.category(each)[0] == "M")
    word = re.compile(rf"[\w{marks}\u200c\u200d]+(?:['’][\w{marks}]+)*")
    runs = tuple((re.compile(f"[{characters}]+"), low, high) for characters, low, high in _UNSPACED)
    return _Patterns(word, runs, re.compile(f".[{marks}]*"))


_PLAIN = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")


def _words(text: str) -> list[str]:
    """As they are written, in NFC; pieces of runs without spaces as often as they are there."""
    if text.isascii():
        return _PLAIN.findall(text)
    text, patterns = unicodedata.normalize("NFC", text), _patterns()
    found = patterns.word.findall(_ANY_UNSPACED.sub(" ", text).replace("_", " "))
    if _ANY_UNSPACED.search(text):
        for pattern, low, high in patterns.runs:
            for run in pattern.findall(text):
                letters = patterns.letter.findall(run)
                for size in range(min(low, len(letters)), min(high, len(letters)) + 1):
                    found += ["".join(letters[at : at + size]) for at in range(len(letters) - size + 1)]
    return found


def _is_name(word: str) -> bool:
    """Not for digits alone, nor for one or two letters of an alphabet, unless they are capitals."""
    letters = sum(unicodedata.category(each)[0] != "M" for each in word)
    is_piece = bool(_ANY_UNSPACED.match(word) or re.match("[가-힣]", word))
    is_long = letters > 2 or (letters == 2 and (is_piece or word.isupper()))
    return (is_long or bool(re.match(f"[{_HAN}가-힣]", word))) and any(map(str.isalpha, word))


class _Counts:
    """How many texts have each word, by group; a word is known by the number of its folded form."""

    def __init__(self) -> None:
        self.words: defaultdict[str, int] = defaultdict(count().__next__)
        self._forms: defaultdict[str, int] = defaultdict(count().__next__)
        self._word_of, self._written = np.empty(0, np.int64), np.empty(0, np.int64)  # by number of form
        self._keys, self._counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]

    def add(self, texts: list[str], groups: Numbers) -> None:
        """Texts and the group of each, -1 for none."""
        number, found, sizes = self._forms.__getitem__, list[int](), list[int]()
        for text in texts:
            before = len(found)
            found.extend(map(number, _words(text)))
            sizes.append(len(found) - before)
        forms = np.array(found, dtype=np.int64)
        new = [self.words[form.casefold()] for form in islice(self._forms, len(self._word_of), None)]
        self._word_of = np.concatenate((self._word_of, np.array(new, np.int64)))
        written = np.bincount(forms, minlength=len(self._word_of))
        written[: len(self._written)] += self._written
        self._written = written
        owners = np.repeat(np.arange(len(texts)), sizes)
        pairs = np.sort(owners << 32 | self._word_of[forms])
        pairs = pairs[starts(pairs)]
        keys = np.sort((groups[pairs >> 32] + 1) << 32 | pairs & 0xFFFFFFFF)
        begins = np.flatnonzero(starts(keys))
        self._keys.append(keys[begins])
        self._counts.append(np.diff(begins, append=len(keys)))

    def by_group(self) -> tuple[Numbers, Numbers, Numbers]:
        """Groups, ascending, -1 for none, their words and how many texts have them."""
        keys, counts = np.concatenate(self._keys), np.concatenate(self._counts)
        order = np.argsort(keys, kind="stable")
        begins = np.flatnonzero(starts(keys[order]))
        keys, counts = keys[order][begins], np.add.reduceat(counts[order], begins) if len(begins) else counts
        return (keys >> 32) - 1, keys & 0xFFFFFFFF, counts

    def written(self) -> dict[int, str]:
        """The commonest form of each word; of equal ones the first."""
        forms = list(self._forms)
        order = np.lexsort((np.arange(len(forms)), -self._written))
        found: dict[int, str] = {}
        for form, word in zip(order.tolist(), self._word_of[order].tolist(), strict=True):
            found.setdefault(word, forms[form])
        return found


def telling_words(texts: Iterable[str], members: Numbers, groups: int, most: int = 4) -> list[tuple[str, ...]]:
    """For each group its most telling words, the first before all others; () if it has none.

    `members` are the groups of the texts, -1 for none. The score of a word is p · log(p / q) of the share p of the
    group's texts and the share q of all other texts that have it; of many texts those of a sample. Blocking: seconds
    for 100,000. The same input has the same result.
    """
    counted, unspaced, at = _Counts(), defaultdict[int, list[str]](list), 0
    sizes = np.bincount(members + 1, minlength=groups + 1)
    is_read = _sample(members, groups)
    read = np.bincount(members[is_read] + 1, minlength=groups + 1)
    for batch in _batches(texts):
        chosen = is_read[at : at + len(batch)]
        some, own = list(compress(batch, chosen.tolist())), members[at : at + len(batch)][chosen]
        at += len(batch)
        counted.add(some, own)
        for text, group in zip(some, own.tolist(), strict=True):
            if group >= 0 and not text.isascii() and _ANY_UNSPACED.search(text):
                unspaced[group].append(unicodedata.normalize("NFC", text))
    of_group, words, there = counted.by_group()
    about = there * (sizes / np.maximum(read, 1))[of_group + 1]  # of all texts, not of the sample alone
    totals = np.bincount(words, about, len(counted.words))
    sizes, read = sizes[1:], read[1:]
    kept = (of_group >= 0) & ((there > 1) | (sizes[of_group] == 1)) & (sizes[of_group] < at)
    of_group, words, there, about = of_group[kept], words[kept], there[kept], about[kept]
    inside = (there + 0.5) / (read[of_group] + 1)
    outside = (totals[words] - about + 0.5) / (at - sizes[of_group] + 1)
    scores = inside * np.log(inside / outside)
    telling = np.flatnonzero(inside >= _RATIO * outside)
    order = telling[np.lexsort((words[telling], -scores[telling], of_group[telling]))]
    written, found = counted.written(), list[tuple[str, ...]]()
    ends = np.searchsorted(of_group[order], np.arange(groups + 1))
    for group in range(groups):
        check_stopped()
        best = order[ends[group] : ends[group + 1]][:_LOOKED_AT]
        candidates = zip((written[word] for word in words[best].tolist()), scores[best].tolist(), strict=True)
        found.append(_chosen(candidates, unspaced[group], most))
    return found


def _sample(members: Numbers, groups: int) -> NDArray[np.bool_]:
    """Which texts are read: all of a few, else as many of each group, and of those in none, evenly spread."""
    order = np.argsort(members, kind="stable")
    sizes = np.bincount(members + 1, minlength=groups + 1)
    most = max(_LEAST_READ, _MOST_READ // (groups + 1))
    turn = np.arange(len(members)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    size = np.repeat(sizes, sizes)
    found = np.ones(len(members), np.bool_)
    found[order] = (size <= most) | (turn * most // size != (turn - 1) * most // size)
    return found


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    each = iter(texts)
    while batch := list(islice(each, _BATCH)):
        check_stopped()
        yield batch


def _chosen(candidates: Iterable[tuple[str, float]], unspaced: list[str], most: int) -> tuple[str, ...]:
    """The first that are no part of another one, nor its beginning."""
    found: list[str] = []
    least = None
    for word, score in candidates:
        if len(found) == most or (least is not None and score < least):
            break
        is_piece = _ANY_UNSPACED.match(word) is not None
        if not _is_name(word) or any(_is_like(word.casefold(), other.casefold(), is_piece) for other in found):
            continue
        least = score * _LEAST if least is None else least
        found.append(_grown(word, unspaced) if is_piece else word)
    return tuple(found)


def _is_like(one: str, other: str, is_piece: bool) -> bool:
    if is_piece:
        return one in other or other in one or any(one[at : at + 2] in other for at in range(len(one) - 1))
    return one.startswith(other) or other.startswith(one)


def _grown(piece: str, texts: list[str]) -> str:
    """The longest run around this piece that all of these texts have which have the piece."""
    having = [text for text in texts if piece in text]
    letter, has_grown = _patterns().letter, True
    run = next(pattern for pattern, _, _ in _patterns().runs if pattern.match(piece))
    while has_grown and having:
        has_grown = False
        for behind in (True, False):
            near = [_beside(text, piece, letter, behind=behind) for text in having]
            common = min((each for each in set.intersection(*near) if run.fullmatch(each)), default="")
            piece, has_grown = piece + common if behind else common + piece, has_grown or bool(common)
    return piece


def _beside(text: str, piece: str, letter: re.Pattern[str], *, behind: bool) -> set[str]:
    """The letters after each place of this piece, or before it."""
    around = text.split(piece)
    if behind:
        return {found[0] for part in around[1:] if (found := letter.match(part))}
    return {letter.findall(part[-_MARKED:])[-1] for part in around[:-1] if part}
