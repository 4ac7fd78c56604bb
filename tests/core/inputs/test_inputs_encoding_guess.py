"""The encoding that is preselected in the question: correct for a single line in most of the languages tested."""

from pathlib import Path

import pytest

from cfbatch_gui.core.errors import EncodingUnknown
from cfbatch_gui.core.inputs.files.legacy_encodings import guess_encoding
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

SHORT = [
    ("cp1252", "Größe und Gewicht"),
    ("cp1252", "Müller;Köln;Straße"),
    ("cp1252", "Où est ma facture ?"),
    ("cp1252", "¿Cómo está?"),
    ("cp1252", "Não há pão, só café."),
    ("cp1252", "Perché è già tardi"),
    ("cp1252", "Hur lång tid tar leveransen?"),
    ("cp1252", "Rødgrød med fløde på"),
    ("cp1252", "It’s fine – really"),
    ("cp1252", "Price: £5, 20 °C"),
    ("cp1252", "café"),
    ("cp1250", "Jak długo trwa dostawa, proszę?"),
    ("cp1250", "Zażółć gęślą jaźń"),
    ("cp1250", "Příliš žluťoučký kůň"),
    ("cp1250", "Győr és Székesfehérvár, őszi idő"),
    ("iso8859_2", "Książka leży na półce, świeża"),
    ("cp1254", "Teşekkürler, ışık çok sıcak"),
    ("cp1257", "Ačiū už pagalbą"),
    ("cp1251", "Как изменить пароль?"),
    ("koi8_r", "Как изменить пароль?"),
    ("cp1251", "Львів і Київ"),
    ("cp1253", "Πώς αλλάζω τον κωδικό μου;"),
    ("cp1255", "איך אני משנה את הסיסמה?"),
    ("cp1256", "كيف يمكنني تغيير كلمة المرور؟"),
    ("cp932", "返品は三十日以内にお願いします"),
    ("euc_jp", "使い方がよくわかりません"),
    ("gb18030", "请保留发票，以便退货。"),
    ("big5", "這盞燈的光線很溫暖"),
    ("cp949", "배송은 보통 사흘이 걸립니다."),
    ("mac_roman", "Übergrößen für Anfänger – schön"),
    ("cp850", "Où est la forêt de l'été ?"),
]


@pytest.mark.parametrize(("codec", "text"), SHORT, ids=[f"{codec}-{text[:12]}" for codec, text in SHORT])
def test_a_short_text(codec: str, text: str) -> None:
    assert text.encode(codec).decode(guess_encoding(text.encode(codec)), "replace") == text


def test_a_sample_may_begin_and_end_within_a_character() -> None:
    for codec, text in SHORT:
        data = f"{text}\n".encode(codec) * 40
        assert data.decode(guess_encoding(data[3:-2])) == f"{text}\n" * 40, codec


def test_utf_8_with_some_broken_bytes_is_still_called_so(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Größe, schön, für alle. ".encode() * 60 + b"\xff")
    with pytest.raises(EncodingUnknown) as asked:
        open_source(path)
    assert asked.value.guess == "utf-8"


def test_bytes_without_sense_have_a_guess_too() -> None:
    assert guess_encoding(b"") == "cp1252"
    assert guess_encoding(bytes(range(128, 256)) * 3)
