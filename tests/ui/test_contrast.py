"""Whatever is painted can be seen: the colours of the stylesheet, as Qt puts its rules together, and of plots."""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette

from cfbatch_gui.ui.plots.colours import categories, ramp, to_colour
from cfbatch_gui.ui.stylesheet import stylesheet
from cfbatch_gui.ui.theme import (
    DARK,
    DECORATION,
    GROUNDS,
    HIGH_CONTRAST_DARK,
    HIGH_CONTRAST_LIGHT,
    INKS,
    LIGHT,
    MARKS,
    Scheme,
    Theme,
    Tokens,
    _colours,
    _contrast,
    _palette,
    _with_accent,
    tokens,
)

HIGH = (HIGH_CONTRAST_LIGHT, HIGH_CONTRAST_DARK)
ACCENTS = ("#ffff00", "#00ff99", "#e01b24", "#101010", "#f8f8f8", "#9141ac")  # that a system may have
SCHEMES = {"light": LIGHT, "dark": DARK, "high-light": HIGH_CONTRAST_LIGHT, "high-dark": HIGH_CONTRAST_DARK}
SCHEMES |= {f"{name} {accent}": _with_accent(SCHEMES[name], accent) for name in ("light", "dark") for accent in ACCENTS}
SEEN = 3.0  # a shape or a line that means something
FAINT_TEXT = 3.0  # of what cannot be chosen, for which WCAG asks nothing
every_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)


def legible(scheme: Tokens) -> float:
    return 7.0 if scheme in HIGH else 4.5


def contrast(one: str, other: str) -> float:
    return _contrast(QColor(one), QColor(other))


@every_scheme
def test_every_ink_can_be_read_on_every_ground(scheme: Tokens) -> None:
    values = asdict(scheme)
    pairs = {(ink, ground): contrast(values[ink], values[ground]) for ink in INKS for ground in GROUNDS}
    assert {pair: value for pair, value in pairs.items() if value < legible(scheme)} == {}


@every_scheme
def test_what_a_search_has_found_can_be_read(scheme: Tokens) -> None:
    assert contrast(scheme.text, scheme.found) >= legible(scheme)


@every_scheme
def test_every_mark_can_be_seen_on_every_ground(scheme: Tokens) -> None:
    values = asdict(scheme)
    pairs = {(mark, ground): contrast(values[mark], values[ground]) for mark in MARKS for ground in GROUNDS}
    assert {pair: value for pair, value in pairs.items() if value < SEEN} == {}


def test_every_colour_has_a_use() -> None:
    assert {*INKS, *GROUNDS, *MARKS, *DECORATION, "on_accent", "found"} == {field.name for field in fields(Tokens)}


# The stylesheet


@dataclass(frozen=True)
class Selector:
    """What a rule is for: `QPushButton[kind="quiet"]:hover` is a widget, attributes, and states or a part of it."""

    widget: str
    attributes: frozenset[str]
    states: frozenset[str]
    part: str = ""

    def covers(self, other: "Selector") -> bool:
        same = self.widget in (other.widget, "QWidget") and self.part == other.part
        return same and self.attributes <= other.attributes and self.states <= other.states


Rules = list[tuple[Selector, dict[str, str]]]


def rules_of(sheet: str) -> Rules:
    found: Rules = []
    for selectors, body in re.findall(r"([^{}]+)\{([^}]*)\}", sheet):
        declared = dict(re.findall(r"([\w-]+)\s*:\s*([^;]+)", body))
        for text in selectors.split(","):
            last = text.strip().split()[-1]  # of `QComboBox QLineEdit`
            shape = re.fullmatch(r"(\w+)((?:\[[^\]]*\]|#\w+)*)(::[\w-]+)?((?::[!\w-]+)*)", last)
            assert shape is not None, f"{last} is not understood"
            widget, attributes, part, states = shape.groups(default="")
            names = frozenset[str](re.findall(r"\[[^\]]*\]|#\w+", attributes))
            selector = Selector(widget, names, frozenset[str](re.findall(r"[!\w-]+", states)), part)
            found.append((selector, declared))
    return found


