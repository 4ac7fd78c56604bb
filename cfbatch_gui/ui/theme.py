"""The visual system: colours, sizes, font, palette and stylesheet, for light, dark and high contrast.

The application's palette stores it: `tokens()` reads it there, and what is painted asks when it paints. In the
stylesheet dynamic properties select styles: `kind` of buttons and frames, `role` of labels.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import lru_cache
from string import Template

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QFontMetrics, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import getCppPointer

from cfbatch_gui.ui.display import tr

_SHEET = Template("""
QWidget { outline: none; }
QToolTip { background: $card; color: $text; border: 1px solid $line; padding: 4px 6px; }

QLabel { background: transparent; }
QLabel[role="quiet"] { color: $quiet; }
QLabel[role="small"] { color: $quiet; font-size: ${small}px; }
QLabel[role="strong"] { font-weight: 600; }
QLabel[role="accent"] { color: $accent; }
QLabel[role="attention"] { color: $attention; font-weight: 500; }
QLabel[role="done"] { color: $done; font-weight: 500; }
QLabel[role="error"] { color: $error; font-weight: 500; }
QLabel[role="part"] { font-size: ${part}px; font-weight: 600; }
QLabel[role="title"] { font-size: ${title}px; font-weight: 600; }
QLabel[role="figure"] { font-size: ${figure}px; font-weight: 600; }
QLabel[state="true"] { font-weight: 500; }
QLabel[role="display"] { font-size: ${display}px; font-weight: 600; }
QLabel[role="number"] { color: $quiet; }
QLabel[kind="key"] { border: 1px solid $faint; border-bottom: 2px solid $faint; border-radius: 4px; padding: 1px 5px;
  min-width: 10px; }
QPlainTextEdit[kind="large"] { background: transparent; border: none; padding: 0; font-size: ${part}px; }

QDialog { border: 1px solid $line; }
QMessageBox QLabel#qt_msgbox_label { font-size: ${part}px; font-weight: 600; }
QMessageBox QLabel#qt_msgbox_informativelabel { min-width: 380px; }
QFrame[kind="card"] { background: $card; border: 1px solid $line; border-radius: 10px; }
QFrame[kind="inset"] { background: $inset; border: 1px solid $line; border-radius: 10px; }
QFrame[kind="plain"] { background: transparent; border: none; }
QFrame[kind="line"] { background: $line; border: none; }
QFrame[kind="sidebar"] { background: $sidebar; border: none; }
QFrame[kind="choice"], QRadioButton[kind="choice"] { background: $card; border: 1px solid $line; border-radius: 10px; }
QFrame[kind="choice"]:hover, QRadioButton[kind="choice"]:hover { border-color: $quiet; }
QFrame[kind="choice"][selected="true"], QRadioButton[kind="choice"]:checked {
    background: $selection; border: 2px solid $accent; }
QFrame[kind="notice"] { border: none; border-radius: 6px; background: $selection; }
QFrame[kind="notice"][floating="true"] { border: 1px solid $faint; }
QFrame[kind="notice"][level="attention"] { background: $attention_back; }
QFrame[kind="notice"][level="error"] { background: $error_back; }
QFrame[kind="notice"][level="done"] { background: $done_back; }

QPushButton { background: $field; color: $text; border: 1px solid $line; border-radius: 6px;
  min-height: ${control}px; max-height: ${control}px; padding: 0 12px; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $track; }
