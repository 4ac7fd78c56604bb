"""What the user does with a draft: bring data, try and send it, save its rejected rows, keep recipes."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.errors import Action, EncodingUnknown, InputError, UserError
from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.inputs.recipes import Recipe, as_setting, fitted, recipes_in
from cfbatch_gui.core.inputs.recognise.delimited_text import is_clearly_delimited
from cfbatch_gui.core.jobs.plan.packing import Plan
from cfbatch_gui.core.jobs.plan.spending import over_budget
from cfbatch_gui.core.jobs.states import Purpose
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, ConnectionKind
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.budget import may_cost
from cfbatch_gui.ui.inputs import draft_state
from cfbatch_gui.ui.inputs.drafts import Drafts, task
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.widgets import MenuButton, add_action
from cfbatch_gui.ui.widgets.bars import local_files
from cfbatch_gui.words.figures import one_line, plural
from cfbatch_gui.words.languages import said

FIRST = 5  # how many queries or texts "Try the first 5" takes
NOTHING_TO_PASTE = message("there_is_no_text_on_clipboard")
EXAMPLES = {
    Purpose.RANK: ("help-centre-ranking.csv",),
    Purpose.MATCH: ("supplier-list.csv", "own-products.csv"),
    Purpose.CATEGORIES: ("customer-letters.csv", "letter-categories.csv"),
}
_TEXTS = ("product-texts.csv",)
_SAMPLE = 64 * 1024  # characters
_WITH_LIST = (ConnectionKind.CLOUDFLARE, ConnectionKind.GATEWAY)  # a Worker has none, and practice the program's own
_LIST_AGE = 86_400.0  # seconds after which the list of models is asked for again


class DraftActions(Drafts):
    """What else is done with the draft that is shown, with dialogs of its page. The signals carry a job's id."""

    sent = Signal(str)
    copy_made = Signal(str)
    encoding_wanted = Signal(int)  # of the file at this place

    def __init__(self, program: Program, notices: Notices, page: QWidget) -> None:
        super().__init__(program, notices, self._show_error, page)
        self.page = page

    def _show_error(self, error: UserError) -> None:
        actions: dict[Action, Callable[[], None]] = {
            Action.CHOOSE_FILE: self.choose_file,
            Action.RETRY: self.retry,
        }
        if isinstance(error, EncodingUnknown):
            for at, file in enumerate(self.shown.files):
                if file.path.name == error.file_name:
                    actions[Action.CHOOSE_ENCODING] = partial(self.encoding_wanted.emit, at)
        self.notices.show_error(error, actions.get(error.action))

    # Bring data

    def open_paths(self, paths: Sequence[Path], at: int | None = None) -> asyncio.Future[None] | None:
        """What is returned is done when the paths are recognised or cannot be; None when there is nothing to open.
        One comes as list A (0) or B (1) with `at`, or as list B where that is missing.
        """
        if not self.current or not paths:
            return None
        if len(paths) > 2:
            too_many = self.tr("A job takes one file, or two: queries, and candidates for all of them; or two lists.")
            self.notices.show_notice(too_many, "attention")
            return None
        at = 1 if at is None and self.shown.wants_second_list(self.job()) else at
        if len(paths) == 1 and at is not None:
            return self.put(self.current, at, paths[0])
        return self.open(self.current, *paths)

    def paste(self, at: int | None = None) -> None:
        self.take(clipboard_content(), at)

    def take(self, brought: Sequence[Path] | str, at: int | None = None) -> None:
        """Use what was dropped or pasted, as list A or B with `at`."""
        if isinstance(brought, str):
            self.take_text(brought, at)
        else:
            self.open_paths(brought, at)

    def use_example(self) -> None:
        """That of the purpose which the job has."""
        purpose = self.shown.purpose(self.job()) or Purpose.RANK
        paths = [resource(f"examples/{name}") for name in EXAMPLES.get(purpose, _TEXTS)]
        if purpose is Purpose.CATEGORIES:
            self._use_with_categories(*paths)
        else:
            self.open_paths(paths)

    @task("example")
    async def _use_with_categories(self, job_id: str, path: Path, categories: Path) -> None:
        """Take categories of a file as if they had been typed."""
        lines = await asyncio.to_thread(lambda: [row.cells[0] for row in draft_state.open_file(categories).sample])
        folder = self.program.folder(job_id).path
        file = await asyncio.to_thread(draft_state.typed_categories, folder, "\n".join(lines))
        if file is not None:
            self.open(job_id, path, file)

    @task("paste")
    async def take_text(self, job_id: str, text: str, at: int | None = None) -> None:
        path = await asyncio.to_thread(save_pasted, text, self.program.folder(job_id).path)
        if job_id == self.current:
            self.open_paths([path], at)

    @task("choose")
    async def type_query(self, job_id: str) -> None:
        """Let the user type the one query that all rows are ranked for."""
        title, label = self.tr("One query for all rows"), self.tr("The rows are ranked by how well they answer it.")
        typed = await dialogs.ask_text(self.page, title, label, accept=self.tr("Rank by it"))
        if typed and typed.strip() and job_id == self.current:
            path = _free(self.program.folder(job_id).path / "query.txt")
            await asyncio.to_thread(write_own_file, path, " ".join(typed.split()).encode())
            self.add(job_id, path, Role.QUERY)

    @task("choose")
    async def choose_file(self, job_id: str, adds: Role | None = None) -> None:
        """Let the user choose the file, or with `adds` a second one that holds this."""
        titles = {
            None: self.tr("Open a file"),
            Role.CONTEXT: self.tr("Open the file with the candidates"),
            Role.QUERY: self.tr("Open the file with the queries"),
        }
        folder = self.program.remembered_folder(FolderUse.INPUTS)
        path = await dialogs.open_file(self.page, titles[adds], filters=dialogs.input_filters(), folder=folder)
        if path is not None and job_id == self.current:
            self.open(job_id, path) if adds is None else self.add(job_id, path, adds)

    @task("choose")
    async def choose_list(self, job_id: str, at: int) -> None:
        """Let the user choose the file of list A (0) or B (1)."""
        title = self.tr("Open list {list}").format(list="AB"[at])
        folder = self.program.remembered_folder(FolderUse.INPUTS)
        path = await dialogs.open_file(self.page, title, filters=dialogs.input_filters(), folder=folder)
        if path is not None and job_id == self.current:
            self.put(job_id, at, path)

    @task("choose")
    async def choose_folder(self, job_id: str) -> None:
        title = self.tr("Open a folder of texts, or of a data set")
        path = await dialogs.choose_folder(self.page, title, folder=self.program.remembered_folder(FolderUse.INPUTS))
        if path is not None and job_id == self.current:
            self.open(job_id, path)

    # Send it

    @task("models")
    async def ask_for_models(self, _: str, connection_id: str) -> None:
        """Without an answer the stored list stays."""
        connections, known = self.program.connections, self.program.connections.models(connection_id)
        if known.is_live and self.program.clock() - known.listed_at < _LIST_AGE:
            return
        for used in await self.program.address_book.summaries(connection_id):
            if used.id == connection_id and used.is_ready and used.kind in _WITH_LIST:
                with suppress(UserError):
                    await connections.refresh_models(connection_id)
                self.changed.emit(self.current)

    @task("model")
    async def type_model(self, job_id: str) -> None:
        """Let the user name a model that is in no list."""
        title, label = self.tr("Another model"), self.tr("Its name at Cloudflare, such as @cf/baai/bge-m3")
        typed = await dialogs.ask_text(self.page, title, label, accept=self.tr("Use it"))
        if typed and typed.strip() and job_id == self.current:
            self.change_job(model=typed.strip())
        self.changed.emit(job_id)

    def send(self) -> None:
        if not self.shown.is_sending:
            self._send()

    @task("send")
    async def _send(self, job_id: str) -> None:
        await asyncio.to_thread(self.program.drafts.check_encodings, job_id)
        found = self.state(job_id).preflight
        if found is not None and not await self._may_cost(job_id, found):
            return
        self.change(job_id, is_sending=True)
        try:
            await self.program.actions.send(job_id)
        finally:
            self.change(job_id, is_sending=False)
        self.forget(job_id)
        self.sent.emit(job_id)

    async def _may_cost(self, job_id: str, found: Plan) -> bool:
        if self.job(job_id).connection == PRACTICE.id:
            return True
        spent = await asyncio.to_thread(self.program.spent_today)
        sentence = over_budget(found.price_high, self.program.settings.budget, spent)
        return not sentence or await may_cost(self.page, said(sentence))

    @task("try")
    async def try_first(self, job_id: str) -> None:
        await asyncio.to_thread(self.program.drafts.check_encodings, job_id)
        drafts, on_disk = self.program.drafts, self.program.store.on_disk
        name = self.tr("{name}, first {n}").format(name=self.job(job_id).name, n=FIRST)
        copy = await asyncio.to_thread(partial(drafts.duplicate, job_id, name, first=FIRST))
        try:
            found = await asyncio.to_thread(self.program.examine, copy.id)
            if not await self._may_cost(copy.id, found):
                await on_disk(drafts.delete, copy.id)
                return
            await self.program.actions.send(copy.id)
        except BaseException:
            await on_disk(drafts.delete, copy.id)
            raise
        self.copy_made.emit(copy.id)
        self.sent.emit(copy.id)

    @task("save")
    async def save_problems(self, job_id: str, kind: str = "") -> None:
        """Save the rows with this problem, or all that are left out."""
        from cfbatch_gui.core.results.exports import ExportOptions, export, target_for

        stem = Path(self.job(job_id).source_name).stem or self.tr("rows")
        path = await dialogs.save_file(
            self.page,
            self.tr("Save the rows that are left out"),
            name=self.tr("{name} rejected.csv").format(name=stem),
            filters=(self.tr("CSV ({patterns})").format(patterns="*.csv"),),
            folder=self.program.remembered_folder(FolderUse.PROBLEM_ROWS),
        )
        if path is None:
            return
        job, options = self.job(job_id), ExportOptions(separator=display.csv_separator(), problem=kind)
        target = target_for(path, job.kind, "failed")
        write = partial(export, self.program.folder(job_id), job, path, target, options=options, say=said)
        rows = plural((await asyncio.to_thread(write)).rows, "{n} row", "{n} rows")
        self.notices.show_written(self.tr("Wrote {rows} to “{name}”.").format(rows=rows, name=path.name), path)

    # Recipes

    @task("recipe")
    async def save_recipe(self, job_id: str) -> None:
        recipe, title = self.state(job_id).recipe, self.tr("Save as a recipe")
        text, accept = self.job(job_id).name, self.tr("Save")
        name = await dialogs.ask_text(self.page, title, self.tr("Name of the recipe"), text=text, accept=accept)
        name = (name or "").strip()
        if recipe is None or not name:
            return
        saved = recipes_in(self.program.settings)
        if name.casefold() in {each.name.casefold() for each in saved}:
            text = self.tr("There is a recipe “{name}” already. Replace it?").format(name=name)
            if not await dialogs.ask(self.page, self.tr("Replace the recipe?"), text, accept=self.tr("Replace")):
                return
        await self.program.keep_settings(recipes=as_setting((*saved, replace(recipe, name=name))))
        said = self.tr("Saved the recipe “{name}”. It stands under Recipes for files with these columns.")
        self.notices.show_notice(said.format(name=name), "done")

    def delete_recipe(self, recipe: Recipe) -> None:
        others = (each for each in recipes_in(self.program.settings) if each != recipe)
        self.program.change_settings(recipes=as_setting(others))
        text = self.tr("Deleted the recipe “{name}”.").format(name=recipe.name)
        words = self.tr("Undo deleting the recipe “{name}”").format(name=one_line(recipe.name, 40))
        self.notices.show_undo(text, words, partial(self._restore_recipe, recipe))

    def _restore_recipe(self, recipe: Recipe) -> None:
        """One that was saved under its name meanwhile stays."""
        self.program.change_settings(recipes=as_setting((recipe, *recipes_in(self.program.settings))))


