"""Which tags some jobs have: those that are known already to tick, and a field for others."""

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QWidget

from cfbatch_gui.core.jobs.drafts import LONGEST_TAG
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.ui import display
from cfbatch_gui.ui.theme import LARGE, MEDIUM, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import Button, Label, PrimaryButton, column, row, scrolled

_MOST = 20  # tags that are typed at once


class TagDialog(QDialog):
    """`chosen` has the tags of each job once it is accepted. A tag that only some of the jobs have stays so until it is
    ticked or cleared. Open it with `dialogs.finished`.
    """

    def __init__(self, jobs: Sequence[Job], known: Iterable[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Tags"))
        self._jobs = tuple(jobs)
        title = self.tr("Tags of “{name}”").format(name=display.one_line(jobs[0].name, 60))
        if len(jobs) > 1:
            title = display.plural(len(jobs), "Tags of {n} job", "Tags of {n} jobs")
        self.boxes = {tag: self._box(tag) for tag in sorted(set(known), key=str.casefold)}
        self.field = QLineEdit()
        self.field.setPlaceholderText(self.tr("New tags, with commas between them"))
        self.field.setAccessibleName(self.tr("New tags"))
        self.field.setMaxLength(_MOST * LONGEST_TAG)
        about = Label(
            self.tr("Short words of your own; the search field above the jobs finds them."), "quiet", wrap=True
        )
        accept = PrimaryButton(self.tr("Save"))
        accept.setDefault(True)
        accept.clicked.connect(self.accept)
        cancel = Button(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        body = QWidget()
        ticks = column(*self.boxes.values(), gap=SMALL, margins=(0, 0, SMALL, 0))
        ticks.addStretch(1)
        body.setLayout(ticks)
        margins = (WIDE, WIDE - 4, WIDE, WIDE - 4)
        layout = column(Label(title, "part"), about, gap=MEDIUM, margins=margins)
        if self.boxes:
            layout.addWidget(scrolled(body), 1)
        layout.addWidget(self.field)
        layout.addSpacing(LARGE - MEDIUM)
        layout.addLayout(row(None, cancel, accept))
        self.setLayout(layout)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def sizeHint(self) -> QSize:
        return QSize(scaled(400), super().sizeHint().height())

    def chosen(self) -> Mapping[str, tuple[str, ...]]:
        """The tags of each job, by its id: those ticked, those typed, and what it has of those left as they are."""
        typed = [tag for tag in self.field.text().split(",")[:_MOST] if tag.strip()]
        ticked = [tag for tag, box in self.boxes.items() if box.checkState() is Qt.CheckState.Checked]
        left = {tag for tag, box in self.boxes.items() if box.checkState() is Qt.CheckState.PartiallyChecked}
        return {job.id: (*(tag for tag in job.tags if tag in left), *ticked, *typed) for job in self._jobs}

    def _box(self, tag: str) -> QCheckBox:
        box = QCheckBox(tag.replace("&", "&&"))
        having = sum(tag in job.tags for job in self._jobs)
        if 0 < having < len(self._jobs):
            box.setTristate(True)
            box.setCheckState(Qt.CheckState.PartiallyChecked)
        else:
            box.setChecked(having > 0)
        return box
