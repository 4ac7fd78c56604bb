"""Find a text file's encoding: a byte order mark, escapes, valid UTF-8, or UTF-16; otherwise a guess."""

import codecs
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO

from cfbatch_gui.core.errors import EncodingUnknown, UsageError
from cfbatch_gui.core.messages import message

# The encodings that the user may choose, the most likely first: Python codec and common name.
CHOICES: tuple[tuple[str, str], ...] = (
    ("utf-8", message("unicode_utf_8")),
    ("cp1252", message("western_european_windows_1252")),
    ("cp1250", message("central_european_windows_1250")),
    ("cp1251", message("cyrillic_windows_1251")),
    ("cp1253", message("greek_windows_1253")),
    ("cp1254", message("turkish_windows_1254")),
    ("cp1255", message("hebrew_windows_1255")),
    ("cp1256", message("arabic_windows_1256")),
    ("cp1257", message("baltic_windows_1257")),
    ("cp1258", message("vietnamese_windows_1258")),
    ("cp874", message("thai_windows_874")),
    ("cp932", message("japanese_shift_jis")),
    ("euc_jp", message("japanese_euc_jp")),
    ("iso2022_jp", message("japanese_iso_2022_jp")),
    ("gb18030", message("chinese_simplified_gb18030")),
    ("big5hkscs", message("chinese_traditional_big5")),
    ("cp949", message("korean_windows_949")),
    ("koi8_r", message("cyrillic_koi8_r")),
    ("koi8_u", message("ukrainian_koi8_u")),
    ("cp866", message("cyrillic_cp866_dos")),
    ("iso8859_5", message("cyrillic_iso_8859_5")),
    ("mac_roman", message("western_european_mac_roman")),
    ("cp850", message("western_european_cp850_dos")),
    ("iso8859_2", message("central_european_iso_8859_2")),
    ("cp852", message("central_european_cp852_dos")),
    ("iso8859_6", message("arabic_iso_8859_6")),
    ("utf-16-le", message("unicode_utf_16")),
    ("utf-16-be", message("unicode_utf_16_big_endian")),
)

