"""`script_of`: the script of a text."""

import pytest

from cfbatch_gui.core.workers_ai.estimate import Script, script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", Script.LATIN),
        ("1234 %", Script.LATIN),
        ("how do I reset my password", Script.LATIN),
        ("Wie ändere ich das Maß?", Script.LATIN),
        ("Tiếng Việt có dấu", Script.LATIN),
        ("Как сменить пароль в CF Batch?", Script.CYRILLIC),
        ("Πώς αλλάζω τον κωδικό;", Script.GREEK),
        ("שלום עולם", Script.HEBREW),
        ("كيف أغير كلمة المرور", Script.ARABIC),
        ("पासवर्ड कैसे बदलें", Script.INDIC),
        ("รหัสผ่าน", Script.INDIC),
        ("如何重置 iPhone 的密码", Script.CJK),
        ("パスワードを忘れた", Script.CJK),
        ("비밀번호를 잊었어요", Script.CJK),
        ("👍👍 → ∞", Script.OTHER),
        ("Привет " * 400 + "hello " * 4_000, Script.CYRILLIC),
    ],
)
def test_script(text: str, script: Script) -> None:
    assert script_of(text) is script
