"""The widgets that pages are built from. They show plain text only, in the colours of the theme."""

from cfbatch_gui.ui.widgets.bars import Level, NoticeBar, PageHeader, Tabs, ThinProgress, paint_bar
from cfbatch_gui.ui.widgets.box_layouts import (
    PAGE_MARGINS,
    Flow,
    Item,
    Roomy,
    boxed,
    column,
    discard,
    form,
    line,
    row,
    scrolled,
    split,
)
from cfbatch_gui.ui.widgets.buttons import (
    Button,
    CheckBox,
    Choice,
    DangerButton,
    IconButton,
    KeyedButton,
    LinkButton,
    MenuButton,
    MoreButton,
    PrimaryButton,
    QuietButton,
    SearchField,
    Switch,
    add_action,
)
from cfbatch_gui.ui.widgets.cards import Card, ChoiceCard, EmptyPlace, MaybeEmpty, SectionCard
from cfbatch_gui.ui.widgets.labels import (
    Clickable,
    ElidedLabel,
    Figure,
    IconLabel,
    IconLine,
    Label,
    LabelGrid,
    Phrase,
    Saying,
    Sentence,
    StateLabel,
    restyle,
)
from cfbatch_gui.words.states import Role