def looks(rules: Rules) -> Iterator[tuple[Selector, Mapping[str, str]]]:
    """Each kind of widget in each of its states, with all that the rules together say of it."""
    widgets = {(each.widget, each.part) for each, _ in rules}
    for widget, part in sorted(widgets):
        own = [each for each, _ in rules if (each.widget, each.part) == (widget, part)]
        attributes = {each.attributes for each in own} | {frozenset[str]()}
        states = {each.states for each in own} | {frozenset[str]()}
        for attribute, state in itertools.product(attributes, states):
            look = Selector(widget, attribute, state, part)
            matching = [(each, said) for each, said in rules if each.covers(look)]
            matching.sort(key=lambda rule: len(rule[0].attributes) + len(rule[0].states) + (rule[0].widget == widget))
            yield look, {name: value.strip() for _, said in matching for name, value in said.items()}


def colours_of(value: str) -> list[str]:
    return re.findall(r"#[0-9a-f]{6}", value)


@every_scheme
def test_what_the_stylesheet_paints_can_be_read(scheme: Tokens) -> None:
    values = asdict(scheme)
    everywhere = [values[ground] for ground in GROUNDS]
    low = []
    for look, said in looks(rules_of(stylesheet(_colours(scheme), 13))):
        ink = said.get("color", scheme.text)
        grounds = colours_of(said.get("background", "")) or (everywhere if "color" in said else [])
        if look.widget in ("QScrollBar", "QSplitter", "QMenu") and look.part in ("::handle", "::separator"):
            continue  # no text stands on these
        if look.part == "::indicator" or (look.widget == "QFrame" and "line" in str(look.attributes)):
            continue
        needed = FAINT_TEXT if "disabled" in look.states and ink == _colours(scheme)["faint"] else legible(scheme)
        pairs = [(ink, ground) for ground in grounds]
        if "selection-color" in said and "selection-background-color" in said:
            pairs.append((said["selection-color"], said["selection-background-color"]))
        low += [(look, pair, contrast(*pair)) for pair in pairs if contrast(*pair) < needed]
    assert low == []


FIELDS = ("QLineEdit", "QComboBox", "QSpinBox", "QDoubleSpinBox", "QPlainTextEdit")


@every_scheme
def test_the_edge_of_every_field_and_box_can_be_seen(scheme: Tokens) -> None:
    around = [scheme.window, scheme.sidebar, scheme.card, scheme.inset]
    seen = 0
    for look, said in looks(rules_of(stylesheet(_colours(scheme), 13))):
        if (look.widget in FIELDS and not look.part) or look.part in ("::indicator", "::handle"):
            declared = said.get("border-color", "") or said.get("border", "")
            if look.part == "::handle":
                declared = said.get("background", "") if look.widget == "QScrollBar" else ""
            for edge in colours_of(declared):
                seen += 1
                assert min(contrast(edge, ground) for ground in around) >= SEEN, look
    assert seen >= 20


@every_scheme
def test_the_palette_of_native_parts_can_be_read(scheme: Tokens) -> None:
    palette, role = _palette(scheme), QPalette.ColorRole
    pairs = [(role.WindowText, role.Window), (role.Text, role.Base), (role.Text, role.AlternateBase)]
    pairs += [(role.ButtonText, role.Button), (role.ToolTipText, role.ToolTipBase), (role.Link, role.Window)]
    pairs += [(role.PlaceholderText, role.Base), (role.HighlightedText, role.Highlight), (role.LinkVisited, role.Base)]
    for ink, ground in pairs:
        assert contrast(palette.color(ink).name(), palette.color(ground).name()) >= legible(scheme), (ink, ground)
    faint = palette.color(QPalette.ColorGroup.Disabled, role.Text).name()
    assert contrast(faint, scheme.window) >= (4.5 if scheme in HIGH else FAINT_TEXT)


@pytest.fixture
def _light_again(theme: Theme) -> Iterator[None]:
    yield
    theme.set_scheme(Scheme.LIGHT)


@pytest.mark.usefixtures("_light_again")
@pytest.mark.parametrize("scheme", [Scheme.LIGHT, Scheme.DARK, Scheme.HIGH_CONTRAST])
def test_dots_and_their_key_can_be_seen(theme: Theme, scheme: Scheme) -> None:
    theme.set_scheme(scheme)
    for colour in (*categories(), *ramp(16)):
        assert contrast(to_colour(colour).name(), tokens().window) >= SEEN


@pytest.mark.usefixtures("_light_again")
def test_high_contrast_can_be_chosen(theme: Theme) -> None:
    theme.set_scheme(Scheme.HIGH_CONTRAST)
    is_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    assert tokens() == (HIGH_CONTRAST_DARK if is_dark else HIGH_CONTRAST_LIGHT)
