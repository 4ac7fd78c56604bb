"""The visual system: colours, sizes, font, palette and stylesheet, for light, dark and high contrast.

What is painted asks `tokens()` when it paints. In the stylesheet, `resources/window.qss`, dynamic properties select
styles: `kind` of buttons and frames, `role` of labels.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import lru_cache
from string import Template

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QFontMetrics, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.resources import resource
from cfbatch_gui.words.languages import tr

_FONTS = {"small": -1, "part": 2, "figure": 5, "title": 7, "reviewed": 9, "display": 13}  # pixels more than body text
_HEIGHTS = {"control": 28, "control_large": 32, "control_tall": 42, "link": 20, "link_most": 24, "tab": 34}  # pixels


def stylesheet(
    colours: Mapping[str, str],
    pixels: int,
    scaled: Callable[[int], int] = int,
    *,
    direction: Qt.LayoutDirection = Qt.LayoutDirection.LeftToRight,
) -> str:
    """`pixels` is the font size of body text, `scaled` fits a height to it. Qt mirrors no paddings by `direction`."""
    sides = ("left", "right") if direction == Qt.LayoutDirection.LeftToRight else ("right", "left")
    return Template(resource("window.qss").read_text("utf-8")).substitute(
        colours,
        start=sides[0],
        end=sides[1],
        **{name: pixels + more for name, more in _FONTS.items()},
        **{name: scaled(height) for name, height in _HEIGHTS.items()},
    )


TINY, SMALL, MEDIUM, LARGE, WIDE = 4, 8, 12, 16, 24  # the only distances, in pixels
RADIUS_CARD, RADIUS_CONTROL = 10, 6
ROW_HEIGHT = 38  # at the usual size of the font, like all that is given to `scaled`
SIDEBAR_WIDTH, LEAST_SIDEBAR = 276, 220

NO_FONT_OF_ITS_OWN = ("", "sans", "sans serif", "sans-serif", "dejavu sans", "helvetica")
PREFERRED_FONTS = ("Inter", "Adwaita Sans", "Cantarell", "Noto Sans")
PREFERRED_PIXELS = 13
_HIGHEST_USUAL_LINE = 20  # pixels; of a script with high letters, at the usual size


class Scheme(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"
    HIGH_CONTRAST = "high-contrast"  # light or dark as the system


def scheme_words() -> dict[Scheme, str]:
    return {
        Scheme.SYSTEM: tr("Match system"),
        Scheme.LIGHT: tr("Light"),
        Scheme.DARK: tr("Dark"),
        Scheme.HIGH_CONTRAST: tr("High contrast"),
    }


Colours = Mapping[str, str]
"""Every colour of the program by its role, as "#rrggbb"; icons and labels have the same roles."""

# Light, dark, and both in high contrast.
_SHADES = {
    "window": ("#ffffff", "#1e2126", "#ffffff", "#000000"),
    "sidebar": ("#f5f6f8", "#181a1e", "#ffffff", "#000000"),
    "card": ("#ffffff", "#23262c", "#ffffff", "#000000"),
    "inset": ("#fafbfc", "#212429", "#fafbfc", "#0b0d10"),  # a box inside a card, or the header of a table
    "field": ("#ffffff", "#1a1d21", "#ffffff", "#000000"),
    "line": ("#e3e5e9", "#30343b", "#5c626b", "#a4abb5"),
    "hover": ("#eef0f3", "#2b2f36", "#e6e9ee", "#262a31"),
    "track": ("#e6e8ec", "#30343b", "#e3e6ea", "#2b3037"),  # behind a bar
    "found": ("#ffe08a", "#665213", "#ffd84d", "#665000"),  # behind what a search has found in a text
    "text": ("#1b1f24", "#e7eaee", "#000000", "#ffffff"),
    "quiet": ("#5a626e", "#969eaa", "#2b3036", "#d3d8df"),
    "accent": ("#2460d6", "#6a9bff", "#0a3c9e", "#a9c6ff"),  # main buttons, links, chosen items
    "on_accent": ("#ffffff", "#14171c", "#ffffff", "#000000"),
    "selection": ("#e8f0fe", "#26344f", "#dde8ff", "#16305f"),
    "attention": ("#8f5400", "#f0b65b", "#603800", "#ffcf7f"),
    "attention_back": ("#fff4df", "#3a2e18", "#fff4df", "#3a2e18"),
    "done": ("#197145", "#5cc48d", "#074a2a", "#7fe0ad"),
    "done_back": ("#e7f5ee", "#1c3328", "#e7f5ee", "#1c3328"),
    "error": ("#b3261e", "#ff8f86", "#7d0f09", "#ffb3ac"),
    "error_back": ("#fdeceb", "#3a2223", "#fdeceb", "#3a2223"),
}
LIGHT, DARK, HIGH_CONTRAST_LIGHT, HIGH_CONTRAST_DARK = (
    {role: shades[at] for role, shades in _SHADES.items()} for at in range(4)
)
_shown = [LIGHT]


def tokens() -> Colours:
    """The current colours."""
    return _shown[0]


def scaled(pixels: int) -> int:
    """A height or width that was chosen for the usual font, in proportion to the application's; never less."""
    return math.ceil(pixels * _scale(QGuiApplication.font().key()))


@lru_cache(maxsize=1)
def _scale(_key: str) -> float:
    """How much larger than usual the font with this key is, by its size or its lines, whichever is more."""
    font = QGuiApplication.font()
    by_line = QFontMetrics(font).height() / _HIGHEST_USUAL_LINE
    return max(1.0, QFontInfo(font).pixelSize() / PREFERRED_PIXELS, by_line)


