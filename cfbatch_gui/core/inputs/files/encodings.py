"""Find a text file's encoding: a byte order mark, or valid UTF-8; otherwise the user must choose."""

import codecs
from pathlib import Path
from typing import BinaryIO

from cfbatch_gui.core.errors import EncodingUnknown, UsageError
from cfbatch_gui.core.inputs.files.legacy_encodings import guess_encoding
from cfbatch_gui.core.inputs.files.open_file import open_bytes

# The encodings that the user may choose, the most likely first: Python codec and common name.
CHOICES: tuple[tuple[str, str], ...] = (
    ("utf-8", "Unicode (UTF-8)"),
    ("cp1252", "Western European (Windows-1252)"),
    ("cp1250", "Central European (Windows-1250)"),
    ("cp1251", "Cyrillic (Windows-1251)"),
    ("cp1253", "Greek (Windows-1253)"),
    ("cp1254", "Turkish (Windows-1254)"),
    ("cp1255", "Hebrew (Windows-1255)"),
    ("cp1256", "Arabic (Windows-1256)"),
    ("cp1257", "Baltic (Windows-1257)"),
    ("cp932", "Japanese (Shift-JIS)"),
    ("euc_jp", "Japanese (EUC-JP)"),
    ("gb18030", "Chinese, simplified (GB18030)"),
    ("big5", "Chinese, traditional (Big5)"),
    ("cp949", "Korean (Windows-949)"),
    ("koi8_r", "Cyrillic (KOI8-R)"),
    ("mac_roman", "Western European (Mac)"),
    ("cp850", "Western European (CP850, DOS)"),
    ("iso8859_2", "Central European (ISO 8859-2)"),
    ("cp852", "Central European (CP852, DOS)"),
    ("utf-16-le", "Unicode (UTF-16)"),
    ("utf-16-be", "Unicode (UTF-16, big-endian)"),
)

_MARKS = (  # UTF-32's little-endian mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
MOST_CHECKED = 64 * 1024 * 1024  # bytes; the rest is checked when it is read
_PIECE = 1024 * 1024
_GUESS_FROM = 64 * 1024  # bytes


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
    """Return Python's name of an encoding the user has chosen for a file that begins so. Raises UsageError."""
    try:
        info = codecs.lookup(name)
        b"text".decode(info.name, "replace")  # refuses codecs that are not encodings of text
    except (LookupError, UnicodeError, ValueError) as exc:
        raise _no_encoding(name, str(exc)) from exc
    if info.incrementaldecoder is None:
        raise _no_encoding(name, "no incremental decoder")
    if info.name in ("utf-16", "utf-32") and marked_encoding(head) != info.name:
        return f"{info.name}-le"  # without a mark the plain names do not decode
    return info.name


def _no_encoding(name: str, detail: str) -> UsageError:
    return UsageError(f"“{name}” is not the name of an encoding. Try utf-8, cp1252 or shift_jis.", detail=detail)


def find_encoding(path: Path, most_checked: int = 0) -> str:
    """Return the codec of a text file: by its mark, else utf-8 if so many bytes are valid, by default `MOST_CHECKED`.

    Raises EncodingUnknown with a guess to preselect. It must not be used without the user's choice: on short texts it
    is often wrong.
    """
    with open_bytes(path) as file:
        return encoding_of(file, path.name, most_checked)


def encoding_of(file: BinaryIO, name: str, most_checked: int = 0) -> str:
    """Return the codec as `find_encoding` does, of a file that is open at its beginning; `name` is for the error."""
    data = file.read(_PIECE)
    if marked := marked_encoding(data):
        return marked
    if guess := _unmarked_utf16(data):
        raise _unknown(name, guess, "no byte order mark, zeros in every other byte")
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    position = 0
    try:
        while data and position < (most_checked or MOST_CHECKED):
            decoder.decode(data)
            position += len(data)
            data = file.read(_PIECE)
        if not data:
            decoder.decode(b"", final=True)
    except UnicodeDecodeError as exc:
        at = position + exc.start
        raise _unknown(name, _guess(file, at), f"not UTF-8 near byte {at:,}: {exc.reason}") from exc
    return "utf-8"


def not_utf8(sample: bytes, name: str, detail: str) -> EncodingUnknown:
    """Return the error for a file that was taken for UTF-8 until this sample of it was read."""
    return _unknown(name, _guess_from(sample), detail)


def _unknown(name: str, guess: str, detail: str) -> EncodingUnknown:
    return EncodingUnknown(
        f"{name} does not say how its letters are encoded, and it is not UTF-8. "
        "Choose the encoding in which its text looks right.",
        guess=guess,
        detail=detail,
    )


def _unmarked_utf16(head: bytes) -> str:
    sample = head[:4096]
    if len(sample) < 4:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    mostly = 0.4 * len(sample) / 2
    if odd > mostly and even < odd / 8:
        return "utf-16-le"
    if even > mostly and odd < even / 8:
        return "utf-16-be"
    return ""


def _guess(file: BinaryIO, at: int) -> str:
    start = max(0, at - _GUESS_FROM // 2)
    file.seek(start)
    sample = file.read(_GUESS_FROM)
    if start:  # perhaps within a character
        sample = sample[sample.find(b"\n") + 1 :]
    return _guess_from(sample)


def _guess_from(sample: bytes) -> str:
    broken = len(sample) - len(sample.decode("utf-8", "ignore").encode())
    letters = sum(byte > 127 for byte in sample)
    if broken * 20 < letters:
        return "utf-8"  # a few broken bytes in what otherwise is UTF-8
    return guess_encoding(sample)
