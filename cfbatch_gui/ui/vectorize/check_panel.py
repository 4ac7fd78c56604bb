"""What a push would do, found before anything is sent: what is new, what is gone, and what Vectorize would refuse."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.vectorize.push_values import PushCheck, PushProblem
from cfbatch_gui.ui import display
from cfbatch_gui.ui.theme import SMALL
from cfbatch_gui.ui.vectorize.push_words import short_name
from cfbatch_gui.ui.widgets import CheckBox, Label, NoticeBar, ThinProgress, column
from cfbatch_gui.ui.widgets.keyboard import follow_in_tab_order


class CheckPanel(QWidget):
    """`rows_wanted` brings rows of the file, a tuple, and what they have in common; `changed` follows a choice."""

    rows_wanted = Signal(object, str)
    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = Label("", "body", wrap=True)
        self.progress = ThinProgress()
        size_policy = self.progress.sizePolicy()
        size_policy.setRetainSizeWhenHidden(True)
        self.progress.setSizePolicy(size_policy)
        self.gone = CheckBox("")
        self._gone_by = Label("", "small", wrap=True)
        self.everything = CheckBox("")
        for box in (self.gone, self.everything):
            box.toggled.connect(lambda _: self.changed.emit())
        self._bars = QVBoxLayout()
        self._bars.setSpacing(SMALL)
        self.setLayout(
            column(self.line, self.progress, self._bars, self.gone, self._gone_by, self.everything, gap=SMALL)
        )
        self.begin()

    def begin(self) -> None:
        """Show nothing yet. What an earlier push has deleted or repeated is chosen anew each time."""
        for box in (self.gone, self.everything):
            box.blockSignals(True)
            box.setChecked(False)
            box.blockSignals(False)
        self._show_problems(())
        for part in (self.gone, self._gone_by, self.everything):
            part.hide()
        self.show_reading(0, 0)

    def bars(self) -> list[NoticeBar]:
        """What stands against the push, and what is to be known before it, from the top."""
        items = (self._bars.itemAt(at) for at in range(self._bars.count()))
        found = [item.widget() for item in items if item is not None]
        return [widget for widget in found if isinstance(widget, NoticeBar)]

    def show_reading(self, done: int, total: int) -> None:
        """Show how far the check is."""
        self.line.setText(self.tr("Looking at the vectors, before anything is sent…"))
        self.progress.set_parts(done, total)
        self.progress.show()

    def show_failure(self, sentence: str) -> None:
        """Show why there is no check."""
        self.progress.hide()
        self.line.setText(sentence)

    def show_check(self, check: PushCheck, *, is_new: bool) -> None:
        """Show what was found; into a new index everything is sent."""
        self.progress.hide()
        self.line.setText(" ".join(self._sentences(check, is_new=is_new)))
        self._show_problems(check.problems, check.notes)
        some_gone = bool(check.gone) and not is_new
        self.gone.setVisible(some_gone)
        self.gone.setText(
            display.plural(
                check.gone,
                "{n} is gone from the file; take it out of the index",
                "{n} are gone from the file; take them out of the index",
            )
        )
        jobs = [f"{short_name(name)}: {display.number(count)}" for name, count in check.gone_by_job]
        self._gone_by.setText(self.tr("They were sent with {jobs}.").format(jobs=display.listed(jobs)))
        self._gone_by.setVisible(some_gone and bool(jobs))
        held = 0 if is_new else check.unchanged
        self.everything.setVisible(held > 0)
        self.everything.setText(
            display.plural(
                held,
                "Send it again, too, although it is in the index unchanged",
                "Send the {n} again, too, that are in the index unchanged",
            )
        )

    def _sentences(self, check: PushCheck, *, is_new: bool) -> Sequence[str]:
        if check.problems:
            found = [self.tr("Vectorize would refuse this as it is. Nothing was sent.")]
        elif is_new or not check.unchanged + check.changed:
            found = [display.plural(check.vectors, "{n} vector will be sent.", "{n} vectors will be sent.")]
        else:
            pattern = self.tr("{new} new, {changed} changed, {held} in the index already as they are.")
            counts = {"new": check.new, "changed": check.changed, "held": check.unchanged}
            found = [pattern.format(**{name: display.number(count) for name, count in counts.items()})]
        if check.without_vector:
            found.append(
                display.plural(
                    check.without_vector,
                    "{n} text has no vector and is left out.",
                    "{n} texts have no vector and are left out.",
                )
            )
        return found

    def _show_problems(self, problems: Sequence[PushProblem], notes: Sequence[str] = ()) -> None:
        for bar in self.bars():
            self._bars.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
        for note in notes:
            self._bars.addWidget(NoticeBar(said(note), "info"))
        for problem in problems:
            bar = NoticeBar(said(problem.sentence), "attention")
            self._bars.addWidget(bar)
            if problem.rows:
                words = (
                    self.tr("Show rows")
                    if problem.count <= len(problem.rows)
                    else self.tr("Show the first {n}").format(n=display.number(len(problem.rows)))
                )
                bar.add_link(words, partial(self.rows_wanted.emit, problem.rows, self.tr("Would be refused")))
        follow_in_tab_order(self, *(link for bar in self.bars() for link in bar.links()))
