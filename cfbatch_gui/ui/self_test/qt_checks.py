"""Whether Qt can show the program: its plugins, pictures, fonts and pages. To be run in the main thread."""

import importlib
import pkgutil
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QSize, Qt, qVersion
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QImageReader, QPainter, QPixmap, QTextLayout
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

import cfbatch_gui
from cfbatch_gui.core.messages import comma_list, counted_message, message
from cfbatch_gui.core.self_test.findings import Check, Finding, failed, ok, warning
from cfbatch_gui.core.system.distributions import this_distribution, way_to_fonts
from cfbatch_gui.core.system.languages import languages
from cfbatch_gui.core.system.resources import resource
from cfbatch_gui.core.system.window_libraries import (
    libraries_in_words,
    missing_libraries,
    missing_sentence,
    way_to_libraries,
    what_plugin_lacks,
)
from cfbatch_gui.ui.help.help_window import Topic
from cfbatch_gui.ui.screen_plugins import plugin

_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")
_ALIASES = frozenset({"Monospace", "Sans Serif", "Serif"})  # named by Qt itself on Linux, whatever fonts there are
_LATIN = message("Latin")
# Letters of scripts, and which fonts have them.
_SCRIPTS = (
    (_LATIN, "ABCxyzäéß", "noto"),
    (message("Greek"), "Ωμέγα", "noto"),
    (message("Cyrillic"), "Привет", "noto"),
    (message("Arabic"), "مرحبا", "noto"),
    (message("Hebrew"), "שלום", "noto"),
    (message("Devanagari"), "नमस्ते", "noto"),
    (message("Thai"), "สวัสดี", "noto"),
    (message("Chinese"), "你好", "noto-cjk"),
    (message("Japanese"), "こんにちは", "noto-cjk"),
    (message("Korean"), "안녕", "noto-cjk"),
)


def qt_checks(app: QApplication, *, has_screen: bool) -> tuple[Check, ...]:
    """The checks of this module. They need the application to be there."""
    return (
        Check(message("Window"), lambda: _platform(app, has_screen=has_screen)),
        *((Check(message("Ways to a screen"), lambda: _screen_plugins(app)),) if sys.platform == "linux" else ()),
        Check(message("Parts of the program"), _modules),
        Check(message("Pictures"), _pictures),
        Check(message("Fonts"), _fonts),
        Check(message("Help pages"), _help_pages),
        Check(message("Words of Qt"), _words_of_qt),
    )


def _platform(app: QApplication, *, has_screen: bool) -> Finding:
    name = app.platformName()
    if has_screen:
        return ok(message("Qt {version} shows windows by “{platform}”.", version=qVersion(), platform=name))
    return ok(
        message(
            "Qt {version}. There is no screen here, so what follows was drawn in memory (“{platform}”).",
            version=qVersion(),
            platform=name,
        )
    )


def _screen_plugins(app: QApplication) -> Finding:
    """Whether Qt could show windows on X11 and on Wayland, also where there is no screen now."""
    lacking = {}
    for name in ("xcb", "wayland"):
        path = plugin(name)
        if path is None:
            return failed(message("Qt's plugin “{name}” is missing. Install CF Batch again.", name=name))
        if soname := what_plugin_lacks(path):
            lacking[name] = soname
    if not lacking:
        return ok(message("X11 and Wayland"))
    missing = missing_libraries(next(iter(lacking.values())))
    if "xcb" in lacking and app.platformName() != "wayland":
        return failed(missing_sentence(missing, this_distribution()))
    return warning(
        message(
            "One of X11 and Wayland works, which is enough. For the other this system lacks {libraries}. {way_out}",
            libraries=libraries_in_words(missing),
            way_out=way_to_libraries(missing, this_distribution()),
        )
    )


def _modules() -> Finding:
    """Import every module, so that none is missing when a page needs it."""
    names = [each.name for each in pkgutil.walk_packages(cfbatch_gui.__path__, "cfbatch_gui.")]
    faults = []
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            faults.append(str(error))
    if not names:
        return failed(message("No part of the program can be listed. Install CF Batch again."))
    if faults:
        missing = comma_list(list(dict.fromkeys(faults)))
        return failed(message("Install CF Batch again: parts of it cannot be loaded. {errors}", errors=missing))
    return ok(counted_message(len(names), "{n} part can be loaded.", "{n} parts can be loaded."))


def _pictures() -> Finding:
    forms = {bytes(each.data()).decode() for each in QImageReader.supportedImageFormats()}
    if missing := sorted({"svg", "png"} - forms):
        return failed(message("Qt cannot read pictures of these forms: {forms}.", forms=comma_list(missing)))
    app_icon = QImageReader(str(resource("cfbatch.svg"))).read()
    if app_icon.isNull():
        return failed(message("The picture {name} cannot be drawn.", name="cfbatch.svg"))
    icons = sorted(resource("icons").glob("*.svg"))
    for path in icons:
        if not _is_drawn(QSvgRenderer(path.read_bytes().replace(b"currentColor", b"#000000"))):
            return failed(message("The picture {name} cannot be drawn.", name=path.name))
    return ok(counted_message(len(icons), "{n} icon can be drawn.", "{n} icons can be drawn."))


def _is_drawn(renderer: QSvgRenderer) -> bool:
    drawn = QPixmap(QSize(20, 20))
    drawn.fill(Qt.GlobalColor.transparent)
    empty = drawn.toImage()
    painter = QPainter(drawn)
    renderer.render(painter)
    painter.end()
    return drawn.toImage() != empty


def _fonts() -> Finding:
    missing = [(script, font) for script, letters, font in _SCRIPTS if not _has_letters(letters)]
    if not missing:
        return ok(message("There are letters for {scripts}.", scripts=comma_list([each[0] for each in _SCRIPTS])))
    fonts = tuple(dict.fromkeys(font for _, font in missing))
    sentence = message(
        "No font has the letters of {scripts}: boxes stand for them. {way_out}",
        scripts=comma_list([script for script, _ in missing]),
        way_out=way_to_fonts(fonts, this_distribution()),
    )
    return failed(sentence) if any(script == _LATIN for script, _ in missing) else warning(sentence)


def _has_letters(letters: str) -> bool:
    """Whether the fonts that Qt takes for this text have a glyph for each part of it; glyph 0 is the box.

    Without any font Qt draws boxes of its own, whose numbers look like those of letters.
    """
    if set(QFontDatabase.families()) <= _ALIASES:
        return False
    layout = QTextLayout(letters, QFont(QGuiApplication.font()))
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    glyphs: Sequence[int] = [glyph for run in layout.glyphRuns() for glyph in run.glyphIndexes()]
    return bool(glyphs) and 0 not in glyphs


def _help_pages() -> Finding:
    pages = 0
    for language in languages():
        for topic in Topic:
            text = resource(f"help/{language.code}/{topic}.md").read_text("utf-8")
            for name in _PICTURE.findall(text):
                for shade in ("dark", "light"):
                    resource(f"help/pictures/{name}-{shade}.png")
            pages += 1
    return ok(counted_message(pages, "{n} page with its pictures.", "{n} pages with their pictures."))


def _words_of_qt() -> Finding:
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    wanted = [f"qtbase_{language.code}.qm" for language in languages()[1:]]
    if missing := [name for name in wanted if not (Path(folder) / name).is_file()]:
        return failed(message("Qt's own dialogs stay English, for want of: {files}", files=comma_list(missing)))
    return ok(message("Qt's own dialogs speak every language of the program."))
