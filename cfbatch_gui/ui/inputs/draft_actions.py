"""What the user does with a draft: bring data, try and send it, save its rejected rows, keep recipes."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.connections.address_book import ConnectionSummary
from cfbatch_gui.core.errors import InputError, UserError
from cfbatch_gui.core.inputs.input_values import Kind, Role
from cfbatch_gui.core.inputs.recipes import Recipe, fitted, recipe_of
from cfbatch_gui.core.inputs.recognise.delimited_text import is_clearly_delimited
from cfbatch_gui.core.job_folder.row_problems import save_problems
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import over_budget
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, ConnectionKind
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.budget import may_cost
from cfbatch_gui.ui.display import one_line, plural
from cfbatch_gui.ui.inputs.drafts import Drafts
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.widgets import MenuButton, add_action
from cfbatch_gui.ui.widgets.bars import local_files

FIRST = 5  # how many queries or texts "Try the first 5" takes
NOTHING_TO_PASTE = message("There is no text on the clipboard. Copy cells or lines first.")
EXAMPLES = {Kind.RANK: "examples/help-centre-ranking.csv", Kind.EMBED: "examples/product-texts.csv"}
_SAMPLE = 64 * 1024  # characters
_WITH_LIST = (ConnectionKind.CLOUDFLARE, ConnectionKind.GATEWAY)  # a Worker has none, and practice the program's own
_LIST_AGE = 86_400.0  # seconds after which the list of models is asked for again


class DraftActions(QObject):
    """Acts on the draft that is shown; the dialogs belong to its page. The signals carry a job's id."""

    sent = Signal(str)
    copy_made = Signal(str)

    def __init__(self, drafts: Drafts, notices: Notices, page: QWidget) -> None:
        super().__init__(page)
        self.drafts, self.notices, self.page = drafts, notices, page
        self._program, self._tasks = drafts.program, drafts.tasks

    # Bring data

    def open_paths(self, paths: Sequence[Path]) -> asyncio.Future[None] | None:
        """What is returned is done when the paths are recognised or cannot be; None when there is nothing to open."""
        if not self.drafts.current or not paths:
            return None
        if len(paths) > 2:
            too_many = self.tr("A job takes one file, or two: queries, and contexts for all of them.")
            self.notices.show_notice(too_many, "attention")
            return None
        return self.drafts.open(self.drafts.current, *paths)

    def take_text(self, text: str) -> None:
        if self.drafts.current:
            self._tasks.start("paste", self._paste(self.drafts.current, text))

    def paste(self) -> None:
        pasted = clipboard_content()
        if isinstance(pasted, str):
            self.take_text(pasted)
        else:
            self.open_paths(pasted)

    def use_example(self) -> None:
        self.open_paths([resource(EXAMPLES[self.drafts.shown.kind or Kind.RANK])])

    def choose_file(self, adds: Role | None = None) -> None:
        """Let the user choose the file, or with `adds` a second one that holds this."""
        self._tasks.start("choose", self._choose_file(self.drafts.current, adds))

    def choose_folder(self) -> None:
        self._tasks.start("choose", self._choose_folder(self.drafts.current))

    def type_query(self) -> None:
        """Let the user type the one query that all rows are ranked for."""
        self._tasks.start("choose", self._type_query(self.drafts.current))

    async def _paste(self, job_id: str, text: str) -> None:
        path = await asyncio.to_thread(save_pasted, text, self._program.folder(job_id).path)
        self.drafts.open(job_id, path)

    async def _type_query(self, job_id: str) -> None:
        title, label = self.tr("One query for all rows"), self.tr("The rows are ranked by how well they answer it.")
        typed = await dialogs.ask_text(self.page, title, label, accept=self.tr("Rank by it"))
        if typed and typed.strip() and job_id == self.drafts.current:
            path = self._program.folder(job_id).path / "query.txt"
            await asyncio.to_thread(write_own_file, path, " ".join(typed.split()).encode())
            self.drafts.add(job_id, path, Role.QUERY)

    async def _choose_file(self, job_id: str, adds: Role | None) -> None:
        titles = {
            None: self.tr("Open a file"),
            Role.CONTEXT: self.tr("Open the file with the contexts"),
            Role.QUERY: self.tr("Open the file with the queries"),
        }
        folder = self._program.remembered_folder(FolderUse.INPUTS)
        path = await dialogs.open_file(self.page, titles[adds], filters=dialogs.input_filters(), folder=folder)
        if path is not None and job_id == self.drafts.current:
            self.drafts.open(job_id, path) if adds is None else self.drafts.add(job_id, path, adds)

    async def _choose_folder(self, job_id: str) -> None:
        title = self.tr("Open a folder of texts, or of a data set")
        path = await dialogs.choose_folder(self.page, title, folder=self._program.remembered_folder(FolderUse.INPUTS))
        if path is not None and job_id == self.drafts.current:
            self.drafts.open(job_id, path)

    # Send it

    def send(self) -> None:
        if not self.drafts.shown.is_sending:
            self._tasks.start(f"send {self.drafts.current}", self._send(self.drafts.current))

    def try_first(self) -> None:
        self._tasks.start(f"try {self.drafts.current}", self._try_first(self.drafts.current))

    def save_problems(self, kind: str = "") -> None:
        """Save the rows with this problem, or all that are left out."""
        self._tasks.start("save", self._save_problems(self.drafts.current, kind))

    def ask_for_models(self, used: ConnectionSummary) -> None:
        """Without an answer the stored list stays."""
        known = self._program.connections.models(used.id)
        is_new = known.is_live and self._program.clock() - known.listed_at < _LIST_AGE
        if used.is_ready and used.kind in _WITH_LIST and not is_new:
            self._tasks.start("models", self._refresh_models(used.id))

    async def _refresh_models(self, connection_id: str) -> None:
        with suppress(UserError):
            await self._program.connections.refresh_models(connection_id)
        self.drafts.changed.emit(self.drafts.current)

    async def _send(self, job_id: str) -> None:
        if not await self._is_encoding_settled(job_id):
            return
        found = self.drafts.state(job_id).preflight
        if found is not None and not await self._may_cost(job_id, found):
            return
        self.drafts.change(job_id, is_sending=True)
        try:
            await self._program.actions.send(job_id)
        finally:
            self.drafts.change(job_id, is_sending=False)
        self.drafts.forget(job_id)
        self.sent.emit(job_id)

    async def _is_encoding_settled(self, job_id: str) -> bool:
        """False when another encoding would send other texts: the page asks for it, and the user sends again."""
        doubts = await asyncio.to_thread(self._program.drafts.encoding_doubts, job_id)
        for doubt in doubts[:1]:
            if self.drafts.state(job_id).opened(second=doubt.file == 2) is None:
                raise doubt.error()
            self.drafts.change(job_id, asks_second=doubt.file == 2)
        return not doubts

    async def _may_cost(self, job_id: str, found: Preflight) -> bool:
        if self.drafts.job(job_id).connection == PRACTICE.id:
            return True
        spent = await asyncio.to_thread(self._program.spent_today)
        sentence = over_budget(found.price_high, self._program.settings.budget, spent)
        return not sentence or await may_cost(self.page, said(sentence))

    async def _try_first(self, job_id: str) -> None:
        if not await self._is_encoding_settled(job_id):
            return
        name = self.tr("{name}, first {n}").format(name=self.drafts.job(job_id).name, n=FIRST)
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
        stem = Path(self.drafts.job(job_id).source_name).stem or self.tr("rows")
        path = await dialogs.save_file(
            self.page,
            self.tr("Save the rows that are left out"),
            name=self.tr("{name} rejected.csv").format(name=stem),
            filters=(self.tr("CSV ({patterns})").format(patterns="*.csv"),),
            folder=self._program.remembered_folder(FolderUse.PROBLEM_ROWS),
        )
        if path is None:
            return
        count = await asyncio.to_thread(partial(save_problems, self._program.folder(job_id), path, kind=kind, say=said))
        rows = plural(count, "{n} row", "{n} rows")
        self.notices.show_written(self.tr("Wrote {rows} to “{name}”.").format(rows=rows, name=path.name), path)


