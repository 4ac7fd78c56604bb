"""The page of a first start: begin with the example, connect an account, or open a file."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Button,
    Card,
    Flow,
    IconLabel,
    Label,
    LinkButton,
    PrimaryButton,
    Roomy,
    boxed,
    column,
    row,
)
from cfbatch_gui.ui.window.commands import NewJobs

_CARD = (330, 230)  # pixels; narrower in a narrow window


class WelcomePage(QWidget):
    def __init__(self, new_jobs: NewJobs, notices: Notices) -> None:
        super().__init__()
        self.try_button = PrimaryButton(self.tr("Start with the example"), "play", new_jobs.try_example)
        self.connect_button = Button(self.tr("Connect my account"), "key-round", notices.connection_wanted.emit)
        try_card = _card(
            "flask-conical",
            self.tr("Try it now"),
            self.tr("Works on this computer with an example. No account, nothing leaves this machine."),
            self.try_button,
        )
        connect_card = _card(
            "cloud",
            self.tr("Connect Cloudflare"),
            self.tr(
                "Use your own account. You need an account ID and a token; "
                "we show where to find them and test them for free."
            ),
            self.connect_button,
        )
        title = Label(self.tr("Rank and embed your texts"), "display", wrap=True)
        subtitle = Label(
            self.tr(
                "Best answers first, or every text as a vector, with Cloudflare’s bge-m3 in more than 100 languages."
            ),
            "quiet",
            wrap=True,
        )
        for label in (title, subtitle):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.open_button = LinkButton(self.tr("Open a file"), "file-up", new_jobs.choose_file)
        anywhere = Label(self.tr("or drop a file or paste texts anywhere in this window"), "quiet", wrap=True)
        anywhere.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        cards = boxed(Flow(try_card, connect_card, gap=18))
        middle = boxed(
            column(title, subtitle, WIDE - 2, cards, WIDE, anywhere, row(None, self.open_button, None), gap=SMALL)
        )
        middle.setMaximumWidth(2 * scaled(_CARD[0]) + 18)
        around = row(None, gap=0)
        around.addWidget(middle, 1000)
        around.addStretch(1)
        content = boxed(column(None, around, None, 36, margins=(LARGE, LARGE, LARGE, LARGE)))
        self.setLayout(column(Roomy(content)))


def _card(icon: str, title: str, text: str, button: Button) -> Card:
    words = (Label(title, "part", wrap=True), SMALL, Label(text, "quiet", wrap=True))
    card = Card(IconLabel(icon, "accent", 28), LARGE - 5, *words, None, button, gap=0, margins=(22, 22, 22, 19))
    card.setMinimumHeight(scaled(_CARD[1]))
    card.setMaximumWidth(max(scaled(_CARD[0]), button.sizeHint().width() + 2 * 22))
    card.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)  # equally wide, whatever they say
    return card
