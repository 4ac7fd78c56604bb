"""What differs between two screens: the language and its direction, and the size of the font."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QLocale, Qt, QTranslator
from PySide6.QtGui import QFont, QFontInfo
from PySide6.QtWidgets import QApplication

from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.ui.window.app import speak
from cfbatch_gui.words.languages import ENGLISH, load_language, use_language
from tests.screen.pseudo_language import PseudoLanguage


class Language(StrEnum):
    """In which the window speaks."""

    ENGLISH = "english"
    GERMAN = "german"
    PSEUDO = "pseudo"
    RIGHT_TO_LEFT = "right-to-left"  # English words, mirrored


@dataclass(frozen=True)
class Look:
    """How a window is seen that is opened within `put_on`."""

    language: Language = Language.ENGLISH
    doubled: bool = False  # the font

    def __str__(self) -> str:
        return f"{self.language}{'-doubled' if self.doubled else ''}"

    def may_scroll_sideways(self, width: int) -> bool:
        """Whether a window of so many pixels is smaller, for the size of its letters, than the smallest promised."""
        longer = 1.4 if self.language is Language.PSEUDO else 1.0
        return width / (2 if self.doubled else 1) / longer < 800


@contextmanager
def put_on(look: Look, app: QApplication, theme: Theme) -> Iterator[None]:
    """Until the end of the block, new windows look so."""
    font, locale, before = QFont(app.font()), QLocale(), app.findChildren(QTranslator)
    if look.doubled:
        larger = QFont(font)
        larger.setPixelSize(2 * QFontInfo(font).pixelSize())
        app.setFont(larger)
        theme.set_scheme(theme.scheme)  # its stylesheet has sizes in proportion
    if look.language is Language.PSEUDO:
        speak(app, PseudoLanguage())
    elif look.language is Language.GERMAN:
        speak(app, load_language("de"))
    elif look.language is Language.RIGHT_TO_LEFT:
        app.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        yield
    finally:
        for translator in app.findChildren(QTranslator):
            if translator not in before:
                app.removeTranslator(translator)
                translator.deleteLater()
        use_language(ENGLISH)
        QLocale.setDefault(locale)
        app.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        if look.doubled:
            app.setFont(font)
            theme.set_scheme(theme.scheme)
