"""Find a text file's encoding: a byte order mark, escapes, valid UTF-8, or UTF-16; otherwise a guess."""

import codecs
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from cfbatch_gui.core.errors import EncodingUnknown, UsageError
from cfbatch_gui.core.inputs.files.legacy_encodings import few_are_broken, guess_encoding
from cfbatch_gui.core.inputs.files.open_file import open_bytes
from cfbatch_gui.core.messages import message

# The encodings that the user may choose, the most likely first: Python codec and common name.
CHOICES: tuple[tuple[str, str], ...] = (
    ("utf-8", message("Unicode (UTF-8)")),
    ("cp1252", message("Western European (Windows-1252)")),
    ("cp1250", message("Central European (Windows-1250)")),
    ("cp1251", message("Cyrillic (Windows-1251)")),
    ("cp1253", message("Greek (Windows-1253)")),
    ("cp1254", message("Turkish (Windows-1254)")),
    ("cp1255", message("Hebrew (Windows-1255)")),
    ("cp1256", message("Arabic (Windows-1256)")),
    ("cp1257", message("Baltic (Windows-1257)")),
    ("cp1258", message("Vietnamese (Windows-1258)")),
    ("cp874", message("Thai (Windows-874)")),
    ("cp932", message("Japanese (Shift-JIS)")),
    ("euc_jp", message("Japanese (EUC-JP)")),
    ("iso2022_jp", message("Japanese (ISO-2022-JP)")),
    ("gb18030", message("Chinese, simplified (GB18030)")),
    ("big5", message("Chinese, traditional (Big5)")),
    ("cp949", message("Korean (Windows-949)")),
    ("koi8_r", message("Cyrillic (KOI8-R)")),
    ("koi8_u", message("Ukrainian (KOI8-U)")),
    ("cp866", message("Cyrillic (CP866, DOS)")),
    ("iso8859_5", message("Cyrillic (ISO 8859-5)")),
    ("mac_roman", message("Western European (Mac Roman)")),
    ("cp850", message("Western European (CP850, DOS)")),
    ("iso8859_2", message("Central European (ISO 8859-2)")),
    ("cp852", message("Central European (CP852, DOS)")),
    ("iso8859_6", message("Arabic (ISO 8859-6)")),
    ("utf-16-le", message("Unicode (UTF-16)")),
    ("utf-16-be", message("Unicode (UTF-16, big-endian)")),
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
    """How a file's letters are encoded. `other_codecs` give about as likely a reading where the codec is a guess."""

    codec: str
    is_guessed: bool = False
    other_codecs: tuple[str, ...] = ()


def marked_encoding(head: bytes) -> str:
    """Return the codec that a byte order mark stands for, "" without one."""
    return next((codec for mark, codec in _MARKS if head.startswith(mark)), "")


def shown_name(codec: str) -> str:
    """Return the common name of a codec: "UTF-8", "Windows-1252"; "" for a workbook."""
    plain = codec.removesuffix("-sig")
    label = dict(CHOICES).get(plain, "")
    if label.endswith(")"):
        return label[label.rindex("(") + 1 : -1].partition(",")[0]
    return plain.upper().replace("_", "-")


def known_encoding(name: str, head: bytes) -> str:
    """Return the codec of an encoding the user has chosen for a file that begins so, as it is named in `CHOICES` or by
    Python. Raises UsageError.
    """
    try:
        info = codecs.lookup(name)
        b"text".decode(info.name, "replace")  # refuses codecs that are not encodings of text
    except (LookupError, UnicodeError, ValueError) as exc:
        raise _no_encoding(name, str(exc)) from exc
    if info.incrementaldecoder is None:
        raise _no_encoding(name, "no incremental decoder")
    if info.name in ("utf-16", "utf-32") and marked_encoding(head) != info.name:
        return f"{info.name}-le"  # without a mark the plain names do not decode
    plain = info.name.replace("-", "_")
    return next((codec for codec, _ in CHOICES if codec.replace("-", "_") == plain), info.name)


def _no_encoding(name: str, detail: str) -> UsageError:
    return UsageError(
        message("“{name}” is not the name of an encoding. Try utf-8, cp1252 or shift_jis.", name=name), detail=detail
    )


def find_encoding(path: Path, most_checked: int = 0) -> Encoding:
    """Return the encoding of a text file: by its mark, by escapes, else UTF-8 if so many bytes are valid, by default
    `MOST_CHECKED`, or if nearly all are; else a guess.
    """
    with open_bytes(path) as file:
        return encoding_of(file, most_checked)


def encoding_of(file: BinaryIO, most_checked: int = 0) -> Encoding:
    """Return the encoding as `find_encoding` does, of a file that is open at its beginning."""
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
        return _guess(file, position + exc.start)
    return Encoding("utf-8")


def not_utf8(sample: bytes, name: str, detail: str) -> EncodingUnknown:
    """Return the error for a file that was taken for UTF-8 until this sample from within it was read."""
    found = _guess_from(sample, is_cut=True)
    return EncodingUnknown(
        message(
            "{name} is not UTF-8 as it begins, but perhaps {encoding}. Choose the encoding in which its text "
            "looks right.",
            name=name,
            encoding=shown_name(found.codec),
        ),
        file_name=name,
        guess=found.codec,
        others=found.other_codecs,
        detail=detail,
    )


def _escaped(sample: bytes) -> str:
    """The variant of ISO 2022 in which a sample decodes that begins with an escape, "" for none."""
    for codec in _ESCAPED:
        try:
            text = codecs.getincrementaldecoder(codec)("strict").decode(sample)
        except UnicodeDecodeError:
            continue
        if not text.isascii():
            return codec
    return ""


def unmarked_utf16(sample: bytes) -> str:
    """Return the codec if a text begins so in UTF-16 without a mark, "" if that is not sure.

    A space or a line end is a zero and a byte; read in the wrong order it is another character or none.
    """
    if len(sample) < 4 or 0 not in sample or _is_utf8_with_zeros(sample):
        return ""
    plain = {}
    for codec in ("utf-16-le", "utf-16-be"):
        try:
            text = codecs.getincrementaldecoder(codec)("strict").decode(sample)
        except UnicodeDecodeError:
            continue
        if not any(_is_no_text(sign) for sign in set(text)):
            plain[codec] = sum(sign < "\x7f" for sign in text)
    best = max(plain, key=lambda codec: plain[codec], default="")
    return best if best and plain[best] > 8 * sum(plain[each] for each in plain if each != best) else ""


def _is_utf8_with_zeros(sample: bytes) -> bool:
    try:
        if not codecs.getincrementaldecoder("utf-8")("strict").decode(sample).isascii():
            return True
    except UnicodeDecodeError:
        pass
    # In UTF-16 every other byte of Latin letters is a zero, and of kana "0"; of other scripts it is no sign of ASCII.
    counts = Counter(sample)
    printable = sum(count for byte, count in counts.items() if 31 < byte < 127 or byte in b"\t\n\r")
    return printable > 0.7 * len(sample) and max(counts.values()) < 0.3 * len(sample)


def _is_no_text(sign: str) -> bool:
    return sign not in "\t\n\r\f\x0b" and unicodedata.category(sign) in ("Cc", "Cn", "Co", "Cs")


def _guess(file: BinaryIO, at: int) -> Encoding:
    start = max(0, at - _SAMPLE // 2)
    file.seek(start)
    return _guess_from(file.read(_SAMPLE), is_cut=start > 0)


def _guess_from(sample: bytes, *, is_cut: bool) -> Encoding:
    if few_are_broken(sample):
        return Encoding("utf-8")
    found = guess_encoding(sample, is_cut=is_cut)
    return Encoding(found.codec, True, found.close)
