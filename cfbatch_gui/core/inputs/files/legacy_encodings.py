"""Guess the legacy encoding of a text.

chardet gives each encoding a likelihood from the pairs of letters of many languages. Two things are added that do not
depend on a language: letters that cannot stand side by side, such as a Cyrillic one within a Latin word, and that
some encodings are rarer than others. docs/decisions/encoding-guess.md has the figures.
"""

import codecs
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

FALLBACK = "cp1252"  # where nothing decides
_WITHOUT_GAPS = "mac_roman"  # every byte has a character

# chardet's names of the encodings that are considered, each with the Python codec that it is read with: where Windows
# has a superset, or its own variant that programs mean by the name, that one.
_CODECS = {
    "iso8859-1": "cp1252",
    "cp1252": "cp1252",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1253": "cp1253",
    "iso8859-9": "cp1254",
    "cp1254": "cp1254",
    "cp1255": "cp1255",
    "cp1256": "cp1256",
    "cp1257": "cp1257",
    "cp1258": "cp1258",
    "tis-620": "cp874",
    "cp874": "cp874",
    "shift_jis_2004": "cp932",
    "cp932": "cp932",
    "euc_jis_2004": "euc_jp",
    "gb18030": "gb18030",
    "big5hkscs": "big5",
    "euc_kr": "cp949",
    "cp949": "cp949",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    "mac-roman": "mac_roman",
    "cp850": "cp850",
    "cp852": "cp852",
    "cp866": "cp866",
    "iso8859-2": "iso8859_2",
    "iso8859-5": "iso8859_5",
    "iso8859-6": "iso8859_6",
}
_WIDER = {"big5": "big5hkscs"}  # read with the second where the first cannot: the characters of Hong Kong
_WIDE = ("cp932", "euc_jp", "gb18030", "big5", "cp949")
_KANA = ("cp932", "euc_jp")
_RARER = frozenset({"mac_roman", "cp850", "cp852", "cp866", "iso8859_2", "iso8859_5", "iso8859_6", "koi8_r", "koi8_u"})
# Subtracted from a likelihood, as a share of it, and divided by the bytes of the sample: an encoding is this much less
# likely than Windows-1252 before anything is read, in the unit of what one character of the sample tells.
_LESS_IF_OTHER, _LESS_IF_RARER = 0.5, 0.7
_LESS_CLOSE = 1.5  # further subtracted from a rarer one before it is held against one that is not
_LESS_IF_ODD = 0.9  # share of the likelihood that is lost when all characters stand where they cannot
# A reading is close to the best one if its likelihood is this share lower at most, for a sample of so many bytes. In a
# longer sample the share that one character makes up is smaller, and there is more to tell the readings apart by: the
# power was fitted to wrong and right guesses of 43,000 samples of 50 to 500 bytes.
_CLOSE_SHARE, _CLOSE_BYTES, _CLOSE_POWER = 0.1, 50, 0.75
_TOLD_BY_ONE = 400  # bytes; more do not tell more for each byte beyond ASCII
_MOST_CLOSE = 2  # readings besides the guess that a user is asked about
_LEAST_BYTES, _MOST_BYTES = 150, 16 * 1024  # of a sample; chardet's scores use no more
_CONTROLS = bytes(each for each in range(32) if each not in b"\t\n\r")
_NEVER_WITHIN_CHARACTERS = re.compile(rb"[\0-\x2f]")
_PIECES = re.compile(rb".{100,}?[\0-\x2f]|.+", re.DOTALL)
_MOST_BROKEN = 200  # at most one of so many characters beyond ASCII may be broken


@dataclass(frozen=True, slots=True)
class Guess:
    """The likeliest codec, and those whose different reading of the same bytes is about as likely, likeliest first."""

    codec: str
    close: tuple[str, ...] = ()


