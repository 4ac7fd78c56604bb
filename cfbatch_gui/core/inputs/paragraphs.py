"""Tell paragraphs, which go on over several lines, from a list of texts with a blank line here and there."""

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

_SENTENCE_END = re.compile(r"""[.?!…:。．？！؟۔।]["'”’»)\]」』]*$""")
_IDEOGRAPHS = ("\u2e80", "\uac00")  # from and before; between them a line may be broken behind every letter
_LEAST_IN_BLOCKS = 0.75  # of all lines; titles and short paragraphs stand alone
_LEAST_ENDED = 0.8  # of the blocks
_LEAST_BROKEN = 0.5  # of the lines with another below: many a sentence ends at the end of a line
_LEAST_SMALL = 0.3  # in German, where many a word begins with a capital, it is half of the lines
_MOST_SMALL = 0.1
_LEAST_FULL = 0.8


def are_paragraphs(lines: Sequence[str]) -> bool:
    """Return whether blank lines stand between texts of several lines each. `lines` end where the file or a block ends.

    Blank lines alone do not say it, for they also stand between the groups of a list. Texts of several lines end with
    the end of a sentence, which goes on from line to line: there the next line begins with a small letter, as the
    first of a text does not, or the line is so full that its first word had no room.
    """
    blocks = [[line.strip() for line in block] for filled, block in groupby(lines, _is_filled) if filled]
    several = [block for block in blocks if len(block) > 1]
    if len(blocks) < 2 or sum(map(len, several)) < _LEAST_IN_BLOCKS * sum(map(len, blocks)):
        return False
    if _share([bool(_SENTENCE_END.search(block[-1])) for block in several]) < _LEAST_ENDED:
        return False
    pairs = [pair for block in several for pair in pairwise(block)]
    if _share([not _SENTENCE_END.search(line) for line, _ in pairs]) < _LEAST_BROKEN:
        return False
    return _go_on_small(several, pairs) or _are_full(pairs)


def _is_filled(line: str) -> bool:
    return bool(line.strip())


def _go_on_small(blocks: Sequence[Sequence[str]], pairs: Sequence[tuple[str, str]]) -> bool:
    is_small = [following[0].islower() and _may_be_sentence(line) for line, following in pairs]
    return _share(is_small) >= _LEAST_SMALL and _share([block[0][0].islower() for block in blocks]) <= _MOST_SMALL


def _are_full(pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether lines are broken at a width. Words or codes one below the other are of one width too, but are no
    sentences."""
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
