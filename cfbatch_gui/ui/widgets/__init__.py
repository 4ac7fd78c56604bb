"""The widgets that pages are built from. They show plain text only, in the colours of the theme."""

from cfbatch_gui.ui.widgets.bars import Level, NoticeBar, ThinProgress, paint_bar
from cfbatch_gui.ui.widgets.box_layouts import PAGE_MARGINS, Flow, Item, boxed, column, line, row, scrolled, split
from cfbatch_gui.ui.widgets.buttons import (
    Button,
    DangerButton,
    IconButton,
    LinkButton,
    MenuButton,
    MoreButton,
    PrimaryButton,
    QuietButton,
    add_action,
)
from cfbatch_gui.ui.widgets.cards import Card, ChoiceCard, EmptyPlace, MaybeEmpty, SectionCard
from cfbatch_gui.ui.widgets.fields import CheckBox, Choice, SearchField
from cfbatch_gui.ui.widgets.header import PageHeader
from cfbatch_gui.ui.widgets.labels import (
    Clickable,
    ElidedLabel,
    Figure,
    IconLabel,
    IconLine,
    Label,
    Role,
    Sentence,
    StateLabel,
)
from cfbatch_gui.ui.widgets.roomy import Roomy
from cfbatch_gui.ui.widgets.tabs import Tabs

__all__ = [
    "PAGE_MARGINS",
    "Button",
    "Card",
    "CheckBox",
    "Choice",
    "ChoiceCard",
    "Clickable",
    "DangerButton",
    "ElidedLabel",
    "EmptyPlace",
    "Figure",
    "Flow",
    "IconButton",
    "IconLabel",
    "IconLine",
    "Item",
    "Label",
    "Level",
    "LinkButton",
    "MaybeEmpty",
    "MenuButton",
    "MoreButton",
    "NoticeBar",
    "PageHeader",
    "PrimaryButton",
    "QuietButton",
    "Role",
    "Roomy",
    "SearchField",
    "SectionCard",
    "Sentence",
    "StateLabel",
    "Tabs",
    "ThinProgress",
    "add_action",
    "boxed",
    "column",
    "line",
    "paint_bar",
    "row",
    "scrolled",
    "split",
]
