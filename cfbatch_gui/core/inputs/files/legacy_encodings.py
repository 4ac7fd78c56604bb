"""Guess the legacy encoding of a text from the letters into which each encoding decodes it.

For the sake of short texts every byte beyond ASCII is scored: by the frequency of its letter in the languages of the
encoding, and by the letters beside it. The guess is only preselected; the user decides.
"""

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import log

_PUNCTUATION = frozenset("、。，．・：；？！“”‘’（）《》「」『』【】〜…—·ー　％＋－０１２３４５６７８９")
_MOST_COMMON = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方"
    "多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日者意无力它与长把机十民第公此已工使情明性"
    "這個們來為國說時會對後學沒動過發還進樣開從實無與長機請您电電话話号號请最新月東京何方間部員年分回入金品店"
)
_SYLLABLES = frozenset(
    "이다는을의에가한하고지기로사어아도시자니스들대일정부인나리수그제해과라전상서원으만보장성주오구여있요안조습문동"
)
_FROM_PLAUSIBLE = {  # the logarithm of how often such a character stands among all
    "punctuation": log(0.03),
    "kana": log(0.012),
    "most": log(0.003),
    "common": log(0.0004),
}
_RARE, _WITHIN_WORD = log(1e-6), log(1e-10)
_WITHOUT_KANA = 5.0  # subtracted from the score of Japanese without kana


def _wide_scores(sample: bytes) -> dict[str, float]:
    """Return the logarithm of each codec's likelihood; a codec in which the sample is no text is left out."""
    scores = {codec: _wide_score(sample, codec, kind_of) for codec, kind_of in _KINDS.items()}
    return {codec: score for codec, score in scores.items() if score is not None}


def _wide_score(sample: bytes, codec: str, kind_of: Callable[[str], str]) -> float | None:
    try:
        text = codecs.getincrementaldecoder(codec)("strict").decode(sample)
    except UnicodeDecodeError:
        return None
    total, has_kana = 0.0, False
    for index, sign in enumerate(text):
        if sign <= "\x7f":
            continue
        if _is_within_word(text[index - 1 : index], text[index + 1 : index + 2]):
            total += _WITHIN_WORD
            continue
        kind = kind_of(sign)
        has_kana = has_kana or kind == "kana"
        total += _FROM_PLAUSIBLE.get(kind, _RARE)
    if len(text.encode(codec, "replace")) < len(sample):
        total += _RARE  # half a character is left over
    return total if has_kana or kind_of is not _japanese else total - _WITHOUT_KANA


def _is_within_word(left: str, right: str) -> bool:
    """Whether a small Latin letter is adjacent, as where an umlaut was taken for half a character."""
    return "a" <= left <= "z" or "a" <= right <= "z"


def _lead(sign: str, codec: str) -> int:
    """The first of the two bytes that a character has in a codec, 0 when it has not two."""
    try:
        data = sign.encode(codec)
    except UnicodeEncodeError:
        return 0
    return data[0] if len(data) == 2 else 0


def _of_all(sign: str) -> str:
    return "punctuation" if sign in _PUNCTUATION else "most" if sign in _MOST_COMMON else ""


def _japanese(sign: str) -> str:
    if "\u3041" <= sign <= "\u30fe":
        return "kana"
    return _of_all(sign) or ("common" if 0x88 <= _lead(sign, "cp932") <= 0x98 else "")


def _simplified(sign: str) -> str:
    return _of_all(sign) or ("common" if 0xB0 <= _lead(sign, "gb2312") <= 0xD7 else "")


def _traditional(sign: str) -> str:
    return _of_all(sign) or ("common" if 0xA4 <= _lead(sign, "big5") <= 0xC6 else "")


def _korean(sign: str) -> str:
    if sign in _SYLLABLES:
        return "kana"  # frequent syllables are as likely as kana
    return _of_all(sign) if sign in _PUNCTUATION else "common" if 0xB0 <= _lead(sign, "euc_kr") <= 0xC8 else ""


_KINDS: dict[str, Callable[[str], str]] = {
    "cp932": _japanese,
    "euc_jp": _japanese,
    "gb18030": _simplified,
    "big5": _traditional,
    "cp949": _korean,
}


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
# Subtracted from the score of encodings that are less frequent than cp1252; a natural logarithm.
_LESS = {"cp1250": 0.5, "cp1254": 0.7, "cp1257": 1.0, "iso8859_2": 2.0, "mac_roman": 3.0, "cp850": 3.0, "cp852": 4.0}
_SIGNS = frozenset("“”„‚‘’‹›«»–—…•€£§°·©®™№×\u00a0²³½´")
_STAND_ALONE = frozenset("àèéóòúåöáÀÉÅÖÁ")  # letters that are words
_SIGN, _APOSTROPHE, _STRANGE = log(0.02), log(0.15), log(1e-5)
_ODD = log(0.02)  # a letter where letters of its kind seldom stand
_MOST = 2_000  # bytes beyond ASCII that are looked at


def guess_encoding(sample: bytes) -> str:
    """Return the codec that gives the most plausible text; "cp1252" where nothing decides.

    `sample` may begin and end within a character.
    """
    sample = _with_most(sample)
    high = _around_high(sample)
    scores = {codec: _score(high, codec) for codec in _CODECS} | _wide_scores(sample)
    return max(scores, key=lambda codec: scores[codec])


def _with_most(sample: bytes) -> bytes:
    """As much of the sample as holds `_MOST` bytes beyond ASCII, from the beginning of a line if it is cut there."""
    if sample[:1] > b"\x7f":
        sample = sample[sample.find(b"\n") + 1 :]
    seen = 0
    for index, byte in enumerate(sample):
        seen += byte > 127
        if seen == _MOST:
            return sample[: index + 1]
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
    return [(padded[index], byte, padded[index + 2]) for index, byte in enumerate(sample) if byte > 127]


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
