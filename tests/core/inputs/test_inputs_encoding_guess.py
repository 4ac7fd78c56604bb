"""The guess at an encoding that nothing in a file says, and the encodings that are recognised without one."""

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.encodings import guess_encoding
from cfbatch_gui.core.inputs.file_rows import read_rows
from tests.core.inputs.files import opened

SHORT = [
    ("cp1252", "Größe und Gewicht"),
    ("cp1252", "Müller;Köln;Straße"),
    ("cp1252", "Où est ma facture ?"),
    ("cp1252", "La qualità è buona, perché è già più tardi"),
    ("cp1252", "It’s fine – really"),
    ("cp1252", "The price of each is £5, in every size and colour"),
    ("cp1250", "Jak długo trwa dostawa, proszę?"),
    ("cp1250", "Příliš žluťoučký kůň"),
    ("cp1250", "Győr és Székesfehérvár, őszi idő"),
    ("iso8859_2", "Książka leży na półce, świeża"),
    ("cp1254", "Teşekkürler, ışık çok sıcak"),
    ("cp1257", "Ačiū už pagalbą"),
    ("cp1251", "Как изменить пароль?"),
    ("koi8_r", "Как изменить пароль?"),
    ("koi8_u", "Як змінити пароль? Їжте ґречку"),
    ("cp1253", "Πώς αλλάζω τον κωδικό μου;"),
    ("cp1255", "איך אני משנה את הסיסמה?"),
    ("cp1256", "كيف يمكنني تغيير كلمة المرور؟"),
    ("cp874", "ฉันจะเปลี่ยนรหัสผ่านได้อย่างไร"),
    ("cp1258", "Làm thế nào để thay đổi mật khẩu của tôi"),
    ("cp932", "返品は三十日以内にお願いします"),
    ("gb18030", "请保留发票，以便退货。"),
    ("big5hkscs", "這盞燈的光線很溫暖"),
    ("cp949", "배송은 보통 사흘이 걸립니다."),
    ("mac_roman", "Übergrößen für Anfänger – schön"),
    ("cp850", "Où est la forêt de l'été ?"),
]


def encoded(text: str, codec: str) -> bytes:
    """As programs write it: Vietnamese letters in Windows-1258 have their tones after them."""
    if codec == "cp1258":
        text = "".join(part for letter in text for part in _with_tone(letter))
    return text.encode(codec)


def _with_tone(letter: str) -> str:
    parts = unicodedata.normalize("NFD", letter)
    tones = "".join(part for part in parts if part in "\u0300\u0301\u0303\u0309\u0323")
    return unicodedata.normalize("NFC", "".join(part for part in parts if part not in tones)) + tones


@pytest.mark.parametrize(("codec", "text"), SHORT, ids=[f"{codec}-{text[:12]}" for codec, text in SHORT])
def test_a_short_text(codec: str, text: str) -> None:
    data = encoded(text, codec)
    assert data.decode(guess_encoding(data).codec, "replace") == data.decode(codec)


def test_one_cut_character_among_many_does_not_change_the_guess() -> None:
    lines = [f"{number},返品は三十日以内にお願いします。".encode("cp932") for number in range(40)]
    lines[20] = lines[20][:-1]  # a program that cuts cells after so many bytes
    assert guess_encoding(b"\r\n".join(lines)).codec == "cp932"


def test_a_guess_decodes_also_what_lies_beyond_the_part_that_it_is_made_from() -> None:
    data = ("Größe. " * 3_000).encode("cp1252") + b"\x81\x8d\x8f\x90\x9d" * 100  # not defined in Windows-1252
    data.decode(guess_encoding(data).codec)


def test_the_library_for_the_guess_is_loaded_when_a_guess_is_made() -> None:
    program = "import sys, cfbatch_gui.core.program; sys.exit('chardet' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_clear_guess_has_no_other_reading_and_an_unclear_one_has() -> None:
    clear = "Die Größe des Geräts und sein Gewicht stehen auf der Rückseite. Für Händler: Maße prüfen.\n" * 5
    assert guess_encoding(clear.encode("cp1252")).other_codecs == ()
    unclear = guess_encoding("id,name\n1,Mira \xa3\n".encode("cp1252"))
    codecs = (unclear.codec, *unclear.other_codecs)
    assert len({b"\xa3".decode(codec) for codec in codecs}) == len(codecs) > 1


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [
        "id,text\n1,one\n2,two\n",
        "id;текст\n1;Как изменить пароль?\n2;Спасибо\n",
        "id,文本\n1,请保留发票，以便退货。\n2,如何重置我的密码并登录\n",
        "id,نص\n1,كيف يمكنني تغيير كلمة المرور؟\n",
    ],
)
def test_utf_16_without_a_mark_is_recognised(tmp_path: Path, codec: str, text: str) -> None:
    source = opened(tmp_path / "a.csv", text.encode(codec))
    assert (source.encoding, source.is_encoding_guessed, source.columns[0]) == (codec, False, "id")
    assert [row.cells[1] for row in read_rows(source)] == [
        line.split(source.separator, 1)[1] for line in text.splitlines()[1:]
    ]


@pytest.mark.parametrize("data", [b"id,text\n1,a\0b\n2,c\n", b"ab\0cdefg\n", "1,größer\0\n2,x\n".encode()])
def test_single_zeros_do_not_make_a_text_utf_16(tmp_path: Path, data: bytes) -> None:
    assert opened(tmp_path / "a.txt", data).encoding == "utf-8"


def test_iso_2022_is_recognised_by_its_escapes(tmp_path: Path) -> None:
    text = "id,text\n" + "1,plain\n" * 3_000 + "2,返品は三十日以内にお願いします\n"
    source = opened(tmp_path / "a.csv", text.encode("iso2022_jp"))
    assert (source.encoding, source.is_encoding_guessed) == ("iso2022_jp", False)
    assert list(read_rows(source))[-1].cells == ("2", "返品は三十日以内にお願いします")
    assert opened(tmp_path / "b.txt", "배송은 보통\n".encode("iso2022_kr")).encoding == "iso2022_kr"
    coloured = b"\x1b[31mred\x1b[0m\n\x1b(Bplain\n"  # what a terminal is told
    assert opened(tmp_path / "c.txt", coloured).encoding == "utf-8"
