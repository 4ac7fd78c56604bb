"""Before a push: into which index, what of the job, and what was found out about it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.vectorize.push_values import IdSource, PushCheck, PushOptions
from cfbatch_gui.core.vectorize.wire import Metric
from cfbatch_gui.ui import display
from cfbatch_gui.ui.theme import MEDIUM
from cfbatch_gui.ui.vectorize.check_panel import CheckPanel
from cfbatch_gui.ui.vectorize.column_choices import ColumnChoices
from cfbatch_gui.ui.vectorize.index_choice import IndexChoice
from cfbatch_gui.ui.vectorize.push_words import parts_words, short_name
from cfbatch_gui.ui.widgets import PAGE_MARGINS, Card, IconLine, Label, boxed, column


@dataclass(frozen=True, slots=True)
class PushedVectors:
    """What the form is about: a job's name, its vectors' form, and the columns of its file."""

    name: str
    dimension: int
    metric: Metric
    columns: tuple[str, ...]
    has_ids: bool


@dataclass(frozen=True, slots=True)
class EarlierPush:
    """How another job, of this name, was sent."""

    job_name: str
    options: PushOptions


class PushForm(QWidget):
    """`changed` is emitted when what would be sent may be another; `ready_changed` when more is known about it."""

    changed = Signal()
    ready_changed = Signal()
    rows_wanted = Signal(object, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._vectors: PushedVectors | None = None
        self._check: PushCheck | None = None
        self._was_new = True
        self._earlier: Mapping[str, EarlierPush] = {}
        self._may_propose = True  # the user has chosen nothing yet
        self._proposed = IconLine("", "info")
        self.index = IndexChoice()
        self.index.changed.connect(self._index_changed)
        self.columns = ColumnChoices()
        self.columns.changed.connect(self._columns_changed)
        self.check = CheckPanel()
        self.check.changed.connect(self.ready_changed)
        self.check.rows_wanted.connect(self.rows_wanted)
        cards = [
            _card(self.tr("Into which index"), self.index),
            _card(self.tr("What is sent"), boxed(column(self._proposed, self.columns))),
            _card(self.tr("Before anything is sent"), self.check),
        ]
        self.setLayout(column(*cards, None, gap=MEDIUM, margins=PAGE_MARGINS))

    def begin(
        self,
        vectors: PushedVectors,
        options: PushOptions,
        account: str,
        *,
        is_practice: bool,
        earlier: Mapping[str, EarlierPush],
    ) -> None:
        """Begin with a new index, and what was chosen before. `earlier` are pushes of other jobs by their index, as
        which this one is proposed to be sent there as long as nothing else is chosen.
        """
        self._vectors, self._check, self._was_new = vectors, None, True
        self._earlier, self._may_propose = earlier, options == PushOptions()
        self._proposed.hide()
        self.index.begin(vectors.name, vectors.dimension, vectors.metric, account, is_practice=is_practice)
        self.columns.offer(vectors.columns, has_ids=vectors.has_ids, options=options)
        self.check.begin()
        self.ready_changed.emit()

    def options(self) -> PushOptions:
        """What is chosen."""
        is_there = self.index.index() is not None
        gone = self._check.gone if self._check is not None else 0
        return msgspec.structs.replace(
            self.columns.options(),
            delete_removed=is_there and gone > 0 and self.check.gone.isChecked(),
            everything=is_there and self.check.everything.isChecked(),
        )

    def show_check(self, check: PushCheck) -> None:
        """Show what was found with these options."""
        self._check = check
        self.check.show_check(check, is_new=self.index.index() is None)
        self.columns.show_numbers(check.numbers)
        self.ready_changed.emit()

    def show_failure(self, sentence: str) -> None:
        """Show why there is no check."""
        self._check = None
        self.check.show_failure(sentence)
        self.ready_changed.emit()

    def is_checked(self) -> bool:
        """Whether a check of what is chosen is shown."""
        return self._check is not None

    def to_send(self) -> int:
        """How many vectors would be sent; 0 as long as that is not known."""
        check = self._check
        if check is None or check.problems:
            return 0
        is_all = self.index.index() is None or self.options().everything
        return check.vectors if is_all else check.new + check.changed

    def to_delete(self) -> int:
        """How many vectors would be taken out of the index."""
        return self._check.gone if self._check is not None and self.options().delete_removed else 0

    def why_not(self) -> str:
        """Why nothing can be sent, "" when something can."""
        if problem := self.index.problem():
            return problem
        check = self._check
        if check is None:
            return self.tr("The vectors are still being looked at.")
        if check.problems:
            return self.tr("What Vectorize would refuse has to be changed first.")
        if not self.to_send() and not self.to_delete():
            return self.tr("Everything is in the index as it is.")
        return ""

    def send_words(self) -> str:
        """What the button that sends says."""
        send, delete = self.to_send(), self.to_delete()
        if delete and not send:
            return display.plural(delete, "Take out {n} vector", "Take out {n} vectors")
        return display.plural(send, "Send {n} vector", "Send {n} vectors") if send else self.tr("Send vectors")

    def size_words(self) -> str:
        """In how many parts it is sent; "" when nothing is."""
        if not self.to_send() or self._vectors is None:
            return ""
        vectors = display.plural(self.to_send(), "{n} vector", "{n} vectors")
        pattern = self.tr("{vectors} {parts}; each part is kept, whatever comes after it.")
        return pattern.format(vectors=vectors, parts=parts_words(self.to_send(), self._vectors.dimension))

    def _index_changed(self) -> None:
        """Another name of a new index changes nothing about what is sent."""
        if self.index.index() is None and self._check is not None and self._was_new:
            self.ready_changed.emit()
            return
        self._was_new = self.index.index() is None
        if self._may_propose:
            self._propose(self._earlier.get(self.index.index_name()))
        self._changed()

    def _propose(self, earlier: EarlierPush | None) -> None:
        """Choose the columns that an earlier job was sent with, as far as there are such."""
        vectors = self._vectors
        if vectors is None or (earlier is None and self._proposed.isHidden()):
            return
        options = within(earlier.options, vectors.columns) if earlier is not None else PushOptions()
        self.columns.offer(vectors.columns, has_ids=vectors.has_ids, options=options)
        self._proposed.setVisible(earlier is not None)
        if earlier is not None:
            self._proposed.set_line(self.tr("As “{job}” was sent.").format(job=short_name(earlier.job_name)))

    def _columns_changed(self) -> None:
        self._may_propose = False
        self._proposed.hide()
        self._changed()

    def _changed(self) -> None:
        self._check = None
        self.check.show_reading(0, 0)
        self.changed.emit()
        self.ready_changed.emit()


def within(options: PushOptions, columns: Collection[str]) -> PushOptions:
    """The options without columns that there are not."""
    has_id = options.ids is not IdSource.COLUMN or options.id_column in columns
    return msgspec.structs.replace(
        options,
        ids=options.ids if has_id else IdSource.OWN,
        id_column=options.id_column if has_id else "",
        namespace=options.namespace if options.namespace in columns else "",
        metadata=tuple(each for each in options.metadata if each.column in columns),
    )


def _card(title: str, content: QWidget) -> Card:
    card = Card()
    card.body.addWidget(Label(title, "strong"))
    card.body.addWidget(content)
    return card
