"""What can be done with a whole draft: send, try, duplicate, rename, delete; and save the rows left out of it."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.job_folder.row_problems import save_problems
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import over_budget
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, ConnectionKind
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.confirmation import may_cost
from cfbatch_gui.ui.display import one_line, plural
from cfbatch_gui.ui.inputs.check_section import FIRST
from cfbatch_gui.ui.inputs.draft_state import DraftStates
from cfbatch_gui.ui.inputs.encoding_question import choose_reading
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks

_WITH_LIST = (ConnectionKind.CLOUDFLARE, ConnectionKind.GATEWAY)  # a Worker has none, and practice the program's own
_LIST_AGE = 86_400.0  # seconds after which the list of models is asked for again


class DraftActions(QWidget):
    """Carries out the actions. Never shown: a widget because it is the parent of dialogs. `tasks` reports errors."""

    sent = Signal(str)
    changed = Signal(str)
    duplicate_made = Signal(str)
    deleted = Signal(str)
    sending = Signal(str)  # begins or ends for this job
    encoding_chosen = Signal(str, str, bool)  # a codec other than the guess, of the second file
    models_listed = Signal()

    def __init__(self, program: Program, drafts: DraftStates, notices: Notices, tasks: Tasks, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self._program, self._drafts, self._notices, self._tasks = program, drafts, notices, tasks
        self._page = parent
        self._sending: set[str] = set()

    def is_sending(self, job_id: str) -> bool:
        """Whether a draft is being sent just now."""
        return job_id in self._sending

    def send(self, job_id: str) -> None:
        """Send the draft, after a confirmation if it is above the budget."""
        if job_id not in self._sending:
            self._tasks.start(f"send {job_id}", self._send(job_id))

    def try_first(self, job_id: str) -> None:
        """Create a copy with only the first queries or texts, and send it."""
        self._tasks.start(f"try {job_id}", self._try_first(job_id))

    def duplicate(self, job_id: str) -> None:
        """Create another draft with the same data."""
        self._tasks.start("duplicate", self._duplicate(job_id))

    def rename(self, job_id: str, name: str) -> None:
        """Rename the draft."""
        self._tasks.start(f"rename {job_id}", self._rename(job_id, name))

    def delete(self, job_id: str) -> None:
        """Delete the draft; a notice offers to undo it."""
        self._tasks.start(f"delete {job_id}", self._delete(job_id))

    def save_problems(self, job_id: str, kind: str) -> None:
        """Ask for a path, and write the rows with this problem to it; "" stands for all problems."""
        self._tasks.start("save", self._save_problems(job_id, kind))

    def ask_for_models(self, used: ConnectionSummary, *, now: float) -> None:
        """Ask the service for its list of models when the stored one is old; without an answer the old one stays."""
        known = self._program.connections.models(used.id)
        if used.kind in _WITH_LIST and not (known.is_live and now - known.listed_at < _LIST_AGE):
            self._tasks.start("models", self._refresh_models(used.id))

    async def _refresh_models(self, connection_id: str) -> None:
        with suppress(UserError):
            await self._program.connections.refresh_models(connection_id)
        self.models_listed.emit()

    async def _send(self, job_id: str) -> None:
        if not await self._is_encoding_settled(job_id):
            return
        found = self._drafts.state(job_id).preflight
        if found is not None and not await self._may_cost(job_id, found):
            return
        self._sending.add(job_id)
        self.sending.emit(job_id)
        try:
            await self._program.actions.send(job_id)
        finally:
            self._sending.discard(job_id)
            self.sending.emit(job_id)
        self._drafts.forget(job_id)
        self.sent.emit(job_id)

    async def _is_encoding_settled(self, job_id: str) -> bool:
        """Ask which reading of a file is right where the guess is close; True when the job may be sent as it was read.

        With another reading the file is read again, and the user has another look before sending.
        """
        for doubt in await asyncio.to_thread(self._program.drafts.encoding_doubts, job_id):
            codec = await choose_reading(doubt, self._page)
            if codec != doubt.readings[0].codec:
                if codec:
                    self.encoding_chosen.emit(job_id, codec, doubt.file == 2)
                return False
            await self._program.store.on_disk(self._program.drafts.settle_encoding, job_id, doubt.file)
            state = self._drafts.state(job_id)
            if doubt.file == 1 and state.file is not None:
                self._drafts.set(job_id, replace(state, file=state.file.with_chosen_encoding()))
            elif state.second is not None:
                self._drafts.set(job_id, replace(state, second=state.second.with_chosen_encoding()))
        return True

    async def _may_cost(self, job_id: str, found: Preflight) -> bool:
        """Ask for a confirmation above the budget; True when the draft may be sent."""
        if self._drafts.job(job_id).connection == PRACTICE.id:
            return True
        spent = await asyncio.to_thread(self._program.spent_today)
        sentence = over_budget(found.price_high, self._program.settings.budget, spent)
        return not sentence or await may_cost(self._page, said(sentence))

    async def _try_first(self, job_id: str) -> None:
        if not await self._is_encoding_settled(job_id):
            return
        name = self.tr("{name}, first {n}").format(name=self._drafts.job(job_id).name, n=FIRST)
        copy = await asyncio.to_thread(partial(self._program.drafts.duplicate, job_id, name, first=FIRST))
        try:
            found = await asyncio.to_thread(self._program.examine, copy.id)
            if not await self._may_cost(copy.id, found):
                await self._program.store.on_disk(self._program.drafts.delete, copy.id)
                return
            await self._program.actions.send(copy.id)
        except BaseException:
            await self._program.store.on_disk(self._program.drafts.delete, copy.id)
            raise
        self.duplicate_made.emit(copy.id)
        self.sent.emit(copy.id)

    async def _duplicate(self, job_id: str) -> None:
        name = self.tr("{name}, copy").format(name=self._drafts.job(job_id).name)
        copy = await asyncio.to_thread(self._program.drafts.duplicate, job_id, name)
        self.duplicate_made.emit(copy.id)

    async def _rename(self, job_id: str, name: str) -> None:
        await self._program.store.on_disk(self._program.drafts.rename, job_id, name)
        self.changed.emit(job_id)

    async def _delete(self, job_id: str) -> None:
        name = self._drafts.job(job_id).name
        await self._program.store.on_disk(self._program.drafts.delete, job_id)
        self._drafts.forget(job_id)
        self.deleted.emit(job_id)
        self.changed.emit(job_id)

        def undo() -> None:
            self._tasks.start(f"restore {job_id}", self._restore(job_id))

        text = self.tr("“{name}” was deleted.").format(name=name)
        self._notices.show_undo(text, self.tr("Undo deleting “{name}”").format(name=one_line(name, 40)), undo)

    async def _restore(self, job_id: str) -> None:
        await self._program.store.on_disk(partial(self._program.drafts.delete, job_id, deleted=False))
        self.changed.emit(job_id)

    async def _save_problems(self, job_id: str, kind: str) -> None:
        stem = Path(self._drafts.job(job_id).source_name).stem or self.tr("rows")
        path = await dialogs.save_file(
            self._page,
            self.tr("Save the rows that are left out"),
            name=self.tr("{name} rejected.csv").format(name=stem),
            filters=(self.tr("CSV ({patterns})").format(patterns="*.csv"),),
            folder=self._program.remembered_folder(FolderUse.PROBLEM_ROWS),
            suffix="csv",
        )
        if path is None:
            return
        count = await asyncio.to_thread(partial(save_problems, self._program.folder(job_id), path, kind=kind, say=said))
        rows = plural(count, "{n} row", "{n} rows")
        self._notices.show_written(self.tr("Wrote {rows} to “{name}”.").format(rows=rows, name=path.name), path)
