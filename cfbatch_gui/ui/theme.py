"""The visual system: colours, sizes, font, palette and stylesheet, for light, dark and high contrast.

What is painted asks `tokens()` when it paints. In the stylesheet, `resources/window.qss`, dynamic properties select
styles: `kind` of buttons and frames, `role` of labels.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from string import Template

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QFontMetrics, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import getCppPointer

from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.display import tr


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
        small=pixels - 1,
        part=pixels + 2,
        figure=pixels + 5,
        title=pixels + 7,
        display=pixels + 13,
        control=scaled(28),
        control_large=scaled(32),
        link=scaled(20),
        link_most=scaled(24),
    )


TINY, SMALL, MEDIUM, LARGE, WIDE = 4, 8, 12, 16, 24  # the only distances, in pixels
RADIUS_CARD, RADIUS_CONTROL = 10, 6
ROW_HEIGHT, CONTROL_HEIGHT = 38, 30  # at the usual size of the font, like all that is given to `scaled`
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


@dataclass(frozen=True, slots=True)
class Tokens:
    """Every colour of the program, as "#rrggbb". The field names are the colour roles of icons and labels."""

    window: str
    sidebar: str
    card: str
    inset: str  # a box inside a card, or the header of a table
    field: str
    line: str
    hover: str
    track: str  # behind a bar
    found: str  # behind what a search has found in a text
    text: str
    quiet: str
    accent: str  # main buttons, links, chosen items
    on_accent: str
    selection: str
    attention: str
    attention_back: str
    done: str
    done_back: str
    error: str
    error_back: str


LIGHT = Tokens(
    window="#ffffff",
    sidebar="#f5f6f8",
    card="#ffffff",
    inset="#fafbfc",
    field="#ffffff",
    line="#e3e5e9",
    hover="#eef0f3",
    track="#e6e8ec",
    found="#ffe08a",
    text="#1b1f24",
    quiet="#5a626e",
    accent="#2460d6",
    on_accent="#ffffff",
    selection="#e8f0fe",
    attention="#8f5400",
    attention_back="#fff4df",
    done="#197145",
    done_back="#e7f5ee",
    error="#b3261e",
    error_back="#fdeceb",
)
DARK = Tokens(
    window="#1e2126",
    sidebar="#181a1e",
    card="#23262c",
    inset="#212429",
    field="#1a1d21",
    line="#30343b",
    hover="#2b2f36",
    track="#30343b",
    found="#665213",
    text="#e7eaee",
    quiet="#969eaa",
    accent="#6a9bff",
    on_accent="#14171c",
    selection="#26344f",
    attention="#f0b65b",
    attention_back="#3a2e18",
    done="#5cc48d",
    done_back="#1c3328",
    error="#ff8f86",
    error_back="#3a2223",
)
HIGH_CONTRAST_LIGHT = replace(
    LIGHT,
    sidebar="#ffffff",
    line="#5c626b",
    hover="#e6e9ee",
    track="#e3e6ea",
    found="#ffd84d",
    text="#000000",
    quiet="#2b3036",
    accent="#0a3c9e",
    selection="#dde8ff",
    attention="#603800",
    done="#074a2a",
    error="#7d0f09",
)
HIGH_CONTRAST_DARK = replace(
    DARK,
    window="#000000",
    sidebar="#000000",
    card="#000000",
    inset="#0b0d10",
    field="#000000",
    line="#a4abb5",
    hover="#262a31",
    track="#2b3037",
    found="#665000",
    text="#ffffff",
    quiet="#d3d8df",
    accent="#a9c6ff",
    on_accent="#000000",
    selection="#16305f",
    attention="#ffcf7f",
    done="#7fe0ad",
    error="#ffb3ac",
)
_shown = [LIGHT]
_scale_of_font: dict[str, float] = {}  # how much larger than usual the current one is, by its key


def tokens() -> Tokens:
    """The current colours."""
    return _shown[0]


def scaled(pixels: int) -> int:
    """A height or width that was chosen for the usual font, in proportion to the application's; never less."""
    font = QGuiApplication.font()
    key = font.key()
    if key not in _scale_of_font:  # by its size or by the height of its lines, whichever is more
        by_line = QFontMetrics(font).height() / _HIGHEST_USUAL_LINE
        _scale_of_font.clear()
        _scale_of_font[key] = max(1.0, QFontInfo(font).pixelSize() / PREFERRED_PIXELS, by_line)
    return math.ceil(pixels * _scale_of_font[key])


def colour(role: str) -> QColor:
    value: str = getattr(tokens(), role)
    return QColor(value)


