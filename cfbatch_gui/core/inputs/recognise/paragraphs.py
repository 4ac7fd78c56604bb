"""Tell paragraphs, which blank lines separate, from the lines of a list."""

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from cfbatch_gui.core.inputs.recognise.table_bounds import lines_of

_SENTENCE_END = re.compile(r"""[.?!…:。．？！؟۔।]["'”’»)\]」』]*$""")
_IDEOGRAPHS = ("\u2e80", "\uac00")  # first, and after the last; a line may be broken after any of them
_LEAST_IN_BLOCKS = 0.75  # share of all lines that are in blocks of several; titles are blocks of one line
_LEAST_ENDED = 0.8  # share of these blocks that end with the end of a sentence
_LEAST_BROKEN = 0.5  # share of lines with another below that end within a sentence
_LEAST_SMALL = 0.3  # share of further lines that begin with a small letter; half of them do even in German
_MOST_SMALL = 0.1  # share of first lines that do
_LEAST_FULL = 0.8  # share of lines that are full


def has_paragraphs(sample: str, *, is_whole: bool) -> bool:
    """Return whether a text consists of paragraphs; `is_whole` is whether the sample is all of it."""
    return _are_paragraphs(_whole_blocks(sample, is_whole=is_whole))


def _whole_blocks(sample: str, *, is_whole: bool) -> list[str]:
    lines = lines_of(sample)
    if is_whole:
        return lines
    last_blank = next((at for at in range(len(lines) - 1, -1, -1) if not lines[at].strip()), 0)
    return lines[:last_blank]  # the sample may end within the paragraph below


def _are_paragraphs(lines: Sequence[str]) -> bool:
    """Return whether the lines are paragraphs, separated by blank lines.

    `lines` must not end within a paragraph. Blank lines alone are not enough, because they also separate the groups of
    a list. Either every paragraph is one line, and most of the text is sentences; or the last line of a paragraph ends
    a sentence, while most of its other lines do not: either the next line begins with a small letter, as the first line
    does not, or the line is so full that the next word did not fit.
    """
    blocks = [[line.strip() for line in block] for filled, block in groupby(lines, _is_filled) if filled]
    several = [block for block in blocks if len(block) > 1]
    if len(blocks) > 1 and not several:
        return _are_sentences([line for (line,) in blocks])
    if len(blocks) < 2 or sum(map(len, several)) < _LEAST_IN_BLOCKS * sum(map(len, blocks)):
        return False
    if _share([bool(_SENTENCE_END.search(block[-1])) for block in several]) < _LEAST_ENDED:
        return False
    pairs = [pair for block in several for pair in pairwise(block)]
    if _share([not _SENTENCE_END.search(line) for line, _ in pairs]) < _LEAST_BROKEN:
        return False
    return _go_on_small(several, pairs) or _are_full(pairs)


def _are_sentences(lines: Sequence[str]) -> bool:
    """Return whether most of the text is in lines that end a sentence; titles do not, but they are short."""
    ended = [line for line in lines if _may_be_sentence(line) and _SENTENCE_END.search(line)]
    return sum(map(len, ended)) >= _LEAST_ENDED * sum(map(len, lines))


def _is_filled(line: str) -> bool:
    return bool(line.strip())


def _go_on_small(blocks: Sequence[Sequence[str]], pairs: Sequence[tuple[str, str]]) -> bool:
    is_small = [following[0].islower() and _may_be_sentence(line) for line, following in pairs]
    return _share(is_small) >= _LEAST_SMALL and _share([block[0][0].islower() for block in blocks]) <= _MOST_SMALL


def _are_full(pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether lines are wrapped at a fixed width. Words or codes may have one width, but are not sentences."""
    width = max(len(line) for pair in pairs for line in pair)
    full = [len(line) + 1 + _first_word(following) > width for line, following in pairs]
    return _share(full) >= _LEAST_FULL and _share([_may_be_sentence(line) for line, _ in pairs]) >= _LEAST_FULL


def _may_be_sentence(line: str) -> bool:
    return _is_without_spaces(line) or len(line.split()) > 3


def _first_word(line: str) -> int:
    return 1 if _is_without_spaces(line) else len(line.split(maxsplit=1)[0])


def _is_without_spaces(line: str) -> bool:
    return _IDEOGRAPHS[0] <= line[0] < _IDEOGRAPHS[1]


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found)
