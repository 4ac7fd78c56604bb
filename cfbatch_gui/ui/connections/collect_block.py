"""Whether a Worker collects answers in the user's account, and how long they stay there."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QValidator, QWheelEvent
from PySide6.QtWidgets import QSpinBox, QWidget

from cfbatch_gui.core.system.settings import SavedConnection
from cfbatch_gui.ui import display
from cfbatch_gui.ui.theme import SMALL, TINY, scaled
from cfbatch_gui.ui.widgets import CheckBox, Flow, Label, LinkButton, boxed, column

_MOST_DAYS = 365
_INDENT = 24  # pixels to the text of a check box


class CollectBlock(QWidget):
    """The switch with what it does and needs; how long answers are kept is asked for while it is on.

    `changed`: the user has changed something. `jobs_wanted`: the list of what is in the account.
    """

    changed = Signal()
    jobs_wanted = Signal()

    def __init__(self, record: SavedConnection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._saved = record
        self.switch = CheckBox(self.tr("Collect answers in my account"))
        self.switch.setChecked(record.collects)
        about = self.tr(
            "Your account asks for the answers and keeps them until they are fetched, so this computer may be off. The"
            " Worker needs its collecting room and storage (R2)."
        )
        self.days = _Days(self.tr("Days that answers stay in your account once they are here"))
        self.days.setValue(record.keep_days)
        self.jobs_link = LinkButton(self.tr("In your account…"), "inbox")
        self.jobs_link.setAccessibleDescription(self.tr("Lists the jobs in this account"))
        self._keeping = boxed(Flow(Label(self.tr("Once they are here, keep them there for")), self.days))
        below = column(
            Label(about, "small", wrap=True),
            self._keeping,
            boxed(Flow(self.jobs_link)),
            gap=SMALL,
            margins=(scaled(_INDENT), 0, 0, 0),
        )
        self.setLayout(column(self.switch, boxed(below), gap=TINY))
        self.switch.toggled.connect(self._changed)
        self.days.valueChanged.connect(self._changed)
        self.jobs_link.clicked.connect(self.jobs_wanted)
        self._show()

    def show_record(self, record: SavedConnection) -> None:
        """Show what is saved; what the user has changed and not saved stays."""
        before, self._saved = self._saved, record
        if self.switch.isChecked() == before.collects:
            self.switch.setChecked(record.collects)
        if self.days.value() == before.keep_days:
            self.days.setValue(record.keep_days)
        self._show()

    def collects(self) -> bool:
        """Whether the switch is on."""
        return self.switch.isChecked()

    def keep_days(self) -> int:
        """The days that were entered."""
        return self.days.value()

    def has_news(self) -> bool:
        """Whether something differs from what is saved."""
        return (self.collects(), self.keep_days()) != (self._saved.collects, self._saved.keep_days)

    def set_possible(self, possible: bool) -> None:
        """Enable or disable what can be changed."""
        self.switch.setEnabled(possible)
        self.days.setEnabled(possible)

    def _changed(self, _value: object) -> None:
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        self._keeping.setVisible(self.collects())
        self.jobs_link.setVisible(bool(self._saved.id) and self._saved.collects)


class _Days(QSpinBox):
    """A number of days, with their word in the user's language: "1 day", "7 days"."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setRange(0, _MOST_DAYS)
        self.setAccessibleName(name)
        self.lineEdit().setTextMargins(SMALL, 0, 0, 0)  # the stylesheet does not reach it

    def textFromValue(self, days: int) -> str:
        return display.plural(days, "{n} day", "{n} days")

    def valueFromText(self, text: str) -> int:
        return int(_digits(text) or 0)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        digits = _digits(text)
        if len(digits) > len(str(_MOST_DAYS)):
            return QValidator.State.Invalid, text, position
        is_known = bool(digits) and int(digits) <= _MOST_DAYS
        return (QValidator.State.Acceptable if is_known else QValidator.State.Intermediate), text, position

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # a page that scrolls under the mouse must not change it


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isascii() and sign.isdigit())
