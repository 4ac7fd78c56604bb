"""Recipes on disk: those that have a name, and what was chosen last for each kind of file."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.files import write_own_file
from cfbatch_gui.core.inputs.recipes import FileKind, Recipe

VERSION: Final = 1
MOST_REMEMBERED: Final = 200  # kinds of file; the one that was not met for longest is forgotten first

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Remembered:
    kind: FileKind
    recipe: Recipe
    second: FileKind | None = None


@dataclass(frozen=True, slots=True)
class _Book:
    recipes: tuple[Recipe, ...] = ()
    remembered: tuple[_Remembered, ...] = ()  # the last one chosen at the end
    version: int = VERSION


class RecipeBook:
    """Reads its file once; each change is on disk when the call returns, so changes belong in a thread.

    A file that cannot be read, or that a newer program has written, counts as empty, with a line in the log.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = threading.Lock()
        self._book = _load(path)

    # With a name

    def recipes(self) -> tuple[Recipe, ...]:
        """All that have a name, by that name."""
        return tuple(sorted(self._book.recipes, key=lambda recipe: recipe.name.casefold()))

    def recipe(self, name: str) -> Recipe:
        """One by its name, whatever its case. Raises UsageError."""
        for recipe in self._book.recipes:
            if recipe.name.casefold() == name.strip().casefold():
                return recipe
        known = ", ".join(f"“{recipe.name}”" for recipe in self.recipes())
        raise UsageError(
            f"There is no recipe “{name}”. There are {known}."
            if known
            else f"There is no recipe “{name}”; none was saved yet. Recipes are saved in the window."
        )

    def save(self, recipe: Recipe) -> None:
        """Add a recipe, in place of one of the same name. Raises UsageError without a name, DiskFull, DataError."""
        recipe = replace(recipe, name=_checked(recipe.name))
        self._change(lambda book: replace(book, recipes=(*_without(book, recipe.name), recipe)))

    def rename(self, old: str, new: str) -> None:
        """Raises UsageError when there is none, or one of the new name; DiskFull, DataError."""
        recipe, new = self.recipe(old), _checked(new)
        if new.casefold() != recipe.name.casefold() and new.casefold() in _names(self._book):
            raise UsageError(f"There is a recipe “{new}” already. Choose another name, or delete that one first.")
        named = replace(recipe, name=new)
        self._change(lambda book: replace(book, recipes=(*_without(book, recipe.name), named)))

    def delete(self, name: str) -> Recipe:
        """Take a recipe away; the one that was there, for who thinks better of it. Raises as `rename`."""
        recipe = self.recipe(name)
        self._change(lambda book: replace(book, recipes=_without(book, recipe.name)))
        return recipe

    # For each kind of file

    def remembered(self, kind: FileKind, second: FileKind | None = None) -> Recipe | None:
        """What was chosen last for files of this kind; its name is ""."""
        found = (each.recipe for each in self._book.remembered if (each.kind, each.second) == (kind, second))
        return next(found, None)

    def remember(self, kind: FileKind, second: FileKind | None, recipe: Recipe | None) -> None:
        """Keep a choice for the next file of this kind; None forgets it. Raises DiskFull, DataError."""
        if recipe == self.remembered(kind, second):
            return
        new = () if recipe is None else (_Remembered(kind, replace(recipe, name=""), second),)

        def changed(book: _Book) -> _Book:
            others = tuple(each for each in book.remembered if (each.kind, each.second) != (kind, second))
            return replace(book, remembered=(*others, *new)[-MOST_REMEMBERED:])

        self._change(changed)

    def _change(self, change: Callable[[_Book], _Book]) -> None:
        with self._writing:
            book = change(self._book)
            write_own_file(self._path, msgspec.json.format(msgspec.json.encode(book), indent=2) + b"\n")
            self._book = book


def _checked(name: str) -> str:
    if not name.strip():
        raise UsageError("The recipe needs a name.")
    return name.strip()


def _names(book: _Book) -> set[str]:
    return {recipe.name.casefold() for recipe in book.recipes}


def _without(book: _Book, name: str) -> tuple[Recipe, ...]:
    return tuple(each for each in book.recipes if each.name.casefold() != name.casefold())


def _load(path: Path) -> _Book:
    try:
        book = msgspec.json.decode(path.read_bytes(), type=_Book)
        if book.version == VERSION:
            return book
        _log.warning("Recipes in %s have version %s, not %s; they are not used", path, book.version, VERSION)
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        _log.warning("Recipes in %s cannot be read: %s", path, error)
    return _Book()
