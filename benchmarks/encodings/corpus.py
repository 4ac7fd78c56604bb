"""Texts of 39 languages in the encodings that files in them have, cut to so many bytes."""

import random
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LENGTHS = (50, 150, 500)  # bytes
_SEED = 7
_WESTERN, _CENTRAL, _CYRILLIC = "de fr es pt it sv da nl nb fi is ca", "pl cs sk hu hr ro sl", "ru uk bg sr mk be"

# The code page of Windows, or what East Asian programs write.
_USUAL = {
    **dict.fromkeys(_WESTERN.split(), "cp1252"),
    **dict.fromkeys(_CENTRAL.split(), "cp1250"),
    **dict.fromkeys(_CYRILLIC.split(), "cp1251"),
    **dict.fromkeys(["lt", "lv", "et"], "cp1257"),
    **dict.fromkeys(["ar", "fa"], "cp1256"),
    **{"tr": "cp1254", "el": "cp1253", "he": "cp1255", "th": "cp874", "vi": "cp1258"},
    **{"ja": "cp932", "zh_CN": "gb18030", "zh_TW": "big5", "ko": "cp949"},
}
_RARER = {
    **dict.fromkeys(_WESTERN.split(), ("cp850", "mac_roman")),
    **dict.fromkeys(_CENTRAL.split(), ("iso8859_2", "cp852")),
    **{"ru": ("koi8_r", "cp866", "iso8859_5"), "uk": ("koi8_u", "iso8859_5"), "bg": ("iso8859_5", "cp866")},
    **dict.fromkeys(("be", "sr", "mk"), ("iso8859_5",)),
    **{"ar": ("iso8859_6",), "ja": ("euc_jp",)},
}
# What people write instead of a character that the encoding lacks.
_INSTEAD = str.maketrans("‐‑−șțȘȚی\u202f\u2009\u200c", "---şţŞŢي\xa0  ")
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-", "…": "...", "«": '"', "»": '"', "\xa0": " "}
)
_TONES = "\u0300\u0301\u0303\u0309\u0323"


@dataclass(frozen=True, slots=True)
class Sample:
    """A part of a text. `is_usual` is whether the encoding is the usual one of the language."""

    language: str
    codec: str
    is_usual: bool
    length: int  # of LENGTHS; the data is a little longer if it is a table
    data: bytes


def samples(count: int, *, as_table: bool = False) -> Iterator[Sample]:
    """So many samples for each language, encoding and length; the same in each run."""
    for path in sorted((Path(__file__).parent / "texts").glob("*.txt")):
        language = path.stem
        for codec in (_USUAL[language], *_RARER.get(language, ())):
            lines = [_writable(line, codec) for line in path.read_text("utf-8").splitlines()]
            if all(map(str.isascii, lines)):
                continue  # Dutch in DOS
            chance = random.Random(f"{_SEED} {language} {codec}")
            for length in LENGTHS:
                for _ in range(count):
                    data = _table(chance, lines, codec, length) if as_table else _prose(chance, lines, codec, length)
                    yield Sample(language, codec, codec == _USUAL[language], length, data)


def _prose(chance: random.Random, lines: list[str], codec: str, length: int) -> bytes:
    text = "\n".join(lines)
    at = chance.choice([index for index, sign in enumerate(text) if sign > "\x7f"])
    start = max(0, at - chance.randrange(length // 4))
    part = text[text.rfind(" ", max(0, start - 20), start + 1) + 1 or start :][:length]
    while len(data := part.encode(codec)) > length:
        part = part[:-1]
    return data


def _table(chance: random.Random, lines: list[str], codec: str, length: int) -> bytes:
    while True:
        text = "id;name;date;value\r\n"
        while len(text.encode(codec)) < length:
            line = chance.choice([each for each in lines if not each.isascii()])
            start = chance.randrange(max(1, len(line) - 30))
            cell = line[start : start + chance.randrange(12, 40)].replace(";", ",")
            text += (
                f"{chance.randrange(1000)};{cell};2024-0{chance.randrange(1, 9)}-11;{chance.randrange(9999) / 100}\r\n"
            )
        if not (data := text.encode(codec)).isascii():
            return data


def _writable(text: str, codec: str) -> str:
    """The text as it is written in an encoding: Vietnamese with its tones after the letters, others composed."""
    composed = unicodedata.normalize("NFC", text)
    if codec == "cp1258":
        composed = "".join(map(_with_tone, composed))
    return "".join(_in_codec(letter, codec) for letter in composed)


@cache
def _in_codec(letter: str, codec: str) -> str:
    for each in (letter, letter.translate(_INSTEAD), letter.translate(_PLAIN)):
        try:
            each.encode(codec)
        except UnicodeEncodeError:
            continue
        return each
    return ""


def _with_tone(letter: str) -> str:
    parts = unicodedata.normalize("NFD", letter)
    tones = "".join(part for part in parts if part in _TONES)
    return unicodedata.normalize("NFC", "".join(part for part in parts if part not in _TONES)) + tones