def guess_encoding(sample: bytes, *, is_cut: bool = False) -> Guess:
    """Return the codec that gives the most plausible text, `FALLBACK` where nothing decides.

    The sample decodes in it, but for few broken characters. `is_cut` is whether the sample begins within a text, and so
    perhaps within a character; it may always end within one. The first call loads chardet, which takes 0.2 s.
    """
    sample = _whole_characters(sample, is_cut=is_cut).translate(None, _CONTROLS)
    telling = _without_broken_lines(_telling_part(sample))
    readings = _likely_readings(telling, sample) if telling else []
    if not readings:
        return Guess(next(codec for codec in (FALLBACK, _WITHOUT_GAPS) if _decodes_mostly(sample, codec)))
    best = readings[0]
    least = (1 - _margin(telling)) * best.likelihood
    is_usual = _decoded(telling, FALLBACK) == best.text and _decodes_mostly(sample, FALLBACK)
    close: dict[str, str] = {}  # codecs by their text: several encodings may agree on a sample
    for each in readings[1:]:
        less = _LESS_CLOSE if each.codec in _RARER and best.codec not in _RARER else 0.0
        if each.text != best.text and each.likelihood * (1 - less / len(telling)) > least:
            close.setdefault(each.text, each.codec)
    return Guess(FALLBACK if is_usual else best.codec, tuple(close.values())[:_MOST_CLOSE])


@dataclass(frozen=True, slots=True)
class _Reading:
    codec: str
    likelihood: float
    text: str


def _likely_readings(telling: bytes, sample: bytes) -> list[_Reading]:
    """The encodings in which the sample decodes and that are the likeliest, or close to it; the likeliest first.

    `telling` is the part of the sample that the likelihoods are of.
    """
    readings: list[_Reading] = []
    least = 0.0
    for codec, confidence in sorted(_confidences(telling).items(), key=lambda found: found[1], reverse=True):
        if confidence < least:
            break  # what is added only makes it less likely
        for tried in filter(None, (codec, _WIDER.get(codec))):
            text = _decoded(telling, tried)
            if text is not None and _decodes_mostly(sample, tried):
                likelihood = confidence * _factor(codec, text, len(telling))
                readings.append(_Reading(tried, likelihood, text))
                least = max(least, (1 - _margin(telling)) * likelihood)
                break
    return sorted(readings, key=lambda reading: reading.likelihood, reverse=True)


def _confidences(sample: bytes) -> dict[str, float]:
    """The codecs that chardet considers, each with its likelihood between 0 and 1."""
    import chardet  # loads slowly, and most files are UTF-8

    found: dict[str, float] = {}
    for each in chardet.detect_all(sample, True, compat_names=False, include_encodings=_CODECS):
        codec = _CODECS.get(each["encoding"] or "", "")
        if codec:
            found[codec] = max(found.get(codec, 0.0), each["confidence"])
    for codec in _KANA:
        if codec not in found and _is_kana(_decoded(sample, codec) or ""):
            found[codec] = 1.0  # for chardet their bytes are too much alike to be Japanese
    return found


def _decoded(sample: bytes, codec: str) -> str | None:
    """The text, perhaps without a character that the sample ends within; None if the codec cannot decode it."""
    try:
        return codecs.getincrementaldecoder(codec)("strict").decode(sample)
    except UnicodeDecodeError:
        return None


def _is_kana(text: str) -> bool:
    beyond = [sign for sign in text if sign > "\x7f"]
    return sum("\u3041" <= sign <= "\u30fe" for sign in beyond) * 2 > len(beyond)


def _factor(codec: str, text: str, size: int) -> float:
    less = 0.0 if codec == FALLBACK else _LESS_IF_RARER if codec in _RARER else _LESS_IF_OTHER
    return (1 - _LESS_IF_ODD * odd_share(text)) * max(0.5, 1 - less / max(1, size))


def _margin(sample: bytes) -> float:
    size = len(sample)
    telling = min(size, _TOLD_BY_ONE * max(1, sum(byte > 127 for byte in sample)))
    power: float = (_CLOSE_BYTES / telling) ** _CLOSE_POWER
    return _CLOSE_SHARE * _CLOSE_BYTES / size * power


def _whole_characters(sample: bytes, *, is_cut: bool) -> bytes:
    if not is_cut:
        return sample
    first = _NEVER_WITHIN_CHARACTERS.search(sample)
    return sample[sample.find(b"\n") + 1 or (first.end() if first else 0) :]


