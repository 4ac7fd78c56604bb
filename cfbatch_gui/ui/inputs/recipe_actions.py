"""What is done with recipes: use one, save one, rename, delete."""

from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.inputs.columns.recipes import Recipe, recipe_of
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.inputs.draft_work import DraftWork
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks


class RecipeActions(QWidget):
    """Never shown; a widget because its dialogs stand above the page that owns it. Errors go the way of `tasks`."""

    def __init__(self, program: Program, work: DraftWork, notices: Notices, tasks: Tasks, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self._program, self._work, self._notices, self._tasks = program, work, notices, tasks
        self._page = parent

    def use(self, job_id: str, name: str) -> None:
        """Read the draft's file by a recipe."""
        self._work.use_recipe(job_id, self._program.recipes.recipe(name))

    def save(self, job_id: str) -> None:
        """Ask for a name, and keep what is chosen for this draft's file."""
        self._tasks.start("recipe", self._save(job_id))

    def rename(self, name: str) -> None:
        """Ask for another name."""
        self._tasks.start("recipe", self._rename(name))

    def delete(self, name: str) -> None:
        """Take it away; a notice gives it back."""
        self._tasks.start("recipe", self._delete(name))

    async def _save(self, job_id: str) -> None:
        state = self._work.state(job_id)
        if state.file is None or state.mapping is None:
            return
        second = state.second.source if state.second else None
        recipe = recipe_of("", state.file.source, state.mapping, state.file.options, second)
        title, label = self.tr("Save as a recipe"), self.tr("Name of the recipe")
        suggested = self._work.job(job_id).name
        name = await dialogs.ask_text(self._page, title, label, text=suggested, accept=self.tr("Save"))
        if not name or not name.strip():
            return
        if any(each.name.casefold() == name.strip().casefold() for each in self._program.recipes.recipes()):
            text = self.tr("There is a recipe “{name}” already. Replace it?").format(name=name.strip())
            if not await dialogs.ask(self._page, self.tr("Replace the recipe?"), text, accept=self.tr("Replace")):
                return
        named = Recipe(name.strip(), recipe.columns, recipe.mapping, recipe.options, recipe.second_columns)
        await self._program.runner.on_disk(self._program.recipes.save, named)
        said = self.tr("Saved the recipe “{name}”. It stands under Recipes for files with these columns.").format(
            name=named.name
        )
        self._notices.show_notice(said, "done")

    async def _rename(self, name: str) -> None:
        title, label = self.tr("Rename the recipe"), self.tr("Name of the recipe")
        new = await dialogs.ask_text(self._page, title, label, text=name, accept=self.tr("Rename"))
        if new and new.strip() and new.strip() != name:
            await self._program.runner.on_disk(self._program.recipes.rename, name, new)

    async def _delete(self, name: str) -> None:
        recipe = await self._program.runner.on_disk(self._program.recipes.delete, name)

        def undo() -> None:
            self._tasks.start("recipe", self._restore(recipe))

        text = self.tr("Deleted the recipe “{name}”.").format(name=name)
        self._notices.show_notice(text, button=self.tr("Undo"), on_button=undo)

    async def _restore(self, recipe: Recipe) -> None:
        await self._program.runner.on_disk(self._program.recipes.save, recipe)
