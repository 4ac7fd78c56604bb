"""Another scheme is that of the whole window; whatever is painted can be seen."""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QLabel

from cfbatch_gui.core.resources import resource
from cfbatch_gui.ui import icons
from cfbatch_gui.ui.plots.colours import categories, ramp, to_colour
from cfbatch_gui.ui.theme import (
    DARK,
    HIGH_CONTRAST_DARK,
    HIGH_CONTRAST_LIGHT,
    LIGHT,
    Colours,
    Scheme,
    Theme,
    _colours,
    _palette,
    tokens,
)
from cfbatch_gui.ui.widgets import ElidedLabel

NAMES = sorted(path.stem for path in resource("icons").glob("*.svg"))


def test_the_palette_carries_the_theme(theme: Theme) -> None:
    theme.set_scheme(Scheme.HIGH_CONTRAST)
    is_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    assert tokens() == (HIGH_CONTRAST_DARK if is_dark else HIGH_CONTRAST_LIGHT)
    for scheme, colours in ((Scheme.DARK, DARK), (Scheme.LIGHT, LIGHT)):
        theme.set_scheme(scheme)
        assert tokens() == colours and QGuiApplication.palette().window().color().name() == colours["window"]


@pytest.mark.parametrize("name", NAMES)
def test_every_icon_draws_in_the_colour_asked_for(qapp: QApplication, name: str) -> None:
    image = icons.icon(name, "accent").pixmap(QSize(16, 16), 2.0).toImage()
    assert (image.width(), image.devicePixelRatio()) == (32, 2.0)
    strong = [image.pixelColor(x, y) for x in range(32) for y in range(32) if image.pixelColor(x, y).alpha() > 250]
    assert strong
    assert all(abs(each.blue() - QColor(LIGHT["accent"]).blue()) < 8 for each in strong)


def test_data_never_becomes_markup(qtbot: Any) -> None:
    text = "<img src='/etc/passwd'> <b>bold</b>"
    label = ElidedLabel(text)
    qtbot.addWidget(label)
    label.resize(60, 20)
    label.show()
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert label.whole_text() == text
    assert "&lt;img" in label.toolTip()
    assert isinstance(label, QLabel)


# What may be painted on what: text in INKS on each of GROUNDS, with a contrast of 4.5 and of 7 in high contrast.
# Lines of DECORATION mean nothing.
INKS = ("text", "quiet", "accent", "attention", "done", "error")
GROUNDS = (
    *("window", "sidebar", "card", "inset", "field", "hover", "track", "selection"),
    *("attention_back", "done_back", "error_back"),
)
DECORATION = ("line",)
HIGH = (HIGH_CONTRAST_LIGHT, HIGH_CONTRAST_DARK)
SCHEMES = {"light": LIGHT, "dark": DARK, "high-light": HIGH_CONTRAST_LIGHT, "high-dark": HIGH_CONTRAST_DARK}
SEEN = 3.0  # a shape or a line that means something
FAINT_TEXT = 3.0  # of what cannot be chosen, for which WCAG asks nothing
every_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)


def legible(scheme: Colours) -> float:
    return 7.0 if scheme in HIGH else 4.5


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2.2."""
    lower, upper = sorted(map(luminance, (QColor(one), QColor(other))))
    return (upper + 0.05) / (lower + 0.05)


def luminance(value: QColor) -> float:
    channels = (value.redF(), value.greenF(), value.blueF())
    linear = [c / 12.92 if c <= 0.03928 else math.pow((c + 0.055) / 1.055, 2.4) for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@every_scheme
def test_every_ink_can_be_read_on_every_ground(scheme: Colours) -> None:
    pairs = {pair: contrast(scheme[pair[0]], scheme[pair[1]]) for pair in (*product(INKS, GROUNDS), ("text", "found"))}
    assert {pair: value for pair, value in pairs.items() if value < legible(scheme)} == {}


def test_every_colour_has_a_use() -> None:
    assert {*INKS, *GROUNDS, *DECORATION, "on_accent", "found"} == set(LIGHT)


@every_scheme
def test_buttons_and_the_edges_of_fields_can_be_seen(scheme: Colours) -> None:
    colours = _colours(scheme)
    for ground in ("accent", "accent_hover", "accent_pressed"):
        assert contrast(scheme["on_accent"], colours[ground]) >= legible(scheme), ground
    for ground in ("window", "sidebar", "card", "inset"):
        assert contrast(colours["faint"], colours[ground]) >= SEEN, ground


@every_scheme
def test_the_palette_of_native_parts_can_be_read(scheme: Colours) -> None:
    palette, role = _palette(scheme), QPalette.ColorRole
    pairs = [(role.WindowText, role.Window), (role.Text, role.Base), (role.Text, role.AlternateBase)]
    pairs += [(role.ButtonText, role.Button), (role.ToolTipText, role.ToolTipBase), (role.Link, role.Window)]
    pairs += [(role.PlaceholderText, role.Base), (role.HighlightedText, role.Highlight), (role.LinkVisited, role.Base)]
    for ink, ground in pairs:
        assert contrast(palette.color(ink).name(), palette.color(ground).name()) >= legible(scheme), (ink, ground)
    faint = palette.color(QPalette.ColorGroup.Disabled, role.Text).name()
    assert contrast(faint, scheme["window"]) >= (4.5 if scheme in HIGH else FAINT_TEXT)


@pytest.fixture
def _light_again(theme: Theme) -> Iterator[None]:
    yield
    theme.set_scheme(Scheme.LIGHT)


@pytest.mark.usefixtures("_light_again")
@pytest.mark.parametrize("scheme", [Scheme.LIGHT, Scheme.DARK, Scheme.HIGH_CONTRAST])
def test_dots_and_their_key_can_be_seen(theme: Theme, scheme: Scheme) -> None:
    theme.set_scheme(scheme)
    for colour in (*categories(), *ramp(16)):
        assert contrast(to_colour(colour).name(), tokens()["window"]) >= SEEN
