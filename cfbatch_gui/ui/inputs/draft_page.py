"""The page of a draft: the kind of job, its data, and the check with the button that sends it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.errors import Action, UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import Budget
from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL
from cfbatch_gui.ui.inputs.check_section import CheckSection, Cure
from cfbatch_gui.ui.inputs.data_section import DataSection, WhatSection
from cfbatch_gui.ui.inputs.draft_actions import DraftActions, RecipesButton
from cfbatch_gui.ui.inputs.draft_files import DraftFiles
from cfbatch_gui.ui.inputs.draft_reading import DraftReading, DraftStates
from cfbatch_gui.ui.inputs.intake import DropTarget, Intake
from cfbatch_gui.ui.inputs.problems_view import CUT, read_problems
from cfbatch_gui.ui.inputs.text_editors import whole_reading
from cfbatch_gui.ui.inputs.version_section import DraftVersions, VersionSection
from cfbatch_gui.ui.job_actions import JobActions
from cfbatch_gui.ui.notices import Notices, PageUndo
from cfbatch_gui.ui.state_names import DraftPhase, kept_phase, state_words
from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE
from cfbatch_gui.ui.widgets import PageHeader, boxed, column, line, scrolled
from cfbatch_gui.ui.widgets.bars import DropOverlay


class DraftPage(QWidget):
    """Shows one draft at a time; others that were shown go on being read."""

    phase_changed = Signal(str)

    def __init__(
        self, program: Program, notices: Notices, actions: JobActions, *, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._program, self._notices = program, notices
        self._connections: tuple[ConnectionSummary, ...] = ()
        drafts = self.drafts = DraftStates(program, self._show_error, self)
        self.tasks = drafts.tasks
        reading = self.reading = DraftReading(program, drafts)
        self.files = DraftFiles(program, drafts, reading)
        self.versions = DraftVersions(program, drafts, reading)
        self.versions.changed.connect(self._state_changed)
        drafts.changed.connect(self._state_changed)
        drafts.job_changed.connect(self._state_changed)
        self.changed = drafts.job_changed
        reading.progressed.connect(self._progressed)
        acts = self.acts = DraftActions(program, drafts, self.files, notices, self)
        self.sent, self.copy_made = acts.sent, acts.copy_made
        undo = self.tr("Undo reading the file like the one before")
        self._undo = PageUndo(self, notices.undos, undo, self.files.suggest_again)
        self.intake = Intake(program, drafts, self.files, notices, self)
        self.header = PageHeader(renamable=True)
        self.header.set_facts(self.tr("nothing is sent before you say so"))
        self.header.renamed.connect(lambda name: actions.rename(self.job_id(), name))
        self.header.more.add(self.tr("Rename"), self.header.rename, "pencil")
        self.header.more.add(self.tr("Duplicate"), lambda: actions.duplicate(self.job_id()), "copy")
        self.header.more.add(self.tr("Tags…"), lambda: actions.tag(self.job_id()), "tag")
        self.header.more.add(self.tr("Delete"), lambda: actions.delete(self.job_id()), "trash-2")
        self.header.more.show()
        self._make_sections()
        self._veil = DropOverlay(self.area, self.tr("Drop it to use it as the data of this job"))
        DropTarget(self, self.intake, self._show_target)
        self._add_shortcuts()

    def _make_sections(self) -> None:
        # From the outside in: Qt styles a widget with all in it anew whenever it is put into another.
        self._parts = column(gap=14, margins=(WIDE, SMALL, WIDE, LARGE))
        self.area = scrolled(boxed(self._parts))
        page = column(self.header, self.area, line(), gap=0)
        self.setLayout(page)
        recipes = RecipesButton(self._program, self.drafts, self.files, self._notices, self)
        self.what = WhatSection(self.files)
        self.data = DataSection(recipes, self.files, self.intake)
        self.version, self.check = VersionSection(self.versions), CheckSection(self._program)
        self.header.also_offer(self.check.send_button, self.check.try_button)
        self._connect_sections()
        for section in (self.what, self.data, self.version, self.check):
            self._parts.addWidget(section)
        self._parts.addStretch(0)
        self.data.folded_changed.connect(self._stretch_preview)
        page.addWidget(self.check.foot)

    # What the window calls

    def show_job(self, job: Job) -> None:
        is_other = job.id != self.job_id()
        self.drafts.current = job.id
        if is_other:
            for section in (self.what, self.data):
                section.set_folded(False)
            self.check.options_button.setChecked(False)
            self.check.problems.hide()
            self.area.verticalScrollBar().setValue(0)
        self.files.begin(job.id)
        self._show()
        self.refresh_connections()

    def job_id(self) -> str:
        return self.drafts.current

    def phase(self, job: Job) -> DraftPhase:
        return self.drafts.phase(job.id) if job.id in self.drafts else kept_phase(job)

    def is_taken(self, job_id: str) -> bool:
        state = self.drafts.state(job_id)
        return bool(state.opening or state.has_data or state.is_reading)

    def refresh_connections(self) -> None:
        self.tasks.start("connections", self._look_at_connections())

    def open_paths(self, paths: Sequence[Path]) -> asyncio.Future[None] | None:
        return self.intake.open_paths(paths)

    def paste_text(self, text: str) -> None:
        self.intake.take_text(text)

    def use_example(self) -> None:
        self.intake.use_example()

    def send(self) -> None:
        if self.check.send_button.isEnabled():
            self.acts.send(self.job_id())

    def try_first(self) -> None:
        if self.check.try_button.isEnabled():
            self.acts.try_first(self.job_id())

    # Between the sections and the parts of the draft

    def _connect_sections(self) -> None:
        check, bars, options = self.check, self.check.problem_bars, self.check.options
        self.data.encoding.looked_at.connect(lambda codec: self.tasks.start("peek", self._peek(codec)))
        check.options_button.toggled.connect(lambda on: self._reveal(options, check.send_button) if on else None)
        check.options_button.toggled.connect(lambda shown: self._ask_for_models() if shown else None)
        check.send_button.clicked.connect(self.send)
        check.try_button.clicked.connect(self.try_first)
        check.rows_wanted.connect(lambda kind: self.tasks.start("rows", self._show_rows(kind)))
        check.doubtful_wanted.connect(self.files.choose_doubtful)
        check.cure_wanted.connect(self._cure)
        bars.save_wanted.connect(lambda kind: self.acts.save_problems(self.job_id(), kind))
        bars.truncate_wanted.connect(self._truncate)
        bars.split_wanted.connect(self._split)
        options.model_chosen.connect(self._choose_model)
        options.connection_chosen.connect(self._choose_connection)
        options.budget.budget_chosen.connect(lambda budget: self.tasks.start("budget", self._save_budget(budget)))
        options.options_chosen.connect(lambda chosen: self.reading.change(self.job_id(), options=chosen))

    def _add_shortcuts(self) -> None:
        for keys, act in (
            (QKeySequence(QKeySequence.StandardKey.Paste), self.intake.paste),
            (QKeySequence("Ctrl+Return"), self.send),
            (QKeySequence("Ctrl+Enter"), self.send),
        ):
            QShortcut(keys, self).activated.connect(act)

    def _choose_model(self, name: str) -> None:
        options = self.drafts.job(self.job_id()).options
        self.reading.change(self.job_id(), model=name, options=replace(options, pooling=""))

    def _choose_connection(self, connection_id: str) -> None:
        self.reading.change(self.job_id(), connection=connection_id)
        self._ask_for_models(connection_id)

    def _ask_for_models(self, connection_id: str = "") -> None:
        connection_id = connection_id or self.drafts.job(self.job_id()).connection
        used = next((each for each in self._connections if each.id == connection_id), None)
        if used is not None and used.is_ready:
            self.acts.ask_for_models(used, now=self._program.clock())

    def _truncate(self, truncate: bool) -> None:
        options = self.drafts.job(self.job_id()).options
        self.reading.change(self.job_id(), options=replace(options, truncate_inputs=truncate))

    def _split(self) -> None:
        state, job = self.drafts.state(self.job_id()), self.drafts.job(self.job_id())
        if state.mapping is not None:
            facts = self._program.connections.models(job.connection).find(job.model)
            self.files.choose_mapping(replace(state.mapping, split=whole_reading(facts)))

    async def _save_budget(self, budget: Budget) -> None:
        await self._program.keep_settings(budget=budget)
        self._show()

    def _cure(self, cure: Cure) -> None:
        if cure is Cure.CONNECT:
            self._notices.connection_wanted.emit()
        elif cure is Cure.USE_RANKING_MODEL:
            self._choose_model(DEFAULT_MODEL)
        elif cure in (Cure.RUN_SYNCHRONOUSLY, Cure.USE_QUEUE):
            options = self.drafts.job(self.job_id()).options
            self.reading.change(self.job_id(), options=replace(options, at_once=cure is Cure.RUN_SYNCHRONOUSLY))
        else:
            self.reading.retry(self.job_id())

    def _show(self) -> None:
        if not self.job_id():
            return
        state, job = self.drafts.state(self.job_id()), self.drafts.job(self.job_id())
        self.header.set_title(job.name)
        words = state_words(self.phase(job))
        self.header.set_state(words.text, words.icon, words.role)
        self.what.show_state(state)
        self.data.show_state(state, job)
        self.version.show_job(job, state.preflight)
        self._undo.show(state.as_before)
        self.check.show_state(state, job, self._connections)
        self.check.set_sending(self.acts.is_sending(self.job_id()))
        self._stretch_preview()

    def _stretch_preview(self) -> None:
        is_large = not self.data.is_folded() and not self.drafts.state(self.job_id()).missing
        self._parts.setStretch(1, 1 if is_large else 0)
        self._parts.setStretch(self._parts.count() - 1, 0 if is_large else 1)

    def _state_changed(self, job_id: str) -> None:
        if job_id == self.job_id():
            self._show()
        self.phase_changed.emit(job_id)

    def _progressed(self, job_id: str, share: float) -> None:
        if job_id == self.job_id():
            self.data.show_progress(share)

    def _show_error(self, error: UserError) -> None:
        actions: dict[Action, Callable[[], None]] = {
            Action.CHOOSE_FILE: self.intake.choose_file,
            Action.RETRY: lambda: self.reading.retry(self.job_id()),
        }
        self._notices.show_error(error, actions.get(error.action))

    def _reveal(self, *widgets: QWidget) -> None:
        def scroll() -> None:
            for widget in widgets:
                self.area.ensureWidgetVisible(widget, 0, WIDE)

        QTimer.singleShot(0, self, scroll)

    # Tasks

    async def _look_at_connections(self) -> None:
        if self.job_id():
            used = self.drafts.job(self.job_id()).connection
            self._connections = await self._program.connections.summaries(used)
            self._show()

    async def _peek(self, codec: str) -> None:
        question = self.drafts.state(self.job_id()).question
        if question is None:
            return
        try:
            file = await self.files.peek(question.file.path, question.file.options.in_encoding(codec))
        except UserError as error:
            self.data.encoding.show_failure(said(error.message))
        else:
            self.data.encoding.show_preview(file)

    async def _show_rows(self, kind: str) -> None:
        job_id = self.job_id()
        job = self.drafts.job(job_id)
        facts = self._program.connections.models(job.connection).find(job.model)
        found = await asyncio.to_thread(read_problems, self._program.folder(job_id), kind, facts)
        preflight = self.drafts.state(job_id).preflight
        if preflight is None or job_id != self.job_id():
            return
        was_shown = bool(self.check.problems_shown())
        if kind == CUT:
            sentence = self.tr("Longer than {model} reads, or perhaps so.").format(model=said(facts.title))
            self.check.show_problems(found, sentence, len(found.rows))
        elif count := next((each for each in preflight.problems if each.kind == kind), None):
            self.check.show_problems(found, said(count.sentence), count.count)
        if not was_shown:
            view = self.check.problems
            self._reveal(view, self.check.send_button, view.heading)  # in a small window the heading is worth more

    def _show_target(self, shown: bool) -> None:
        self.data.drop.set_target(shown)
        if shown and not self.data.drop.isVisible():
            self._veil.cover()
        else:
            self._veil.hide()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.job_id():
            self.refresh_connections()