def small_font(font: QFont) -> QFont:
    smaller = QFont(font)
    smaller.setPixelSize(max(9, QFontInfo(font).pixelSize() - 1))
    return smaller


def colour(role: str) -> QColor:
    return QColor(tokens()[role])


def faded(role: str, share: float) -> QColor:
    """The colour over what is behind it, of which it hides only this share."""
    found = colour(role)
    found.setAlphaF(share)
    return found


class Theme(QObject):
    """Applies the visual system to the application, and again whenever the system's settings change."""

    def __init__(self, scheme: Scheme = Scheme.SYSTEM) -> None:
        super().__init__()
        self._scheme = scheme
        self._app: QApplication | None = None
        self._applying = False

    @property
    def scheme(self) -> Scheme:
        return self._scheme

    def apply(self, app: QApplication) -> None:
        """Once, before the first window is created."""
        self._app = app
        app.setStyle("Fusion")
        app.setFont(_font(app))
        hints = app.styleHints()
        hints.colorSchemeChanged.connect(self._refresh)
        app.layoutDirectionChanged.connect(self._refresh)
        hints.accessibility().contrastPreferenceChanged.connect(self._refresh)
        self._refresh()

    def set_scheme(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._refresh()

    def _refresh(self) -> None:
        app = self._app
        if app is None or self._applying:
            return
        self._applying = True  # setting a scheme makes Qt emit colorSchemeChanged
        try:
            hints = app.styleHints()
            wanted = {Scheme.LIGHT: Qt.ColorScheme.Light, Scheme.DARK: Qt.ColorScheme.Dark}.get(self._scheme)
            hints.setColorScheme(wanted or Qt.ColorScheme.Unknown)  # title bars and native dialogs follow
            is_dark = (wanted or hints.colorScheme()) == Qt.ColorScheme.Dark
            contrast = hints.accessibility()
            is_high = self._scheme is Scheme.HIGH_CONTRAST or (
                contrast.contrastPreference() == Qt.ContrastPreference.HighContrast
            )
            light, dark = (HIGH_CONTRAST_LIGHT, HIGH_CONTRAST_DARK) if is_high else (LIGHT, DARK)
            chosen = _shown[0] = dark if is_dark else light
            # Without a stylesheet in between, Qt styles each widget again for every widget that it stands in: six times
            # as long in a window of 2,000 widgets.
            app.setStyleSheet("")
            app.setPalette(_palette(chosen))
            pixels, direction = QFontInfo(app.font()).pixelSize(), app.layoutDirection()
            app.setStyleSheet(stylesheet(_colours(chosen), pixels, scaled, direction=direction))
        finally:
            self._applying = False


def mixed(front: QColor, back: QColor, share: float) -> QColor:
    """`share`, from 0 to 1, is that of `front`."""
    return QColor.fromRgbF(
        front.redF() * share + back.redF() * (1 - share),
        front.greenF() * share + back.greenF() * (1 - share),
        front.blueF() * share + back.blueF() * (1 - share),
    )


def _colours(chosen: Colours) -> dict[str, str]:
    text, accent = QColor(chosen["text"]), QColor(chosen["accent"])
    return {
        **chosen,
        "faint": _faint(chosen).name(),
        "accent_hover": mixed(text, accent, 0.1).name(),
        "accent_pressed": mixed(text, accent, 0.2).name(),
    }


def _faint(chosen: Colours) -> QColor:
    return mixed(QColor(chosen["quiet"]), QColor(chosen["window"]), 0.72)


_Role = QPalette.ColorRole
_PALETTE = {
    "window": (_Role.Window,),
    "text": (_Role.WindowText, _Role.Text, _Role.ButtonText, _Role.ToolTipText),
    "quiet": (_Role.PlaceholderText,),
    "field": (_Role.Base,),
    "inset": (_Role.AlternateBase,),
    "card": (_Role.Button, _Role.ToolTipBase, _Role.Light),
    "error": (_Role.BrightText,),
    "accent": (_Role.Link, _Role.LinkVisited, _Role.Highlight, _Role.Accent),
    "on_accent": (_Role.HighlightedText,),
    "hover": (_Role.Midlight,),
    "line": (_Role.Mid, _Role.Dark, _Role.Shadow),
}


def _palette(chosen: Colours) -> QPalette:
    palette = QPalette()
    for name, roles in _PALETTE.items():
        for role in roles:
            palette.setColor(role, QColor(chosen[name]))
    for role in (_Role.WindowText, _Role.Text, _Role.ButtonText, _Role.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, _faint(chosen))
    return palette


def _font(app: QApplication) -> QFont:
    """The platform's font, else the first installed of PREFERRED_FONTS; digits are tabular."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    system_pixels = QFontInfo(font).pixelSize()
    if font.family().lower() in NO_FONT_OF_ITS_OWN:
        installed = set(QFontDatabase.families())
        family = next((name for name in PREFERRED_FONTS if name in installed), "")
        if family:
            font = QFont(app.font())
            font.setFamilies([family])
            font.setPixelSize(max(PREFERRED_PIXELS, system_pixels))  # larger where the user wants it larger
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


@contextmanager
def styled_once() -> Iterator[None]:
    """Widgets made in this block get their style at its end: else two thirds of the time to make the main window."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        raise TypeError("there is no Qt application with windows in this process")
    sheet = app.styleSheet()
    app.setStyleSheet("")
    try:
        yield
    finally:
        app.setStyleSheet(sheet)
