"""The dialog that checks the live service: what it will do and its price, its progress, and what holds."""

import asyncio
import re
from datetime import datetime

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.probe import (
    Finding,
    Outcome,
    ProbePlan,
    ProbeResult,
    all_assumptions,
    counts_sentence,
    json_report,
    text_report,
)
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.connections.connection_fields import StepRow
from cfbatch_gui.ui.connections.worker_dialogs import TallDialog
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY
from cfbatch_gui.ui.widgets import Button, IconLine, Label, PrimaryButton, Role, Saying, StateLabel, boxed, column, row
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import title_words

_WIDTH = 700  # pixels
_ICONS: dict[Outcome, tuple[str, Role]] = {
    Outcome.HELD: ("circle-check", "done"),
    Outcome.NOT_HELD: ("circle-x", "error"),
    Outcome.NOT_SEEN: ("circle-dashed", "quiet"),
}
_TASK = "service check"


class ServiceCheck(TallDialog):
    """Closing it ends a check that is running.

    `tasks` are the page's, so that the end of the window waits for what is being sent. `checked` is emitted when a
    check has come to its end.
    """

    checked = Signal()

    def __init__(self, program: Program, tasks: Tasks, connection_id: str, parent: QWidget) -> None:
        super().__init__(tr("Check the service"), parent, width=_WIDTH)
        self._program, self._connection_id = program, connection_id
        self._plan: ProbePlan | None = None
        self._result: ProbeResult | None = None
        name = title_words(program.address_book.title(connection_id))
        self._about = Label(
            self.tr(
                "This program was written from what Cloudflare publishes; nobody who made it has an account. A check"
                " sends a few texts of its own through “{name}”, none of yours, and says of each of {n} assumptions"
                " whether it holds."
            ).format(name=name, n=sum(each.is_visible for each in all_assumptions())),
            "quiet",
            wrap=True,
        )
        self.sends, self.price, self.time = IconLine("", "send"), IconLine("", "info"), IconLine("", "clock")
        self._facts = boxed(column(self.sends, self.price, self.time, gap=SMALL))
        self.doing = Saying("loader", "accent", "quiet")
        self.problem = Saying("circle-x", "error", "body")
        self.outcome = StateLabel()
        self.counts = Label("", "quiet", wrap=True)
        self._list = column(gap=MEDIUM, margins=(0, TINY, 0, TINY))
        self._results = boxed(column(row(self.outcome, None), self.counts, self._list, gap=SMALL))
        self._results.hide()
        self.close_button = Button(self.tr("Cancel"), on_click=self.reject)
        self.start_button = PrimaryButton("", "check", lambda: tasks.start(_TASK, self._check()))
        self.start_button.setDefault(True)
        self.save_button = PrimaryButton(
            self.tr("Save report…"), "save", lambda: tasks.start("service report", self._save())
        )
        self.save_button.hide()
        self.saved = Saying("circle-check", "done")
        self.finished.connect(lambda _: tasks.cancel(_TASK))
        title = Label(self.windowTitle(), "part")
        self.lay_out(
            column(title, self._about, self._facts, self.doing, self.problem, self._results, None, gap=MEDIUM),
            row(boxed(column(self.saved)), None, self.close_button, self.start_button, self.save_button),
        )
        self._show_plan()

    def _show_plan(self) -> None:
        model = self._program.settings.model
        try:
            self._plan = self._program.connections.plan_probe(self._connection_id, model)
        except UserError as error:
            self._facts.hide()
            self.start_button.hide()
            self.problem.set_line(said(error.message))
            return
        batches = figures.plural(len(self._plan.batches), "{n} small batch", "{n} small batches")
        self.sends.set_line(
            self.tr("{batches}, and one request without the queue, to {model}").format(batches=batches, model=model)
        )
        if self._connection_id == PRACTICE.id:
            self.price.set_line(self.tr("It costs nothing, and nothing leaves this computer."))
            self.time.set_line(self.tr("It takes a few seconds."))
            self.start_button.setText(self.tr("Check"))
            return
        price = figures.prices(self._plan.price)
        self.price.set_line(self.tr("It costs {price}.").format(price=price))
        self.time.set_line(self.tr("It takes as long as batches wait, usually less than 5 minutes."))
        self.start_button.setText(self.tr("Check for {price}").format(price=price))

    async def _check(self) -> None:
        if self._plan is None:
            return
        self._facts.hide()
        self.problem.hide()
        self.start_button.hide()
        self.close_button.setText(self.tr("Stop"))
        try:
            result = await self._program.connections.probe(self._connection_id, self._plan, show=self._show_step)
        except UserError as error:
            self.problem.set_line(said(error.message))
            self._show_plan()  # with references of its own for another check
            self._facts.show()
            self.start_button.show()
            self.close_button.setText(self.tr("Cancel"))
            return
        finally:
            if isValid(self):  # it may have been closed
                self.doing.hide()
        self._show_result(result)
        self.checked.emit()

    def _show_step(self, sentence: str) -> None:
        if isValid(self):
            self.doing.set_line(said(sentence))

    def _show_result(self, result: ProbeResult) -> None:
        self._result = result
        self._about.hide()
        broken = sum(each.outcome is Outcome.NOT_HELD for each in result.findings)
        unfinished = [batch.sentence for batch in result.sent if batch.answer is None]
        if broken:
            words = figures.plural(broken, "{n} assumption does not hold", "{n} assumptions do not hold")
            self.outcome.set_state(words, "triangle-alert", "attention")
        elif not result.is_whole:
            self.outcome.set_state(self.tr("Not everything could be checked"), "triangle-alert", "attention")
        else:
            self.outcome.set_state(self.tr("All that a check can see is as assumed"), "circle-check", "done")
        sentences = (counts_sentence(result.findings), *unfinished)
        self.counts.setText(" ".join(dict.fromkeys(map(said, sentences))))
        titles = {
            Outcome.NOT_HELD: self.tr("Not held"),
            Outcome.HELD: self.tr("Held"),
            Outcome.NOT_SEEN: self.tr("Not seen"),
        }
        for outcome, title in titles.items():
            for finding in result.findings:
                if finding.outcome is outcome:
                    self._list.addWidget(FindingRow(finding, title))
        self._results.show()
        self.save_button.show()
        self.save_button.setDefault(True)
        self.close_button.setText(self.tr("Close"))
        self.fit()

    async def _save(self) -> None:
        if self._result is None:
            return
        day = datetime.fromtimestamp(self._result.started).astimezone()
        path = await dialogs.save_file(
            self,
            self.tr("Save report"),
            name=f"cfbatch-check-{day:%Y-%m-%d}.txt",
            filters=(self.tr("Text (*.txt)"), self.tr("JSON (*.json)")),
            folder=self._program.remembered_folder(FolderUse.REPORTS),
        )
        if path is None:
            return
        text = json_report(self._result) if path.suffix.lower() == ".json" else text_report(self._result)
        try:
            await asyncio.to_thread(write_atomically, path, text.encode())
        except UserError as error:
            self.saved.hide()
            self.problem.set_line(said(error.message))
            return
        self.problem.hide()
        words = self.tr("Saved as {name}. It holds no token, no account ID and no text of yours.")
        self.saved.set_line(words.format(name=path.name))


class FindingRow(StepRow):
    def __init__(self, finding: Finding, word: str) -> None:
        super().__init__(_quoted(said(finding.assumption.sentence)), said(finding.observation))
        self.finding = finding
        then = self.tr("What happens then: {sentence}").format(sentence=_quoted(said(finding.assumption.otherwise)))
        self.show_step(*_ICONS[finding.outcome], word, then if finding.outcome is Outcome.NOT_HELD else "")


def _quoted(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"“\1”", text)