def _telling_part(sample: bytes) -> bytes:
    """As much as chardet looks at, of what is around bytes beyond ASCII: other parts may be in another language."""
    if len(sample) <= 2 * _LEAST_BYTES:
        return sample
    pieces: list[bytes] = _PIECES.findall(sample)
    telling = b"".join(piece for piece in pieces if not piece.isascii())
    rest = b"".join(piece for piece in pieces if piece.isascii())
    return (telling + rest[: max(0, _LEAST_BYTES - len(telling))])[:_MOST_BYTES]


def _decodes_mostly(sample: bytes, codec: str) -> bool:
    text = codecs.getincrementaldecoder(codec)("replace").decode(sample)
    broken = text.count("\ufffd")
    return broken == 0 or _are_few(broken, text)


def _are_few(broken: int, text: str) -> bool:
    return broken * _MOST_BROKEN <= sum(sign > "\x7f" for sign in text)


def _without_broken_lines(sample: bytes) -> bytes:
    """Leave out lines with half a character, which a program left that cuts cells after a number of bytes.

    chardet would not consider an encoding any more for one broken character among thousands.
    """
    for codec in _WIDE:
        text = sample.decode(codec, "replace")
        broken = text.count("\ufffd")
        if broken and _are_few(broken, text):
            return b"".join(line for line in sample.splitlines(keepends=True) if _decoded(line, codec) is not None)
    return sample


_IDEOGRAPHIC = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH", "HALFWIDTH", "IDEOGRAPHIC"})
_WITHIN_WORDS = frozenset("’·´-\xad\xa0")


def odd_share(text: str) -> float:
    """Return the share of the characters beyond ASCII that stand where no language has them.

    These are letters beside those of another script, capitals after small letters, small ones before capitals, signs
    within words, single letters of another script in a text of Latin ones, and what is no character of a text.
    """
    is_latin = _is_mostly_latin(text)
    padded = f" {text} "
    odd = seen = 0
    for index, sign in enumerate(text):
        if sign > "\x7f":
            seen += 1
            odd += _is_odd(padded[index], sign, padded[index + 2], is_latin=is_latin)
    return odd / seen if seen else 0.0


def _is_mostly_latin(text: str) -> bool:
    latin = sum(sign.isascii() and sign.isalpha() for sign in text)
    others = sum(sign > "\x7f" and _script(sign) not in ("", "LATIN") for sign in text)
    return latin > 2 * others


def _is_odd(left: str, sign: str, right: str, *, is_latin: bool) -> bool:
    category, script = unicodedata.category(sign), _script(sign)
    if category in ("Cc", "Cn", "Co", "Cs") or sign == "\ufffd" or _is_drawn(sign):
        return True
    if not script:
        is_sign = sign not in _WITHIN_WORDS and sign not in "ªºµ"
        return is_sign and bool(_script(left) and _script(right)) and _script(left) not in _IDEOGRAPHIC
    if script in _IDEOGRAPHIC:
        return _script(left) == _script(right) == "LATIN"
    if category == "Mn":
        return False
    if any(_script(beside) not in ("", script, *_IDEOGRAPHIC) for beside in (left, right)):
        return True
    if category == "Lu" and left.isalpha() and (left.islower() or right.islower()):
        return True
    if category == "Lu" and script == "LATIN" and right.isdigit() and not left.isalnum():
        return True  # a currency sign
    if category == "Ll" and right.isupper() and not left.isupper():
        return True
    return is_latin and script != "LATIN" and not _script(left) and not _script(right)


def _is_drawn(sign: str) -> bool:
    return "\u2500" <= sign <= "\u259f"  # lines and blocks of DOS


@lru_cache(maxsize=4096)
def _script(sign: str) -> str:
    """The first word of a letter's name in Unicode, which is its script; "" for what is no letter."""
    if not sign.isalpha() or sign in "ªºµ":
        return ""
    return unicodedata.name(sign, "").partition(" ")[0].partition("-")[0]


def few_are_broken(sample: bytes) -> bool:
    """Return whether a sample that is not valid UTF-8 is UTF-8 with a few broken bytes."""
    broken = len(sample) - len(sample.decode("utf-8", "ignore").encode())
    return broken * 20 < sum(byte > 127 for byte in sample)
