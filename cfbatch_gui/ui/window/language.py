"""The window in the language of its user: words, Qt's own words, figures, and the side from which lines are read."""

import sys
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, Qt, QTranslator
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.system.languages import ENGLISH, Language, use_language


class CatalogueTranslator(QTranslator):
    """Answers `tr()` from a language's catalogue, so that the window and the terminal have one catalogue.

    Qt's context (a class's name) is left out of account: one English text has one translation, unless a second argument
    of `tr()` tells two apart.
    """

    def __init__(self, language: Language, parent: QApplication) -> None:
        super().__init__(parent)
        self._language = language

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, sourceText: str, disambiguation: str | None = None, n: int = -1) -> str:  # noqa: N803
        return self._language.translated(sourceText, disambiguation or "")


def preferred_languages(platform: str = sys.platform) -> list[str]:
    """The tags of the languages that Windows and macOS ask for, the best one first; elsewhere variables say it."""
    return QLocale.system().uiLanguages() if platform in ("win32", "darwin") else []


def speak(app: QApplication, language: Language) -> None:
    """Choose the language of this process and of the pages that are made from now on."""
    use_language(language)
    if language.code == ENGLISH.code:
        QLocale.setDefault(QLocale(QLocale.Language.English) if not _system_is(ENGLISH) else QLocale.system())
        return
    QLocale.setDefault(QLocale.system() if _system_is(language) else QLocale(language.code))
    app.installTranslator(CatalogueTranslator(language, app))
    own = QTranslator(app)  # asked first, for the words of Qt's own dialogs and menus
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if own.load(str(Path(folder) / f"qtbase_{language.code}.qm")):
        app.installTranslator(own)
    direction = Qt.LayoutDirection.RightToLeft if language.is_right_to_left else Qt.LayoutDirection.LeftToRight
    app.setLayoutDirection(direction)


def _system_is(language: Language) -> bool:
    return QLocale.system().name().partition("_")[0] == language.code
