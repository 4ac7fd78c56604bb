"""The dialog that checks the live service: what it will do and its price, its progress, and what holds."""

import asyncio
import re
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from shiboken6 import isValid

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.messages import quoted
from cfbatch_gui.core.system.files import write_atomically
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.workers_ai import probe
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.connections.connection_fields import StepRow
from cfbatch_gui.ui.connections.work_dialog import Outcome, WorkDialog
from cfbatch_gui.ui.theme import MEDIUM, SMALL, TINY
from cfbatch_gui.ui.widgets import Button, IconLine, Label, PrimaryButton, Role, Saying, boxed, column
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import title_words

if TYPE_CHECKING:
    from cfbatch_gui.ui.connections.connection_page import ConnectionPage

_LOOKS: dict[probe.Outcome, tuple[str, Role]] = {
    probe.Outcome.NOT_HELD: ("circle-x", "error"),
    probe.Outcome.HELD: ("circle-check", "done"),
    probe.Outcome.NOT_SEEN: ("circle-dashed", "quiet"),
}


class ServiceCheck(WorkDialog):
    """`checked` is emitted when a check has come to its end."""

    checked = Signal()

    def __init__(self, page: "ConnectionPage", connection_id: str) -> None:
        start = PrimaryButton("", "check")
        super().__init__(page.window(), page.tasks, start, tr("Check the service"), width=700)
        self._program, self._connection_id = page.program, connection_id
        self._plan: probe.ProbePlan | None = None
        self._result: probe.ProbeResult | None = None
        about = tr(
            "This program was written from what Cloudflare publishes; nobody who made it has an account. A check"
            " sends a few texts of its own through “{name}”, none of yours, and says of each of {n} assumptions"
            " whether it holds."
        ).format(
            name=title_words(self._program.address_book.title(connection_id)),
            n=sum(each.is_visible for each in probe.all_assumptions()),
        )
        self.sends, self.price, self.time = IconLine("", "send"), IconLine("", "info"), IconLine("", "clock")
        self.doing, self.saved = Saying("loader", "accent", "quiet"), Saying("circle-check", "done")
        self._list = column(gap=MEDIUM, margins=(0, TINY, 0, TINY))
        save = lambda: page.tasks.start("service report", self._save())  # noqa: E731
        self.save_button = Button(tr("Save report…"), "save", save)
        self.save_button.hide()
        facts = column(self.sends, self.price, self.time, gap=SMALL)
        self.show_parts(
            (Label(about, "quiet", wrap=True), facts),
            self.doing,
            boxed(self._list),
            beside=(self.save_button, boxed(column(self.saved))),
        )
        self._show_plan()

    def _show_plan(self) -> None:
        model = self._program.settings.model
        try:
            self._plan = self._program.connections.plan_probe(self._connection_id, model)
        except UserError as error:
            self.start_button.hide()
            self.problem.set_line(said(error.message))
            return
        batches = figures.plural(len(self._plan.batches), "{n} small batch", "{n} small batches")
        sends = tr("{batches}, and one request without the queue, to {model}").format(batches=batches, model=model)
        price, lasts = tr("It costs nothing, and nothing leaves this computer."), tr("It takes a few seconds.")
        button = tr("Check")
        if self._connection_id != PRACTICE.id:
            amount = figures.prices(self._plan.price)
            price, button = tr("It costs {price}.").format(price=amount), tr("Check for {price}").format(price=amount)
            lasts = tr("It takes as long as batches wait, usually less than 5 minutes.")
        for line, words in ((self.sends, sends), (self.price, price), (self.time, lasts)):
            line.set_line(words)
        self.start_button.setText(button)

    async def work(self) -> tuple[Outcome, str]:
        assert self._plan is not None  # noqa: S101 - without one there is no button
        result = await self._program.connections.probe(self._connection_id, self._plan, show=self._show_step)
        self._result = result
        for outcome in _LOOKS:
            for finding in result.findings:
                if finding.outcome is outcome:
                    self._list.addWidget(line := FindingRow(finding))
                    line.show()  # now, so that the dialog knows its height
        self.save_button.show()
        self.checked.emit()
        broken = sum(each.outcome is probe.Outcome.NOT_HELD for each in result.findings)
        words = figures.plural(broken, "{n} assumption does not hold", "{n} assumptions do not hold")
        if not broken:
            words = tr("All that a check can see is as assumed")
        if not broken and not result.is_whole:
            words = tr("Not everything could be checked")
        is_well = result.is_whole and not broken
        unfinished = [batch.sentence for batch in result.sent if batch.answer is None]
        sentences = dict.fromkeys(map(said, (probe.counts_sentence(result.findings), *unfinished)))
        looks: tuple[str, Role] = ("circle-check", "done") if is_well else ("triangle-alert", "attention")
        return (words, *looks), " ".join(sentences)

    def _show_step(self, sentence: str) -> None:
        if isValid(self):
            self.doing.set_line(said(sentence))

    def rested(self) -> None:
        self.doing.hide()
        if self._result is None:
            self._show_plan()  # with references of its own for another check

    def words_when_stopped(self) -> str:
        return tr("Stopped. What was sent before may be billed.")

    async def _save(self) -> None:
        result = self._result
        if result is None:
            return
        day = datetime.fromtimestamp(result.started).astimezone()
        path = await dialogs.save_file(
            self,
            tr("Save report"),
            name=f"cfbatch-check-{day:%Y-%m-%d}.txt",
            filters=(tr("Text (*.txt)"), tr("JSON (*.json)")),
            folder=self._program.remembered_folder(FolderUse.REPORTS),
        )
        if path is None:
            return
        text = probe.json_report(result) if path.suffix.lower() == ".json" else probe.text_report(result)
        try:
            await asyncio.to_thread(write_atomically, path, text.encode())
        except UserError as error:
            self.saved.hide()
            self.problem.set_line(said(error.message))
            return
        self.problem.hide()
        words = tr("Saved as {name}. It holds no token, no account ID and no text of yours.")
        self.saved.set_line(words.format(name=path.name))


class FindingRow(StepRow):
    def __init__(self, finding: probe.Finding) -> None:
        super().__init__(_quoted(said(finding.assumption.sentence)), said(finding.observation))
        self.finding = finding
        titles = {
            probe.Outcome.NOT_HELD: tr("Not held"),
            probe.Outcome.HELD: tr("Held"),
            probe.Outcome.NOT_SEEN: tr("Not seen"),
        }
        then = tr("What happens then: {sentence}").format(sentence=_quoted(said(finding.assumption.otherwise)))
        is_broken = finding.outcome is probe.Outcome.NOT_HELD
        self.show_step(*_LOOKS[finding.outcome], titles[finding.outcome], then if is_broken else "")


def _quoted(text: str) -> str:
    return re.sub(r"`([^`]*)`", lambda found: said(quoted(found[1])), text)
