"""Into which index: one of the account's, or a new one whose name is checked as it is typed."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.vectorize.client import check_index_name
from cfbatch_gui.core.vectorize.wire import Metric, VectorizeIndex
from cfbatch_gui.ui.theme import SMALL, TINY, scaled
from cfbatch_gui.ui.vectorize.push_words import dimension_words, fits, index_words, proposed_name
from cfbatch_gui.ui.widgets import Choice, IconLine, Label, boxed, column

_NEW = ""  # the value of the entry for a new index
_LONGEST = 200  # letters that can be typed; what is too long for a name is said
_FEWEST_LETTERS = 24


class IndexChoice(QWidget):
    """`changed` is emitted when another index or name was chosen or typed."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._indexes: tuple[VectorizeIndex, ...] = ()
        self._dimension, self._metric = 0, Metric.COSINE
        self._account, self._is_practice = "", False
        self.choice = Choice(self.tr("Index"))
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.choice.setMinimumContentsLength(_FEWEST_LETTERS)
        self.choice.picked.connect(lambda _: self._show_changed())
        self.name = QLineEdit()
        self.name.setMaxLength(_LONGEST)
        self.name.setAccessibleName(self.tr("Name of the new index"))
        self.name.setMinimumHeight(scaled(30))
        self.name.textChanged.connect(lambda _: self._show_changed())
        self._name_label = Label(self.name.accessibleName(), "quiet")
        self._name_label.setBuddy(self.name)
        self.line = IconLine("", "info")
        self._new = boxed(column(self._name_label, self.name, gap=TINY))
        self.setLayout(column(self.choice, self._new, self.line, gap=SMALL))

    def begin(self, job_name: str, dimension: int, metric: Metric, account: str, *, is_practice: bool) -> None:
        """Begin with a new index for a job; `account` is what its connection is called."""
        self._indexes, self._dimension, self._metric = (), dimension, metric
        self._account, self._is_practice = account, is_practice
        self._fill({}, _NEW)
        self.name.blockSignals(True)
        self.name.setText(proposed_name(job_name, ()))
        self.name.blockSignals(False)
        self._show()

    def offer(self, indexes: Sequence[VectorizeIndex], job_name: str, wanted: str) -> None:
        """Offer the account's indexes; the wanted one is chosen if it is there, and can be."""
        is_untouched = self.name.text() == proposed_name(job_name, ())
        self._indexes = tuple(indexes)
        possible = [each.name for each in indexes if fits(each, self._dimension)]
        self._fill({}, wanted if wanted in possible else _NEW)
        if is_untouched:
            self.name.blockSignals(True)
            self.name.setText(proposed_name(job_name, [each.name for each in indexes]))
            self.name.blockSignals(False)
        self._show_changed()

    def show_counts(self, counts: Mapping[str, int]) -> None:
        """Say how many vectors the indexes hold, by their names."""
        for at in range(1, self.choice.count()):
            index = self._indexes[at - 1]
            self.choice.setItemText(at, index_words(index, self._dimension, counts.get(index.name)))

    def index(self) -> VectorizeIndex | None:
        """The chosen one of the account's, None for a new one."""
        return next((each for each in self._indexes if each.name == self.choice.value()), None)

    def index_name(self) -> str:
        """The name of the chosen index, or of the new one."""
        return str(self.choice.value() or self.name.text().strip())

    def indexes(self) -> tuple[VectorizeIndex, ...]:
        """Those that are offered."""
        return self._indexes

    def problem(self) -> str:
        """Why nothing can be sent there, "" when something can."""
        if self.index() is not None:
            return ""
        name = self.name.text().strip()
        if not name:
            return self.tr("Give the new index a name.")
        if name in {each.name for each in self._indexes}:
            return self.tr("There is an index of this name already. Choose it above, or type another name.")
        try:
            check_index_name(name)
        except UsageError as error:
            return said(error.message)
        return ""

    def _fill(self, counts: Mapping[str, int], chosen: str) -> None:
        self.choice.clear()
        self.choice.add(self.tr("A new index"), _NEW)
        for each in self._indexes:
            self.choice.add(index_words(each, self._dimension, counts.get(each.name)), each.name)
        model = self.choice.model()
        if isinstance(model, QStandardItemModel):
            for at, each in enumerate(self._indexes, 1):
                model.item(at).setEnabled(fits(each, self._dimension))
        self.choice.set_value(chosen)

    def _show_changed(self) -> None:
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        is_new = self.index() is None
        self._new.setVisible(is_new)
        self.line.setVisible(is_new)
        if problem := self.problem():
            self.line.set_line(problem, "triangle-alert", "attention")
            return
        form = dimension_words(self._dimension, self._metric)
        where = (
            self.tr("It will be created in the practice service on this computer: {form}.")
            if self._is_practice
            else self.tr(
                "It will be created in your account, through “{account}”: {form}. It stays there until you delete it."
            )
        )
        self.line.set_line(where.format(account=self._account, form=form), "info")
