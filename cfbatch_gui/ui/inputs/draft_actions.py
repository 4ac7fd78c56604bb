"""What can be done with a draft alone: send, try, save its rejected rows, and recipes."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.recipes import Recipe, fitted, recipe_of
from cfbatch_gui.core.job_folder.row_problems import save_problems
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import over_budget
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, ConnectionKind
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.budget import may_cost
from cfbatch_gui.ui.display import one_line, plural
from cfbatch_gui.ui.inputs.check_section import FIRST
from cfbatch_gui.ui.inputs.draft_files import DraftFiles
from cfbatch_gui.ui.inputs.draft_reading import DraftStates
from cfbatch_gui.ui.inputs.encoding_question import choose_reading
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.widgets import MenuButton, add_action

_WITH_LIST = (ConnectionKind.CLOUDFLARE, ConnectionKind.GATEWAY)  # a Worker has none, and practice the program's own
_LIST_AGE = 86_400.0  # seconds after which the list of models is asked for again


class DraftActions(QWidget):
    """Never shown: a widget because it is the parent of dialogs."""

    sent = Signal(str)
    copy_made = Signal(str)

    def __init__(
        self, program: Program, drafts: DraftStates, files: DraftFiles, notices: Notices, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.hide()
        self._program, self._drafts, self._files = program, drafts, files
        self._notices, self._tasks, self._page = notices, drafts.tasks, parent
        self._sending: set[str] = set()

    def is_sending(self, job_id: str) -> bool:
        return job_id in self._sending

    def send(self, job_id: str) -> None:
        if job_id not in self._sending:
            self._tasks.start(f"send {job_id}", self._send(job_id))

    def try_first(self, job_id: str) -> None:
        self._tasks.start(f"try {job_id}", self._try_first(job_id))

    def save_problems(self, job_id: str, kind: str) -> None:
        self._tasks.start("save", self._save_problems(job_id, kind))

    def ask_for_models(self, used: ConnectionSummary, *, now: float) -> None:
        """Without an answer the stored list stays."""
        known = self._program.connections.models(used.id)
        if used.kind in _WITH_LIST and not (known.is_live and now - known.listed_at < _LIST_AGE):
            self._tasks.start("models", self._refresh_models(used.id))

    async def _refresh_models(self, connection_id: str) -> None:
        with suppress(UserError):
            await self._program.connections.refresh_models(connection_id)
        self._drafts.changed.emit(self._drafts.current)

    async def _send(self, job_id: str) -> None:
        if not await self._is_encoding_settled(job_id):
            return
        found = self._drafts.state(job_id).preflight
        if found is not None and not await self._may_cost(job_id, found):
            return
        self._sending.add(job_id)
        self._drafts.changed.emit(job_id)
        try:
            await self._program.actions.send(job_id)
        finally:
            self._sending.discard(job_id)
            self._drafts.changed.emit(job_id)
        self._drafts.forget(job_id)
        self.sent.emit(job_id)

    async def _is_encoding_settled(self, job_id: str) -> bool:
        """True when the job may be sent as it was read.

        With another reading the user has another look before sending.
        """
        for doubt in await asyncio.to_thread(self._program.drafts.encoding_doubts, job_id):
            codec = await choose_reading(doubt, self._page)
            if codec != doubt.readings[0].codec:
                if codec:
                    self._files.use_encoding(job_id, codec, second=doubt.file == 2)
                return False
            await self._program.store.on_disk(self._program.drafts.settle_encoding, job_id, doubt.file)
            state = self._drafts.state(job_id)
            if doubt.file == 1 and state.file is not None:
                self._drafts.set(job_id, replace(state, file=state.file.with_chosen_encoding()))
            elif state.second is not None:
                self._drafts.set(job_id, replace(state, second=state.second.with_chosen_encoding()))
        return True

    async def _may_cost(self, job_id: str, found: Preflight) -> bool:
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
        self.copy_made.emit(copy.id)
        self.sent.emit(copy.id)

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


class RecipesButton(MenuButton):
    """A menu of the saved recipes, for the draft that is shown."""

    def __init__(
        self, program: Program, drafts: DraftStates, files: DraftFiles, notices: Notices, page: QWidget
    ) -> None:
        super().__init__(self.tr("Recipes"), "bookmark")
        self.setToolTip(self.tr("Keep how this file is read, and use it again"))
        self._program, self._drafts, self._files = program, drafts, files
        self._notices, self._tasks, self._page = notices, drafts.tasks, page
        self.menu().setToolTipsVisible(True)
        self.menu().aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        menu, recipes = self.menu(), self._program.recipes.recipes()
        menu.clear()
        for recipe in recipes:
            action = self.add(_shown(recipe.name), partial(self._files.use_recipe, recipe))
            if why_not := self._why_not(recipe):
                action.setEnabled(False)
                action.setToolTip(why_not)
        if not recipes:
            menu.addAction(self.tr("No recipe was saved yet")).setEnabled(False)
        menu.addSeparator()
        save = self.add(self.tr("Save this as a recipe…"), partial(self._start, self._save), "save")
        _, state = self._drafts.shown()
        save.setEnabled(state.mapping is not None and not state.incomplete)
        if recipes:
            for title, icon, act in (
                (self.tr("Rename"), "pencil", self._rename),
                (self.tr("Delete"), "trash-2", self._delete),
            ):
                below = menu.addMenu(title)
                for recipe in recipes:
                    add_action(below, _shown(recipe.name), partial(self._start, act, recipe.name), icon)

    def _why_not(self, recipe: Recipe) -> str:
        _, state = self._drafts.shown()
        file, second = state.file, state.second
        if file is None:
            return self.tr("Open a file first.")
        columns = second.source.columns if second else ()
        found = fitted(recipe, file.source.columns, columns)
        return found if isinstance(found, str) else ""

    def _start(self, act: Callable[..., Coroutine[Any, Any, None]], *of: object) -> None:
        self._tasks.start("recipe", act(*of))

    async def _save(self) -> None:
        job_id, state = self._drafts.shown()
        if state.file is None or state.mapping is None:
            return
        second = state.second.source if state.second else None
        recipe = recipe_of("", state.file.source, state.mapping, state.file.options, second)
        title, label = self.tr("Save as a recipe"), self.tr("Name of the recipe")
        suggested = self._drafts.job(job_id).name
        name = await dialogs.ask_text(self._page, title, label, text=suggested, accept=self.tr("Save"))
        if not name or not name.strip():
            return
        if any(each.name.casefold() == name.strip().casefold() for each in self._program.recipes.recipes()):
            text = self.tr("There is a recipe “{name}” already. Replace it?").format(name=name.strip())
            if not await dialogs.ask(self._page, self.tr("Replace the recipe?"), text, accept=self.tr("Replace")):
                return
        named = Recipe(name.strip(), recipe.columns, recipe.mapping, recipe.options, recipe.second_columns)
        await self._program.store.on_disk(self._program.recipes.save, named)
        said = self.tr("Saved the recipe “{name}”. It stands under Recipes for files with these columns.").format(
            name=named.name
        )
        self._notices.show_notice(said, "done")

    async def _rename(self, name: str) -> None:
        title, label = self.tr("Rename the recipe"), self.tr("Name of the recipe")
        new = await dialogs.ask_text(self._page, title, label, text=name, accept=self.tr("Rename"))
        if new and new.strip() and new.strip() != name:
            await self._program.store.on_disk(self._program.recipes.rename, name, new)

    async def _delete(self, name: str) -> None:
        recipe = await self._program.store.on_disk(self._program.recipes.delete, name)
        undo = partial(self._start, self._restore, recipe)
        text = self.tr("Deleted the recipe “{name}”.").format(name=name)
        words = self.tr("Undo deleting the recipe “{name}”").format(name=one_line(name, 40))
        self._notices.show_undo(text, words, undo)

    async def _restore(self, recipe: Recipe) -> None:
        if any(each.name.casefold() == recipe.name.casefold() for each in self._program.recipes.recipes()):
            text = self.tr("There is another recipe “{name}” by now, which stays.").format(name=recipe.name)
            self._notices.show_notice(text, "attention")
            return
        await self._program.store.on_disk(self._program.recipes.save, recipe)


def _shown(name: str) -> str:
    return one_line(name, 60).replace("&", "&&")
