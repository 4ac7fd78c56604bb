"""The page Settings: connections, what the window looks like, what may be spent, and where the data is."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QStackedWidget, QWidget

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import language_in_use, languages
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.ui.budget import BudgetFields
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, TINY, WIDE, Scheme
from cfbatch_gui.ui.widgets import (
    PAGE_MARGINS,
    Button,
    Card,
    CheckBox,
    Choice,
    ElidedLabel,
    Flow,
    Label,
    LinkButton,
    PageHeader,
    Tabs,
    boxed,
    column,
    row,
    scrolled,
)

CONNECTIONS, WINDOW, SPENDING, DATA = "connections", "window", "spending", "data"


class SettingsPage(QWidget):
    """A change is saved at once."""

    done = Signal()
    scheme_chosen = Signal(str)  # a `Scheme`, for the receiver to apply and save
    traffic_wanted = Signal()
    back_up_wanted = Signal()

    def __init__(self, program: Program, connections: QWidget) -> None:
        super().__init__()
        self._program = program
        self.header = PageHeader(self.tr("Settings"))
        self.done_button = self.header.add_button(Button(self.tr("Done")))
        self.done_button.clicked.connect(self.done)
        leave = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        leave.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        leave.activated.connect(self.done)
        self.tabs = Tabs()
        self._stack = QStackedWidget()
        self._pages: dict[str, QWidget] = {}
        self._add(CONNECTIONS, self.tr("Connections"), connections)
        self._add(WINDOW, self.tr("Window"), self._window_page())
        self._add(SPENDING, self.tr("Spending"), self._spending_page())
        self._add(DATA, self.tr("Data and privacy"), self._data_page())
        self.tabs.chosen.connect(lambda key: self._stack.setCurrentWidget(self._pages[key]))
        content = column(self.header, self.tabs, gap=TINY)
        content.addWidget(self._stack, 1)
        self.setLayout(content)

    def choose(self, key: str) -> None:
        self.tabs.choose(key)

    def choose_connections(self) -> None:
        self.choose(CONNECTIONS)

    def shows_connections(self) -> bool:
        return self.tabs.current() == CONNECTIONS

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        settings = self._program.settings
        self.appearance.show_scheme(settings.theme)
        self.language.show_language(settings.language)
        self.budget.show_budget(settings.budget)
        self.system_notices.setChecked(settings.system_notices)
        self.practice_waits.setChecked(settings.practice_waits)
        self.forget.setChecked(settings.forget_after_export)
        self.forget_folders.setEnabled(bool(settings.folders or settings.last_folder))

    def _add(self, key: str, title: str, page: QWidget) -> None:
        self.tabs.add(key, title)
        self._pages[key] = page
        self._stack.addWidget(page)

    def _window_page(self) -> QWidget:
        self.appearance = AppearanceCard()
        self.appearance.chosen.connect(self.scheme_chosen)
        self.language = LanguageCard()
        self.language.chosen.connect(lambda code: self._program.change_settings(language=code))
        self.system_notices = CheckBox(self.tr("Tell me on the desktop when a job is finished or needs me"))
        self.system_notices.clicked.connect(lambda on: self._program.change_settings(system_notices=on))
        notices = Card()
        notices.body.addWidget(Label(self.tr("Notices"), "part"))
        notices.body.addWidget(self.system_notices)
        return _page(self.appearance, self.language, notices, self._practice_card())

    def _practice_card(self) -> Card:
        self.practice_waits = CheckBox(self.tr("Practice jobs take some seconds, as real ones take minutes"))
        self.practice_waits.clicked.connect(lambda on: self._program.change_settings(practice_waits=on))
        card = Card()
        card.body.addWidget(Label(self.tr("Practice service"), "part"))
        card.body.addWidget(self.practice_waits)
        card.body.addWidget(
            Label(self.tr("Otherwise they are done at once. A change holds from the next start."), "small", wrap=True)
        )
        return card

    def _spending_page(self) -> QWidget:
        self.budget = BudgetFields()
        self.budget.budget_chosen.connect(self._keep_budget)
        card = Card()
        card.body.addWidget(Label(self.tr("Ask before spending more than"), "part"))
        card.body.addWidget(self.budget)
        card.body.addWidget(
            Label(
                self.tr(
                    "Nothing is forbidden: above these amounts the program asks once more before it sends. The terminal"
                    " program keeps to them too. A day is a day of UTC, as Cloudflare counts."
                ),
                "small",
                wrap=True,
            )
        )
        return _page(card)

    def _data_page(self) -> QWidget:
        folder = self._program.paths.root
        where = Card()
        where.body.addWidget(Label(self.tr("Where jobs are kept"), "part"))
        show = LinkButton(self.tr("Show folder"))
        show.clicked.connect(_opener(str(folder)))
        place = row(ElidedLabel(str(folder), "quiet"), MEDIUM, show)
        place.setStretch(0, 1)
        where.body.addLayout(place)
        where.body.addWidget(
            Label(
                self.tr("A dialog for files begins in the folder that was last used for files of that kind."),
                "small",
                wrap=True,
            )
        )
        self.forget_folders = LinkButton(self.tr("Forget these folders"), on_click=self._forget_folders)
        where.body.addLayout(row(self.forget_folders, None))
        back_up = LinkButton(self.tr("Back up all jobs…"), "archive", self.back_up_wanted.emit)
        where.body.addLayout(row(back_up, None))
        privacy = Card()
        privacy.body.addWidget(Label(self.tr("Privacy"), "part"))
        privacy.body.addWidget(
            Label(
                self.tr(
                    "Texts go to the connection of their job when you send it, and nowhere else. The program counts"
                    " nothing and looks for no updates."
                ),
                "quiet",
                wrap=True,
            )
        )
        self.forget = CheckBox(self.tr("Remove the texts of a finished job once all of it was exported"))
        self.forget.clicked.connect(lambda on: self._program.change_settings(forget_after_export=on))
        privacy.body.addWidget(self.forget)
        privacy.body.addWidget(
            Label(
                self.tr(
                    "Scores, ranks, vectors and ids stay; each text is shown by its id or the number of its row. The"
                    " job cannot be sent again after that."
                ),
                "small",
                wrap=True,
            )
        )
        self.traffic_link = LinkButton(self.tr("What leaves this computer"), "activity", self.traffic_wanted.emit)
        privacy.body.addLayout(row(self.traffic_link, None))
        return _page(where, privacy)

    def _forget_folders(self) -> None:
        self._program.change_settings(folders={}, last_folder="")
        self.forget_folders.setEnabled(False)

    def _keep_budget(self, budget: Budget) -> None:
        self._program.change_settings(budget=budget)


def _page(*cards: QWidget) -> QWidget:
    left, _, right, bottom = PAGE_MARGINS
    content = QWidget()
    content.setLayout(column(*cards, None, gap=MEDIUM, margins=(left, LARGE, right, bottom)))
    whole = QWidget()
    whole.setLayout(column(scrolled(content), gap=SMALL))
    return whole


def _opener(folder: str) -> Callable[[], None]:
    def show() -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(folder))

    return show


class AppearanceCard(Card):
    """Only the user's choice emits `chosen`."""

    chosen = Signal(str)  # a `Scheme`

    def __init__(self) -> None:
        super().__init__()
        self.choices = {
            Scheme.SYSTEM: QRadioButton(self.tr("Match system")),
            Scheme.LIGHT: QRadioButton(self.tr("Light")),
            Scheme.DARK: QRadioButton(self.tr("Dark")),
            Scheme.HIGH_CONTRAST: QRadioButton(self.tr("High contrast")),
        }
        self._group = QButtonGroup(self)
        line = Flow(Label(self.tr("Appearance"), "part"), None, gap=WIDE)
        for scheme, choice in self.choices.items():
            choice.setAccessibleName(self.tr("Appearance: {choice}").format(choice=choice.text()))
            self._group.addButton(choice)
            choice.toggled.connect(lambda on, scheme=scheme: self._toggled(scheme, on))
            line.addWidget(choice)
        self._quiet = False
        self.body.setSpacing(SMALL)
        self.body.addWidget(boxed(line))

    def show_scheme(self, scheme: str) -> None:
        known = Scheme(scheme) if scheme in set(Scheme) else Scheme.SYSTEM
        self._quiet = True
        self.choices[known].setChecked(True)
        self._quiet = False

    def _toggled(self, scheme: Scheme, on: bool) -> None:
        if on and not self._quiet:
            self.chosen.emit(scheme.value)


class LanguageCard(Card):
    """Only the user's choice emits `chosen`, with a code or ""; it holds from the next start."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.choice = Choice(self.tr("Language"))
        self.choice.add(self.tr("Match system"), "")
        for language in languages():
            self.choice.add(language.name, language.code)
        self.choice.picked.connect(lambda code: self._choose(str(code)))
        self.later = Label("", "quiet", wrap=True)
        self.later.hide()
        self.body.setSpacing(SMALL)
        self.body.addLayout(row(Label(self.tr("Language"), "part"), None, self.choice, gap=WIDE))
        self.body.addWidget(self.later)

    def show_language(self, code: str) -> None:
        self.choice.set_value("")
        self.choice.set_value(code)

    def _choose(self, code: str) -> None:
        self.chosen.emit(code)
        names = {language.code: language.name for language in languages()}
        if not code:
            self.later.setText(self.tr("From the next start on, CF Batch has the language of your system."))
        else:
            self.later.setText(
                self.tr("From the next start on, CF Batch speaks {language}.").format(language=names[code])
            )
        self.later.setVisible(code != language_in_use().code)