class Theme(QObject):
    """Applies the visual system to the application, and again whenever the system's settings change."""

    changed = Signal()

    def __init__(self, scheme: Scheme = Scheme.SYSTEM) -> None:
        super().__init__()
        self._scheme = scheme
        self._app: QApplication | None = None
        self._applying = False
        self._restyling = Restyling(self)

    @property
    def tokens(self) -> Tokens:
        return tokens()

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
            with self._restyling.shown_first():
                app.setStyleSheet("")
                app.setPalette(_palette(chosen))
                pixels, direction = QFontInfo(app.font()).pixelSize(), app.layoutDirection()
                app.setStyleSheet(stylesheet(_colours(chosen), pixels, scaled, direction=direction))
        finally:
            self._applying = False
        self.changed.emit()


def mixed(front: QColor, back: QColor, share: float) -> QColor:
    """`share`, from 0 to 1, is that of `front`."""
    return QColor.fromRgbF(
        front.redF() * share + back.redF() * (1 - share),
        front.greenF() * share + back.greenF() * (1 - share),
        front.blueF() * share + back.blueF() * (1 - share),
    )


def _colours(chosen: Tokens) -> dict[str, str]:
    text, accent = QColor(chosen.text), QColor(chosen.accent)
    return asdict(chosen) | {
        "faint": _faint(chosen).name(),
        "accent_hover": mixed(text, accent, 0.1).name(),
        "accent_pressed": mixed(text, accent, 0.2).name(),
    }


def _faint(chosen: Tokens) -> QColor:
    return mixed(QColor(chosen.quiet), QColor(chosen.window), 0.78)


def _palette(chosen: Tokens) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    for each, value in (
        (role.Window, chosen.window),
        (role.WindowText, chosen.text),
        (role.Base, chosen.field),
        (role.AlternateBase, chosen.inset),
        (role.ToolTipBase, chosen.card),
        (role.ToolTipText, chosen.text),
        (role.PlaceholderText, chosen.quiet),
        (role.Text, chosen.text),
        (role.Button, chosen.card),
        (role.ButtonText, chosen.text),
        (role.BrightText, chosen.error),
        (role.Link, chosen.accent),
        (role.LinkVisited, chosen.accent),
        (role.Highlight, chosen.accent),
        (role.HighlightedText, chosen.on_accent),
        (role.Accent, chosen.accent),
        (role.Light, chosen.card),
        (role.Midlight, chosen.hover),
        (role.Mid, chosen.line),
        (role.Dark, chosen.line),
        (role.Shadow, chosen.line),
    ):
        palette.setColor(each, QColor(value))
    faint = _faint(chosen)
    for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, faint)
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


_POLISHED, _HAS_STYLE = Qt.WidgetAttribute.WA_WState_Polished, Qt.WidgetAttribute.WA_SetStyle
_TURN = 0.008  # seconds that a turn of the loop gives to hidden widgets


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


class Restyling(QObject):
    """Another stylesheet, for widgets on the screen first, and hidden ones in later turns of the loop.

    Qt styles every widget in one go, 0.2 s in a window whose pages have all been opened. It leaves out what is not
    polished, and tells no change to what has a style of its own; hidden widgets are marked so meanwhile.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: set[int] = set()  # where Qt keeps them: it may delete one at any time, and Python is not told
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._style_some)

    @contextmanager
    def shown_first(self) -> Iterator[None]:
        widgets = QApplication.allWidgets()
        for widget in widgets:
            if widget.isVisible() and _place(widget) in self._waiting:  # shown since: now it is styled with the rest
                self._waiting.remove(_place(widget))
                widget.setAttribute(_POLISHED, True)
        # These are left to Qt: their style is the application's and their own in one.
        apart = {each for root in widgets if root.styleSheet() for each in (root, *root.findChildren(QWidget))}
        left_out = [
            widget
            for widget in widgets
            if not (widget.isVisible() or widget.testAttribute(_HAS_STYLE) or widget in apart)
            and (widget.testAttribute(_POLISHED) or _place(widget) in self._waiting)
        ]
        for widget in left_out:
            widget.setAttribute(_POLISHED, False)
            widget.setAttribute(_HAS_STYLE, True)
        try:
            yield
        finally:
            # At once: Qt gives a widget with this mark a style of its own when it is put into another.
            for widget in left_out:
                widget.setAttribute(_HAS_STYLE, False)
            self._waiting.update(map(_place, left_out))
            self._turn.start()

    def _style_some(self) -> None:
        end = time.monotonic() + _TURN
        style = QApplication.style()
        waiting = [widget for widget in QApplication.allWidgets() if _place(widget) in self._waiting]
        waiting.sort(key=QWidget.isVisible, reverse=True)  # those that have been shown meanwhile come first
        for widget in waiting:
            self._waiting.remove(_place(widget))
            style.polish(widget)
            widget.setAttribute(_POLISHED, True)
            QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
            if time.monotonic() > end and not widget.isVisible():
                self._turn.start()
                return
        self._waiting.clear()  # what is left of them is gone


def _place(widget: QWidget) -> int:
    return int(getCppPointer(widget)[0])