class RecipesButton(MenuButton):
    """A menu of the saved recipes, for the draft that is shown."""

    def __init__(self, acts: DraftActions) -> None:
        super().__init__(self.tr("Recipes"), "bookmark", tip=self.tr("Keep how this file is read, and use it again"))
        self._drafts, self._notices, self._page = acts.drafts, acts.notices, acts.page
        self._program = acts.drafts.program
        self.menu().setToolTipsVisible(True)
        self.menu().aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        menu, recipes, state = self.menu(), self._program.recipes.recipes(), self._drafts.shown
        menu.clear()
        for recipe in recipes:
            action = self.add(_shown(recipe.name), partial(self._drafts.use_recipe, recipe))
            why_not: object = self.tr("Open a file first.")
            if state.file is not None:
                why_not = fitted(recipe, state.file.columns, state.second_columns)
            if isinstance(why_not, str):
                action.setEnabled(False)
                action.setToolTip(why_not)
        if not recipes:
            menu.addAction(self.tr("No recipe was saved yet")).setEnabled(False)
        menu.addSeparator()
        save = self.add(self.tr("Save this as a recipe…"), partial(self._start, self._save), "save")
        save.setEnabled(state.mapping is not None and not state.incomplete)
        if recipes:
            for title, icon, act in (
                (self.tr("Rename"), "pencil", self._rename),
                (self.tr("Delete"), "trash-2", self._delete),
            ):
                below = menu.addMenu(title)
                for recipe in recipes:
                    add_action(below, _shown(recipe.name), partial(self._start, act, recipe.name), icon)

    def _start(self, act: Callable[..., Coroutine[Any, Any, None]], *of: object) -> None:
        self._drafts.tasks.start("recipe", act(*of))

    async def _save(self) -> None:
        state = self._drafts.shown
        if state.file is None or state.mapping is None:
            return
        recipe = recipe_of("", state.file.source, state.mapping, state.file.options, state.second_source)
        title, label = self.tr("Save as a recipe"), self.tr("Name of the recipe")
        name = await dialogs.ask_text(self._page, title, label, text=self._drafts.job().name, accept=self.tr("Save"))
        if not name or not name.strip():
            return
        named = replace(recipe, name=name.strip())
        if self._has(named.name):
            text = self.tr("There is a recipe “{name}” already. Replace it?").format(name=named.name)
            if not await dialogs.ask(self._page, self.tr("Replace the recipe?"), text, accept=self.tr("Replace")):
                return
        await self._program.store.on_disk(self._program.recipes.save, named)
        said = self.tr("Saved the recipe “{name}”. It stands under Recipes for files with these columns.")
        self._notices.show_notice(said.format(name=named.name), "done")

    def _has(self, name: str) -> bool:
        return any(each.name.casefold() == name.casefold() for each in self._program.recipes.recipes())

    async def _rename(self, name: str) -> None:
        title, label = self.tr("Rename the recipe"), self.tr("Name of the recipe")
        new = await dialogs.ask_text(self._page, title, label, text=name, accept=self.tr("Rename"))
        if new and new.strip() and new.strip() != name:
            await self._program.store.on_disk(self._program.recipes.rename, name, new)

    async def _delete(self, name: str) -> None:
        recipe = await self._program.store.on_disk(self._program.recipes.delete, name)
        text = self.tr("Deleted the recipe “{name}”.").format(name=name)
        words = self.tr("Undo deleting the recipe “{name}”").format(name=one_line(name, 40))
        self._notices.show_undo(text, words, partial(self._start, self._restore, recipe))

    async def _restore(self, recipe: Recipe) -> None:
        if self._has(recipe.name):
            text = self.tr("There is another recipe “{name}” by now, which stays.").format(name=recipe.name)
            self._notices.show_notice(text, "attention")
            return
        await self._program.store.on_disk(self._program.recipes.save, recipe)


def _shown(name: str) -> str:
    return one_line(name, 60).replace("&", "&&")


def save_pasted(text: str, folder: Path) -> Path:
    """Cells are copied with tabs, quoted where needed. Raises InputError for nothing, and DiskFull."""
    clean = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()
    if not clean.strip():
        raise InputError(NOTHING_TO_PASTE)
    first, sample = clean.strip("\n ").partition("\n")[0], clean[:_SAMPLE]
    is_table = is_clearly_delimited(sample, is_whole=len(sample) == len(clean))
    suffix = ".tsv" if "\t" in first else ".csv" if is_table else ".txt"
    path = folder / f"pasted{suffix}"
    write_own_file(path, clean.encode())
    return path


def clipboard_content() -> list[Path] | str:
    clipboard = QGuiApplication.clipboard()
    mime: QMimeData | None = clipboard.mimeData()  # None for an empty one on some platforms
    return (local_files(mime) if mime is not None else []) or clipboard.text()