_MARKS = (  # UTF-32's little-endian mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The escapes of ISO 2022 are all of 7 bits, so that a text in it is valid UTF-8.
_ESCAPES = re.compile(rb"\x1b(?:\$[@B]|\$\([DQP]|\([JI]|\$\)C)")
_ESCAPED = ("iso2022_jp", "iso2022_jp_2", "iso2022_jp_3", "iso2022_jp_ext", "iso2022_kr")
MOST_CHECKED = 64 * 1024 * 1024  # bytes; the rest is checked when it is read
_PIECE = 1024 * 1024
_SAMPLE = 64 * 1024  # bytes that a guess is made from


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's letters are encoded; `other_codecs` are about as likely as a guessed one."""

    codec: str
    is_guessed: bool = False
    other_codecs: tuple[str, ...] = ()


def marked_encoding(head: bytes) -> str:
    """The codec that a byte order mark stands for, "" without one."""
    return next((codec for mark, codec in _MARKS if head.startswith(mark)), "")


def shown_name(codec: str) -> str:
    """The common name of a codec: "UTF-8", "Windows-1252"; "" for a workbook."""
    plain = codec.removesuffix("-sig")
    label = dict(CHOICES).get(plain, "")
    if label.endswith(")"):
        return label[label.rindex("(") + 1 : -1].partition(",")[0]
    return plain.upper().replace("_", "-")


def known_encoding(name: str, head: bytes) -> str:
    """The codec of an encoding that the user has named as `CHOICES` or Python does. Raises UsageError."""
    try:
        info = codecs.lookup(name)
        codecs.getincrementaldecoder(name)
        b"text".decode(info.name, "replace")  # refuses codecs that are not encodings of text
    except (LookupError, UnicodeError, ValueError) as exc:
        raise UsageError(message("name_is_not_name_encoding_try", name=name), detail=str(exc)) from exc
    if info.name in ("utf-16", "utf-32") and marked_encoding(head) != info.name:
        return f"{info.name}-le"  # without a mark the plain names do not decode
    plain = info.name.replace("-", "_")
    return next((codec for codec, _ in CHOICES if codec.replace("-", "_") == plain), info.name)


def encoding_of(file: BinaryIO, most_checked: int = 0) -> Encoding:
    """The encoding by mark or escapes, UTF-8 if (nearly) all of `most_checked` bytes are, else a guess."""
    data = file.read(_PIECE)
    if marked := marked_encoding(data):
        return Encoding(marked)
    if found := unmarked_utf16(data[:_SAMPLE]):
        return Encoding(found)
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    position = 0
    try:
        while data and position < (most_checked or MOST_CHECKED):
            decoder.decode(data)
            if (escape := _ESCAPES.search(data)) and (found := _escaped(data[escape.start() :][:_SAMPLE])):
                return Encoding(found)
            position += len(data)
            data = file.read(_PIECE)
        if not data:
            decoder.decode(b"", final=True)
    except UnicodeDecodeError as exc:
        start = max(0, position + exc.start - _SAMPLE // 2)
        file.seek(start)
        return guess_encoding(file.read(_SAMPLE), is_cut=start > 0)
    return Encoding("utf-8")


def not_utf8(sample: bytes, name: str, detail: str) -> EncodingUnknown:
    """The error for a file that was taken for UTF-8 until this sample from within it was read."""
    found = guess_encoding(sample, is_cut=True)
    said = message("name_is_not_utf_8_begins", name=name, encoding=shown_name(found.codec))
    return EncodingUnknown(said, file_name=name, guess=found.codec, others=found.other_codecs, detail=detail)


def _escaped(sample: bytes) -> str:
    """The variant of ISO 2022 in which a sample decodes that begins with an escape, "" for none."""
    return next((codec for codec in _ESCAPED if not (_decoded(sample, codec) or "").isascii()), "")


def unmarked_utf16(sample: bytes) -> str:
    """The codec if a text begins so in UTF-16 without a mark, "" if that is not sure."""
    if 0 not in sample or not (_decoded(sample, "utf-8") or "").isascii():
        return ""
    import chardet  # loads slowly, and most files have no zeros

    found = chardet.detect(sample, compat_names=False)["encoding"] or ""
    return found if found in ("utf-16-le", "utf-16-be") else ""


FALLBACK = "cp1252"  # where nothing decides
_WITHOUT_GAPS = "mac_roman"  # every byte has a character

# chardet's names of the encodings that are considered, each with the Python codec that it is read with: where Windows
# has a superset, or its own variant that programs mean by the name, that one.
_CODECS = {
    **{f"cp{number}": f"cp{number}" for number in (*range(1250, 1259), 850, 852, 866, 874, 932, 949)},
    **{"gb18030": "gb18030", "big5hkscs": "big5hkscs"},
    **{"iso8859-1": "cp1252", "iso8859-9": "cp1254", "tis-620": "cp874", "shift_jis_2004": "cp932"},
    **{"euc_jis_2004": "euc_jp", "euc_kr": "cp949", "koi8-r": "koi8_r", "koi8-u": "koi8_u"},
    **{"mac-roman": "mac_roman", "iso8859-2": "iso8859_2", "iso8859-5": "iso8859_5", "iso8859-6": "iso8859_6"},
}
_OTHER = 0.5  # an encoding is so much less likely than Windows-1252 before anything is read, as a share of a byte
# A reading is close to the best one if it is behind by this share of the likelihood in a sample of one byte, and by
# less in a longer one: there one character is a smaller part, and there is more to tell the readings apart by.
_CLOSE, _CLOSE_POWER = 100.0, 1.75
_MOST_CLOSE = 2  # readings besides the guess that a user is asked about
_MOST_BYTES = 16 * 1024  # of a sample; chardet's scores use no more
_CONTROLS = bytes(each for each in range(32) if each not in b"\t\n\r")
_NEVER_WITHIN_CHARACTERS = re.compile(rb"[\0-\x2f]")
_WIDE = ("cp932", "euc_jp", "gb18030", "big5hkscs", "cp949")
_WITHIN_WORDS = frozenset("ªºµ´’·\xad\xa0")
_IDEOGRAPHIC = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH", "HALFWIDTH", "IDEOGRAPHIC"})
_MOST_BROKEN = 0.005  # share of the characters beyond ASCII that some program may have cut in two


def guess_encoding(sample: bytes, *, is_cut: bool = False) -> Encoding:
    """UTF-8 if little of a sample is broken, else chardet's guess; `FALLBACK` where nothing decides.

    The first call loads the library (0.2 s).
    """
    broken = len(sample) - len(sample.decode("utf-8", "ignore").encode())
    if broken * 20 < sum(byte > 127 for byte in sample):
        return Encoding("utf-8")
    import chardet  # loads slowly, and most files are UTF-8

    if is_cut:
        first = _NEVER_WITHIN_CHARACTERS.search(sample)
        sample = sample[sample.find(b"\n") + 1 or (first.end() if first else 0) :]
    sample = sample.translate(None, _CONTROLS)
    lines = sorted(sample.splitlines(keepends=True), key=bytes.isascii)  # others may be in another language
    if wide := next((codec for codec in _WIDE if 0 < _broken_share(sample, codec) <= _MOST_BROKEN), ""):
        lines = [line for line in lines if not _broken_share(line, wide)]
    telling = b"".join(lines)[:_MOST_BYTES]
    usual = FALLBACK if _broken_share(sample, FALLBACK) <= _MOST_BROKEN else _WITHOUT_GAPS
    codecs_by_text = {telling.decode(usual, "replace"): usual}  # several encodings may agree on a sample
    likelihoods: dict[str, float] = {}
    behind = 1 - min(1.0, _CLOSE / max(1, len(telling)) ** _CLOSE_POWER)
    for each in chardet.detect_all(telling, True, compat_names=False, include_encodings=_CODECS) if telling else ():
        if each["confidence"] < behind * max(likelihoods.values(), default=0.0):
            break  # those that follow are less likely
        codec = _CODECS.get(each["encoding"] or "", usual)
        if _broken_share(sample, codec) <= _MOST_BROKEN:
            text = telling.decode(codec, "replace")
            codec = codecs_by_text.setdefault(text, codec)
            likelihood = each["confidence"] * (1 - _odd_share(text)) * (1 - (codec != FALLBACK) * _OTHER / len(telling))
            likelihoods[codec] = max(likelihoods.get(codec, 0.0), likelihood)
    least = behind * max(likelihoods.values(), default=0.0)
    readings = sorted(likelihoods, key=lambda codec: likelihoods[codec], reverse=True)
    guess, *close = [codec for codec in readings if likelihoods[codec] >= least] or [usual]
    return Encoding(guess, True, tuple(close[:_MOST_CLOSE]))


def _odd_share(text: str) -> float:
    """The share of the characters beyond ASCII that stand where no language has them."""
    beyond = [index for index, sign in enumerate(text) if sign > "\x7f"]
    return sum(_is_odd(text[max(0, index - 1) : index + 2], text[index]) for index in beyond) / max(1, len(beyond))


def _is_odd(around: str, sign: str) -> bool:
    """Whether a letter is beside one of another script, a capital after a small one, or a sign within a word."""
    before, _, after = around.rpartition(sign)
    if sign in _WITHIN_WORDS:
        return False
    if not sign.isalpha():
        return before.isalpha() and after.isalpha() and unicodedata.category(sign)[0] not in "MP"
    scripts = {_script(letter) for letter in around if letter.isalpha()} - _IDEOGRAPHIC
    return len(scripts) > 1 or (before.islower() and sign.isupper()) or (sign.islower() and after.isupper())


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _decoded(sample: bytes, codec: str) -> str | None:
    """The text, perhaps without a character that the sample ends within; None if the codec cannot decode it."""
    try:
        return codecs.getincrementaldecoder(codec)("strict").decode(sample)
    except UnicodeDecodeError:
        return None


def _broken_share(sample: bytes, codec: str) -> float:
    """How many characters beyond ASCII are broken, but for one that the sample ends within."""
    text = codecs.getincrementaldecoder(codec)("replace").decode(sample)
    broken = text.count("\ufffd")
    return broken / sum(sign > "\x7f" for sign in text) if broken else 0.0
