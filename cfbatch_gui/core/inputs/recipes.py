"""Recipes: stored roles of columns, for other files with columns of the same names."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.column_names import index_of
from cfbatch_gui.core.inputs.input_values import Mapping, ReadOptions, Role, Source
from cfbatch_gui.core.messages import comma_list, message, quoted
from cfbatch_gui.core.system.files import keep_aside, write_own_file

_NOT_NEEDED: Final = frozenset({Role.KEEP, Role.IGNORE})
VERSION: Final = 1
MOST_REMEMBERED: Final = 200  # kinds of files; the one chosen least recently is dropped first
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileKind:
    """What files of one structure have in common, as recognised without options."""

    format: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, source: Source) -> "FileKind":
        return cls(source.format, source.columns)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Roles, layout, template and parts for files with these columns.

    `options` never have an encoding or send doubtful rows.
    """

    name: str
    columns: tuple[str, ...]
    mapping: Mapping
    options: ReadOptions = field(default_factory=ReadOptions)
    second_columns: tuple[str, ...] = ()


def fitted(recipe: Recipe, columns: tuple[str, ...], second_columns: tuple[str, ...] = ()) -> Mapping | str:
    """The recipe's mapping for files with these columns, or the sentence that says which they lack."""
    roles = _roles(recipe.columns, recipe.mapping.roles, columns)
    if isinstance(roles, str):
        return roles
    has_second = bool(second_columns and recipe.second_columns)
    second = _roles(recipe.second_columns, recipe.mapping.second_roles, second_columns) if has_second else ()
    if isinstance(second, str):
        return message("second_file_sentence", sentence=second)
    return replace(recipe.mapping, roles=roles, second_roles=second)


def _roles(known: tuple[str, ...], roles: tuple[Role, ...], columns: tuple[str, ...]) -> tuple[Role, ...] | str:
    found = [Role.KEEP] * len(columns)
    for name, role in zip(known, roles, strict=True):
        index = index_of(name, columns)
        if index is not None:
            found[index] = role
        elif role not in _NOT_NEEDED:
            return message("there_is_no_column_name", name=name)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Remembered:
    kind: FileKind
    recipe: Recipe
    second: FileKind | None = None


@dataclass(frozen=True, slots=True)
class _Book:
    recipes: tuple[Recipe, ...] = ()
    remembered: tuple[_Remembered, ...] = ()  # the most recent choice is last
    version: int = VERSION


class RecipeBook:
    """The stored recipes, on disk when a call returns: call it in a thread.

    Of a file that cannot be read a copy is kept, and `damage` is a sentence.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = threading.Lock()
        self._book, self.damage = _load(path)

    # Named recipes

    def recipes(self) -> tuple[Recipe, ...]:
        return tuple(sorted(self._book.recipes, key=lambda recipe: recipe.name.casefold()))

    def recipe(self, name: str) -> Recipe:
        """A recipe by its name, ignoring case. Raises UsageError."""
        for recipe in self._book.recipes:
            if recipe.name.casefold() == name.strip().casefold():
                return recipe
        known = comma_list([quoted(recipe.name) for recipe in self.recipes()])
        if known:
            raise UsageError(message("there_is_no_recipe_name_there", name=name, known=known))
        raise UsageError(self.damage or message("there_is_no_recipe_name_none", name=name))

    def save(self, recipe: Recipe) -> None:
        """Add a recipe, in place of one of the same name. Raises UsageError without a name, DiskFull, DataError."""
        recipe = replace(recipe, name=_checked(recipe.name))
        self._change(lambda book: replace(book, recipes=(*_without(book, recipe.name), recipe)))

    def rename(self, old: str, new: str) -> None:
        """Raises UsageError if there is none, or if the new name is in use; DiskFull, DataError."""
        recipe, new = self.recipe(old), _checked(new)
        if new.casefold() in {each.name.casefold() for each in self._book.recipes} - {recipe.name.casefold()}:
            raise UsageError(message("there_is_recipe_new_already_choose", new=new))
        named = replace(recipe, name=new)
        self._change(lambda book: replace(book, recipes=(*_without(book, recipe.name), named)))

    def delete(self, name: str) -> Recipe:
        """Remove and return a recipe. Raises as `rename`."""
        recipe = self.recipe(name)
        self._change(lambda book: replace(book, recipes=_without(book, recipe.name)))
        return recipe

    # The last choice for each kind of file

    def remembered(self, kind: FileKind, second: FileKind | None = None) -> Recipe | None:
        """The last choice for files of this kind, None if there is none; its name is ""."""
        found = (each.recipe for each in self._book.remembered if (each.kind, each.second) == (kind, second))
        return next(found, None)

    def remember(self, kind: FileKind, second: FileKind | None, recipe: Recipe | None) -> None:
        """Store a choice for the next file of this kind; None removes it. Raises DiskFull, DataError."""
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
        raise UsageError(message("recipe_needs_name"))
    return name.strip()


def _without(book: _Book, name: str) -> tuple[Recipe, ...]:
    return tuple(each for each in book.recipes if each.name.casefold() != name.casefold())


def _load(path: Path) -> tuple[_Book, str]:
    try:
        book = msgspec.json.decode(path.read_bytes(), type=_Book)
        if book.version == VERSION:
            return book, ""
        _log.warning("Recipes in %s have version %s, not %s; they are not used", path, book.version, VERSION)
    except FileNotFoundError:
        return _Book(), ""
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        _log.warning("Recipes in %s cannot be read: %s", path, error)
        if isinstance(error, OSError):
            return _Book(), ""
    name = keep_aside(path) or path.name
    return _Book(), message("your_recipes_are_damaged_cannot_be", name=name)
