"""Recipes: roles of columns under a name, kept in the settings for other files with columns of the same names."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.column_names import index_of
from cfbatch_gui.core.inputs.input_values import Mapping, ReadOptions, Role
from cfbatch_gui.core.messages import comma_list, message, quoted
from cfbatch_gui.core.system.settings import Settings

_NOT_NEEDED: Final = frozenset({Role.KEEP, Role.IGNORE})


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


def recipes_in(settings: Settings) -> tuple[Recipe, ...]:
    """The saved recipes by name, without any that was spoilt by hand."""
    found = []
    for each in settings.recipes:
        with suppress(msgspec.ValidationError):
            recipe = msgspec.convert(each, Recipe)
            roles = len(recipe.mapping.roles), len(recipe.mapping.second_roles)
            if roles == (len(recipe.columns), len(recipe.second_columns)):
                found.append(recipe)
    return tuple(sorted(found, key=lambda recipe: recipe.name.casefold()))


def as_setting(recipes: Iterable[Recipe]) -> tuple[dict[str, Any], ...]:
    """What the settings keep; of recipes of one name, whatever its case, the last."""
    return tuple(map(msgspec.to_builtins, {each.name.casefold(): each for each in recipes}.values()))


def recipe_named(settings: Settings, name: str) -> Recipe:
    """A recipe by its name, ignoring case. Raises UsageError."""
    recipes = recipes_in(settings)
    for recipe in recipes:
        if recipe.name.casefold() == name.strip().casefold():
            return recipe
    if recipes:
        known = comma_list([quoted(recipe.name) for recipe in recipes])
        raise UsageError(message("there_is_no_recipe_name_there", name=name, known=known))
    raise UsageError(message("there_is_no_recipe_name_none", name=name))
