"""Guess in which encoding of the time before Unicode a text was written, from the letters that each would give.

A page of text is easy; a few short lines are not, so every byte that tells counts: how often a letter stands in the
languages that an encoding is for, and whether it fits the letters beside it. A guess is only ever preselected.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import log

from cfbatch_gui.core.inputs.wide_encodings import wide_scores

# The letters beyond ASCII of each language, the most frequent first; of other scripts all letters.
_LATIN = {
    "de": "üäößéà",
    "en": "éïèñçöü",
    "fr": "éèàêçôâûîùïëœæ",
    "es": "óáíéñúü¿¡ºª",
    "pt": "ãçáéõíóêâúàôºª",
    "it": "èàùòìéîº",
    "sv": "äåöé",
    "da": "æøåéö",
    "nl": "ëéïèöüó",
    "pl": "łęążóśćńź",
    "cs": "áíéěřžýčšůúťóďň",
    "sk": "áíéžýčšúťôňľóäďŕĺ",
    "hu": "áéóöőíüúű",
    "hr": "čšžćđ",
    "ro": "ăîâşţ",
    "tr": "ışğüçöİâ",
    "lt": "ėšųįąžūęč",
    "lv": "āīēšņļūķžģč",
    "et": "äõüöšž",
}
_OTHER = {
    "ru": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "uk": "оаниівтесрклудмпязьбгйчхїжцшюєщфґ",
    "el": "αοιετσνηυρπκμλωςίόέάήώύδχθγφβξζψϊΐϋ",
    "he": "יוהלאתרבםשמנחקדעפטצגסכזןךץףּ",
    "ar": "اليمونترةبدعسفهكقأحجشطصىخإضذئزثءغؤظآپگچژ،؟",
}
_WESTERN = ("de", "en", "fr", "es", "pt", "it", "sv", "da", "nl")
_CODECS: dict[str, tuple[str, ...]] = {
    "cp1252": _WESTERN,
    "cp1250": ("pl", "cs", "sk", "hu", "hr", "ro"),
    "iso8859_2": ("pl", "cs", "sk", "hu", "hr"),
    "cp1254": ("tr",),
    "cp1257": ("lt", "lv", "et"),
    "cp1251": ("ru", "uk"),
    "koi8_r": ("ru",),
    "cp1253": ("el",),
    "cp1255": ("he",),
    "cp1256": ("ar",),
    "mac_roman": _WESTERN,
    "cp850": _WESTERN,
    "cp852": ("pl", "cs", "sk", "hu", "hr"),
}
# How much less an encoding is expected than Windows' own of the most readers, as a natural logarithm.
_LESS = {"cp1250": 0.5, "cp1254": 0.7, "cp1257": 1.0, "iso8859_2": 2.0, "mac_roman": 3.0, "cp850": 3.0, "cp852": 4.0}
_SIGNS = frozenset("“”„‚‘’‹›«»–—…•€£§°·©®™№×\u00a0²³½´")
_STAND_ALONE = frozenset("àèéóòúåöáÀÉÅÖÁ")  # letters that are words
_SIGN, _APOSTROPHE, _STRANGE = log(0.02), log(0.15), log(1e-5)
_ODD = log(0.02)  # a letter where letters of its kind seldom stand
_MOST = 2_000  # bytes beyond ASCII that are looked at


def guess_encoding(sample: bytes) -> str:
    """Return the codec that gives the most plausible text; "cp1252" where nothing tells.

    `sample` may begin and end within a character.
    """
    sample = _with_most(sample)
    high = _around_high(sample)
    scores = {codec: _score(high, codec) for codec in _CODECS} | wide_scores(sample)
    return max(scores, key=lambda codec: scores[codec])


def _with_most(sample: bytes) -> bytes:
    """As much of the sample as holds `_MOST` bytes beyond ASCII, from the beginning of a line if it is cut there."""
    if sample[:1] > b"\x7f":
        sample = sample[sample.find(b"\n") + 1 :]
    seen = 0
    for place, byte in enumerate(sample):
        seen += byte > 127
        if seen == _MOST:
            return sample[: place + 1]
    return sample


@dataclass(frozen=True, slots=True)
class _Language:
    letters: dict[str, float]  # the logarithm of how often each stands among all of its kind
    is_latin: bool


@lru_cache(maxsize=32)
def _language(name: str) -> _Language:
    order = _LATIN.get(name) or _OTHER[name]
    whole = sum(1 / (rank + 2) for rank in range(len(order)))
    letters = {}
    for rank, letter in enumerate(order):
        often = 0.9 / (rank + 2) / whole
        letters[letter] = log(often)
        upper = letter.upper()
        if len(upper) == 1 and upper != letter:
            letters.setdefault(upper, log(often / 12))
    return _Language(letters, name in _LATIN)


def _around_high(sample: bytes) -> list[tuple[int, int, int]]:
    """Each byte beyond ASCII between its neighbours."""
    padded = b" " + sample + b" "
    return [(padded[place], byte, padded[place + 2]) for place, byte in enumerate(sample) if byte > 127]


def _score(high: list[tuple[int, int, int]], codec: str) -> float:
    table = "".join(bytes([byte]).decode(codec, "replace") for byte in range(256))
    best = max(_likelihood(high, table, _language(name)) for name in _CODECS[codec])
    return best - _LESS.get(codec, 0.0)


def _likelihood(high: list[tuple[int, int, int]], table: str, language: _Language) -> float:
    total = 0.0
    for before, byte, after in high:
        letter, left, right = table[byte], table[before], table[after]
        known = language.letters.get(letter)
        if known is None:
            total += _of_sign(letter, left, right)
        else:
            total += known + (_ODD if _is_odd(letter, left, right, is_latin=language.is_latin) else 0.0)
    return total


def _of_sign(sign: str, left: str, right: str) -> float:
    if sign not in _SIGNS:
        return _STRANGE
    if left.isalpha() and right.isalpha():
        return _APOSTROPHE if sign == "’" else _STRANGE
    return _SIGN


def _is_odd(letter: str, left: str, right: str, *, is_latin: bool) -> bool:
    """A capital within a word, a letter that stands alone, or one beside those of another script."""
    if letter.isupper() and left.islower():
        return True
    if not is_latin:
        return _is_ascii_letter(left) or _is_ascii_letter(right)
    return letter.isalpha() and not left.isalpha() and not right.isalpha() and letter not in _STAND_ALONE


def _is_ascii_letter(sign: str) -> bool:
    return sign.isascii() and sign.isalpha()
