"""The recipes that were saved, in a menu: use one, save what is chosen now, rename, delete."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from cfbatch_gui.core.inputs.columns.recipes import Recipe, fitted
from cfbatch_gui.ui.inputs.draft_state import DraftState
from cfbatch_gui.ui.widgets import MenuButton, add_action
from cfbatch_gui.ui.words import one_line


class RecipesButton(MenuButton):
    """`recipes` gives those there are. Wishes go out as signals, with the name of a recipe."""

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
        """The draft that recipes would be used for."""
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


def _shown(name: str) -> str:
    return one_line(name, 60).replace("&", "&&")
