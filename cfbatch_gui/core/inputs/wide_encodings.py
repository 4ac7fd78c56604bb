"""How plausible bytes are as Japanese, Chinese or Korean, by which characters they would be.

The standards put the common characters first: what a wrong encoding reads from the same bytes is mostly rare ones.
"""

import codecs
from collections.abc import Callable
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
_WITHOUT_KANA = 5.0  # how much less plausible Japanese is without any


def wide_scores(sample: bytes) -> dict[str, float]:
    """Return the logarithm of each codec's likelihood; a codec in which the sample is no text is left out."""
    scores = {codec: _score(sample, codec, kind_of) for codec, kind_of in _KINDS.items()}
    return {codec: score for codec, score in scores.items() if score is not None}


def _score(sample: bytes, codec: str, kind_of: Callable[[str], str]) -> float | None:
    try:
        text = codecs.getincrementaldecoder(codec)("strict").decode(sample)
    except UnicodeDecodeError:
        return None
    total, has_kana = 0.0, False
    for place, sign in enumerate(text):
        if sign <= "\x7f":
            continue
        if _is_within_word(text[place - 1 : place], text[place + 1 : place + 2]):
            total += _WITHIN_WORD
            continue
        kind = kind_of(sign)
        has_kana = has_kana or kind == "kana"
        total += _FROM_PLAUSIBLE.get(kind, _RARE)
    if len(text.encode(codec, "replace")) < len(sample):
        total += _RARE  # half a character is left over
    return total if has_kana or kind_of is not _japanese else total - _WITHOUT_KANA


def _is_within_word(left: str, right: str) -> bool:
    """Whether a small Latin letter stands beside, as where an umlaut was taken for half a character."""
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
        return "kana"  # of letters, too, there are few
    return _of_all(sign) if sign in _PUNCTUATION else "common" if 0xB0 <= _lead(sign, "euc_kr") <= 0xC8 else ""


_KINDS: dict[str, Callable[[str], str]] = {
    "cp932": _japanese,
    "euc_jp": _japanese,
    "gb18030": _simplified,
    "big5": _traditional,
    "cp949": _korean,
}