QPushButton:disabled { color: $faint; background: $inset; }
QPushButton:default { border-color: $accent; }
QPushButton::menu-indicator { image: none; width: 0; }
QPushButton[menu="true"] { padding-$start: 11px; padding-$end: 28px; text-align: $start; }
QPushButton[kind="primary"] { background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600; }
QPushButton[kind="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[kind="primary"]:pressed { background: $accent_pressed; border-color: $accent_pressed; }
QPushButton[kind="primary"]:disabled { background: $track; border-color: $track; color: $quiet; }
QPushButton[large="true"] { min-height: ${control_large}px; max-height: ${control_large}px; }
QPushButton[kind="quiet"], QPushButton[kind="icon"] { background: transparent; border: 1px solid transparent; }
QPushButton[kind="quiet"] { padding: 0 10px; }
QPushButton[kind="quiet"]:hover, QPushButton[kind="icon"]:hover { background: $hover; }
QPushButton[kind="quiet"]:pressed, QPushButton[kind="icon"]:pressed { background: $track; }
QPushButton[kind="quiet"]:checked { background: $hover; }
QPushButton[kind="icon"] { padding: 0; min-width: ${control}px; max-width: ${control}px; }
QPushButton[kind="link"] { background: transparent; border: none; color: $accent; padding: 0 2px;
  min-height: ${link}px; max-height: ${link_most}px; text-align: $start; }
QPushButton[kind="link"]:hover { text-decoration: underline; }
QPushButton[kind="link"]:disabled { color: $faint; }
QPushButton[kind="danger"] { color: $error; }

QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox { background: $field; color: $text; border: 1px solid $faint;
  border-radius: 6px; min-height: ${control}px; max-height: ${control}px; padding: 0 10px;
  selection-background-color: $accent; selection-color: $on_accent; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QPlainTextEdit:focus { border-color: $accent; }
QLineEdit:read-only { color: $quiet; background: $inset; }
QLineEdit:disabled, QComboBox:disabled { color: $quiet; background: $inset; }
QComboBox { padding-$end: 26px; combobox-popup: 0; }
QComboBox:hover { background: $hover; }
QComboBox QLineEdit { background: transparent; border: none; padding: 0; min-height: 0; }
QComboBox::drop-down { border: none; width: 24px; }
QComboBox::down-arrow { image: none; }
QComboBox QAbstractItemView { background: $card; color: $text; border: 1px solid $line; padding: 4px;
  selection-background-color: $selection; selection-color: $text; }
QComboBox QAbstractItemView::item { min-height: ${control}px; padding: 0 8px; border-radius: 4px; }
QComboBox QAbstractItemView::item:selected { background: $selection; color: $text; }
QComboBox QAbstractItemView::item:disabled { color: $quiet; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {
  border: none; background: transparent; width: 0; }
QCheckBox, QRadioButton { spacing: 8px; color: $text; background: transparent; }
QCheckBox:disabled, QRadioButton:disabled { color: $quiet; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid $quiet; border-radius: 4px; background: $field; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; }
QCheckBox::indicator:indeterminate { border-color: $accent; background: qlineargradient(x1: 0, y1: 0, x2: 0, y2: 1,
    stop: 0 $accent, stop: 0.4 $accent, stop: 0.41 $on_accent, stop: 0.6 $on_accent, stop: 0.61 $accent,
    stop: 1 $accent); }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border-color: $accent; }
QRadioButton::indicator { width: 14px; height: 14px; border: 1px solid $quiet; border-radius: 8px; background: $field; }
QCheckBox::indicator:!enabled, QRadioButton::indicator:!enabled { border-color: $faint; }
QRadioButton::indicator:checked { width: 6px; height: 6px; border: 5px solid $accent; border-radius: 8px;
  background: $on_accent; }
QPlainTextEdit { background: $field; color: $text; border: 1px solid $faint; border-radius: 6px; padding: 6px;
  selection-background-color: $accent; selection-color: $on_accent; }

QMenu { background: $card; color: $text; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $faint; }
QMenu::icon { padding-left: 10px; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QMenuBar { background: $sidebar; color: $text; border-bottom: 1px solid $line; padding: 0 4px; }
QMenuBar::item { padding: 5px 10px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: $hover; }

QTabBar::scroller { width: ${control}px; }
QTabBar QToolButton { background: $window; border: none; border-bottom: 1px solid $line; }
QTabBar QToolButton:hover { background: $hover; }

QScrollArea { background: transparent; border: none; }
QScrollArea > QWidget > QWidget[kind="page"] { background: transparent; }
QAbstractItemView { background: $window; color: $text; border: none; }
QListWidget[kind="topics"] { background: $sidebar; padding: 8px; }
QListWidget[kind="topics"]::item { padding: 0 8px; border-radius: 6px; }
QListWidget[kind="topics"]::item:hover { background: $hover; }
QListWidget[kind="topics"]::item:selected { background: $selection; color: $text; }
QTextBrowser { background: $window; color: $text; border: none; }
QTableView { selection-background-color: $selection; selection-color: $text; gridline-color: transparent; }
QTableView[inset="true"] { background: transparent; }
QHeaderView { background: transparent; border: none; }
QFileDialog QAbstractItemView { selection-background-color: $selection; selection-color: $text; }
QFileDialog QHeaderView { background: $window; }
QFileDialog QHeaderView::section { background: $window; color: $quiet; border: none; border-bottom: 1px solid $line;
  padding: 5px 8px; }
QTableCornerButton::section { background: transparent; border: none; }
QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 2px; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 2px; }
QScrollBar::handle { background: $faint; border-radius: 3px; }
QScrollBar::handle:vertical { min-height: 36px; }
QScrollBar::handle:horizontal { min-width: 36px; }
QScrollBar::handle:hover { background: $quiet; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }
""")


def stylesheet(
    colours: Mapping[str, str],
    pixels: int,
    scaled: Callable[[int], int] = int,
    *,
    direction: Qt.LayoutDirection = Qt.LayoutDirection.LeftToRight,
) -> str:
    """`pixels` is the font size of body text, `scaled` fits a height to it. Qt mirrors no paddings by `direction`."""
    sides = ("left", "right") if direction == Qt.LayoutDirection.LeftToRight else ("right", "left")
    return _SHEET.substitute(
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

FUSION_ACCENT = "#308cc6"  # Qt's default accent, where the system has none
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


# What may be painted on what, which tests hold against all that is painted: text in INKS on each of GROUNDS, with a
# contrast of 4.5 and of 7 in high contrast; shapes and lines that mean something in MARKS, with one of 3. Lines of
# DECORATION mean nothing.
INKS = ("text", "quiet", "accent", "attention", "done", "error")
GROUNDS = (
    *("window", "sidebar", "card", "inset", "field", "hover", "track", "selection"),
    *("attention_back", "done_back", "error_back"),
)
MARKS = ("text", "quiet", "accent", "attention")
DECORATION = ("line",)
LEGIBLE = 4.5  # of text, by WCAG 2.2 at level AA

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
    window="#fefefe",  # differs from LIGHT's, by which `tokens` recognises the scheme
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
_BY_WINDOW = {tokens.window: tokens for tokens in (LIGHT, DARK, HIGH_CONTRAST_LIGHT, HIGH_CONTRAST_DARK)}

_of_palette: dict[int, Tokens] = {}  # the current one, by its palette's cache key
_scale_of_font: dict[str, float] = {}  # how much larger than usual the current one is, by its key


def tokens() -> Tokens:
    """The current colours; the accent is the system's if it has one."""
    palette = QGuiApplication.palette()
    key = palette.cacheKey()
    if key not in _of_palette:  # each cell of a table asks twice, and reading colours costs several calls into Qt
        _of_palette.clear()
        _of_palette[key] = _tokens(palette.window().color().name(), palette.accent().color().name())
    return _of_palette[key]


@lru_cache(maxsize=16)
def _tokens(window: str, accent: str) -> Tokens:
    known = _BY_WINDOW.get(window) or (DARK if QColor(window).lightness() < 128 else LIGHT)
    return known if accent in (known.accent, FUSION_ACCENT) else _with_accent(known, accent)


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
            app.setPalette(QPalette())  # the system's own palette, to read its accent
            accent = app.palette().accent().color().name()
            known = (
                (HIGH_CONTRAST_DARK if is_high else DARK) if is_dark else (HIGH_CONTRAST_LIGHT if is_high else LIGHT)
            )
            chosen = known if accent == FUSION_ACCENT or is_high else _with_accent(known, accent)
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


def _with_accent(known: Tokens, accent: str) -> Tokens:
    """The system's accent, adjusted until it can be read on every ground, and a selection colour mixed from it."""
    is_dark = QColor(known.window).lightness() < 128
    towards, shown = QColor("#ffffff" if is_dark else "#14171c"), QColor(accent)
    while _least_contrast([shown.name()], known, GROUNDS) < LEGIBLE:
        shown = mixed(towards, shown, 0.1)
    white, ink = QColor("#ffffff"), QColor("#14171c")
    on_accent = white if _contrast(shown, white) >= _contrast(shown, ink) else ink
    share, inks = (0.2 if is_dark else 0.11), [shown.name(), *(getattr(known, each) for each in INKS)]
    while True:
        selection = mixed(shown, QColor(known.window), share).name()
        chosen = replace(known, accent=shown.name(), on_accent=on_accent.name(), selection=selection)
        if _least_contrast(inks, chosen, ("selection",)) >= LEGIBLE:
            return chosen
        share -= 0.01


def _least_contrast(inks: Sequence[str], chosen: Tokens, grounds: Sequence[str]) -> float:
    return min(_contrast(QColor(ink), QColor(getattr(chosen, ground))) for ink in inks for ground in grounds)


def mixed(front: QColor, back: QColor, share: float) -> QColor:
    """`share`, from 0 to 1, is that of `front`."""
    return QColor.fromRgbF(
        front.redF() * share + back.redF() * (1 - share),
        front.greenF() * share + back.greenF() * (1 - share),
        front.blueF() * share + back.blueF() * (1 - share),
    )


def _luminance(value: QColor) -> float:
    channels = (value.redF(), value.greenF(), value.blueF())
    linear = [c / 12.92 if c <= 0.03928 else math.pow((c + 0.055) / 1.055, 2.4) for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: QColor, other: QColor) -> float:
    lower, upper = sorted((_luminance(one), _luminance(other)))
    return (upper + 0.05) / (lower + 0.05)


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