class RecipesButton(MenuButton):
    """A menu of the saved recipes, for the draft that is shown."""

    def __init__(self, drafts: DraftActions) -> None:
        super().__init__(self.tr("Recipes"), "bookmark", tip=self.tr("Keep how this file is read, and use it again"))
        self._drafts = drafts
        self.menu().setToolTipsVisible(True)
        self.menu().aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        menu, drafts, state = self.menu(), self._drafts, self._drafts.shown
        recipes = recipes_in(drafts.program.settings)
        menu.clear()
        for recipe in recipes:
            action = self.add(_shown(recipe.name), partial(drafts.use_recipe, recipe))
            columns = [each.columns for each in state.files]
            why_not = fitted(recipe, *columns) if columns else self.tr("Open a file first.")
            if isinstance(why_not, str):
                action.setEnabled(False)
                action.setToolTip(why_not)
        if not recipes:
            menu.addAction(self.tr("No recipe was saved yet")).setEnabled(False)
        menu.addSeparator()
        save = self.add(self.tr("Save this as a recipe…"), drafts.save_recipe, "save")
        save.setEnabled(state.recipe is not None)
        if recipes:
            below = menu.addMenu(self.tr("Delete"))
            for recipe in recipes:
                add_action(below, _shown(recipe.name), partial(drafts.delete_recipe, recipe), "trash-2")


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
    path = _free(folder / f"pasted{suffix}")
    write_own_file(path, clean.encode())
    return path


def _free(path: Path) -> Path:
    """A path that is not in use: what was pasted before can be put back."""
    others = (path.with_stem(f"{path.stem} {number}") for number in count(2))
    return next(each for each in chain([path], others) if not each.exists())


def clipboard_content() -> list[Path] | str:
    clipboard = QGuiApplication.clipboard()
    mime: QMimeData | None = clipboard.mimeData()  # None for an empty one on some platforms
    return (local_files(mime) if mime is not None else []) or clipboard.text()
