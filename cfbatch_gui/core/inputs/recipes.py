"""A choice of columns that is kept, and used again for other files by the names of their columns."""

from dataclasses import dataclass, field, replace
from typing import Final

from cfbatch_gui.core.inputs.column_names import place_of
from cfbatch_gui.core.inputs.model import FileFormat, Mapping, ReadOptions, Role, Source

_NOT_NEEDED: Final = frozenset({Role.KEEP, Role.IGNORE})


@dataclass(frozen=True, slots=True)
class FileKind:
    """What files that are built alike have in common, as they are recognised without any option."""

    format: FileFormat
    columns: tuple[str, ...]

    @classmethod
    def of(cls, source: Source) -> "FileKind":
        """The kind of a file."""
        return cls(source.format, source.columns)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Roles, layout, template and parts for files with these columns, and how such files are read.

    `options` never have an encoding: that belongs to one file. `second_columns` are () where one file is enough.
    """

    name: str
    columns: tuple[str, ...]
    mapping: Mapping
    options: ReadOptions = field(default_factory=ReadOptions)
    second_columns: tuple[str, ...] = ()


def recipe_of(name: str, source: Source, mapping: Mapping, options: ReadOptions, second: Source | None) -> Recipe:
    """What is kept of a choice for these files; `options` are those that the user has set."""
    without_encoding = replace(options, encoding=None)
    return Recipe(name, source.columns, mapping, without_encoding, second.columns if second else ())


def fitted(recipe: Recipe, columns: tuple[str, ...], second_columns: tuple[str, ...] = ()) -> Mapping | str:
    """The recipe's mapping for files with these columns, or the sentence that says which column they lack.

    Columns are found by their exact name, else whatever its case; those that the recipe does not know are kept.
    Without a second file, where the recipe has one, its roles are () and `check_mapping` asks for it.
    """
    roles = _roles(recipe.columns, recipe.mapping.roles, columns)
    if isinstance(roles, str):
        return roles
    has_second = bool(second_columns and recipe.second_columns)
    second = _roles(recipe.second_columns, recipe.mapping.second_roles, second_columns) if has_second else ()
    if isinstance(second, str):
        return f"In the second file: {second}"
    return replace(recipe.mapping, roles=roles, second_roles=second)


def _roles(known: tuple[str, ...], roles: tuple[Role, ...], columns: tuple[str, ...]) -> tuple[Role, ...] | str:
    found = [Role.KEEP] * len(columns)
    for name, role in zip(known, roles, strict=True):
        place = place_of(name, columns)
        if place is not None:
            found[place] = role
        elif role not in _NOT_NEEDED:
            return f"There is no column “{name}”."
    return tuple(found)
