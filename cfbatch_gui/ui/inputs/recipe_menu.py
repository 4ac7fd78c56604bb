"""Recipes of a draft: the menu of those that were saved, and what is done with them."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.inputs.recipes import Recipe, fitted, recipe_of
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.display import one_line
from cfbatch_gui.ui.inputs.draft_choices import DraftChoices
from cfbatch_gui.ui.inputs.draft_state import DraftState, DraftStates
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.widgets import MenuButton, add_action


class RecipesButton(MenuButton):
    """A menu of the saved recipes, which `recipes` returns: use one, save what is chosen now, rename, delete.

    `picked`, `rename_wanted` and `delete_wanted` carry the name of a recipe.
    """

    picked = Signal(str)
    save_wanted = Signal()
    rename_wanted = Signal(str)
    delete_wanted = Signal(str)

    def __init__(self, recipes: Callable[[], Sequence[Recipe]], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Recipes"), "bookmark", parent=parent)
        self.setToolTip(self.tr("Keep how this file is read, and use it again"))
        self._recipes = recipes
        self._state = DraftState()
        self.menu().setToolTipsVisible(True)
        self.menu().aboutToShow.connect(self._fill)

    def show_state(self, state: DraftState) -> None:
        """Show which recipes fit this draft."""
        self._state = state

    def _fill(self) -> None:
        menu, recipes = self.menu(), self._recipes()
        menu.clear()
        for recipe in recipes:
            action = self.add(_shown(recipe.name), partial(self.picked.emit, recipe.name))
            if why_not := self._why_not(recipe):
                action.setEnabled(False)
                action.setToolTip(why_not)
        if not recipes:
            menu.addAction(self.tr("No recipe was saved yet")).setEnabled(False)
        menu.addSeparator()
        save = self.add(self.tr("Save this as a recipe…"), self.save_wanted.emit, "save")
        save.setEnabled(self._state.mapping is not None and not self._state.incomplete)
        if recipes:
            for title, icon, signal in (
                (self.tr("Rename"), "pencil", self.rename_wanted),
                (self.tr("Delete"), "trash-2", self.delete_wanted),
            ):
                below = menu.addMenu(title)
                for recipe in recipes:
                    add_action(below, _shown(recipe.name), partial(signal.emit, recipe.name), icon)

    def _why_not(self, recipe: Recipe) -> str:
        file, second = self._state.file, self._state.second
        if file is None:
            return self.tr("Open a file first.")
        columns = second.source.columns if second else ()
        found = fitted(recipe, file.source.columns, columns)
        return found if isinstance(found, str) else ""


class RecipeActions(QWidget):
    """Carries out what the menu asks for. Never shown: a widget because it is the parent of dialogs."""

    def __init__(
        self,
        program: Program,
        drafts: DraftStates,
        choices: DraftChoices,
        notices: Notices,
        *,
        tasks: Tasks,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.hide()
        self._program, self._drafts, self._choices = program, drafts, choices
        self._notices, self._tasks = notices, tasks
        self._page = parent

    def use(self, job_id: str, name: str) -> None:
        """Read and map the draft's file by the recipe of this name."""
        self._choices.use_recipe(job_id, self._program.recipes.recipe(name))

    def save(self, job_id: str) -> None:
        """Ask for a name, and save what is chosen for this draft's file."""
        self._tasks.start("recipe", self._save(job_id))

    def rename(self, name: str) -> None:
        """Ask for another name for the recipe."""
        self._tasks.start("recipe", self._rename(name))

    def delete(self, name: str) -> None:
        """Delete the recipe; a notice offers to undo it."""
        self._tasks.start("recipe", self._delete(name))

    async def _save(self, job_id: str) -> None:
        state = self._drafts.state(job_id)
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

        def undo() -> None:
            self._tasks.start("recipe", self._restore(recipe))

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
