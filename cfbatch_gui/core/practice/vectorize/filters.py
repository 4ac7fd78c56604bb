"""Metadata: what of it is indexed, and the conditions of a query's filter on it.

A vector that has no indexed value of a property fulfils no condition on it, not even `$ne`: assumed, no page says it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from cfbatch_gui.core.practice.responses import RefusalError
from cfbatch_gui.core.practice.vectorize.bodies import PropertyType
from cfbatch_gui.core.practice.vectorize.refusals import unreadable_body
from cfbatch_gui.core.workers_ai.limits import MAX_FILTER_BYTES, MAX_INDEXED_BYTES, MAX_METADATA_KEY

Scalar = str | float | bool

_ORDERED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$lt": lambda value, bound: value < bound,
    "$lte": lambda value, bound: value <= bound,
    "$gt": lambda value, bound: value > bound,
    "$gte": lambda value, bound: value >= bound,
}
_UPPER: Final = frozenset({"$lt", "$lte"})
_LISTED: Final = frozenset({"$in", "$nin"})
_OPERATORS: Final = frozenset({"$eq", "$ne", *_LISTED, *_ORDERED})


def indexed_value(metadata: Mapping[str, Any], name: str, kind: PropertyType) -> Scalar | None:
    """The value of a property as it is indexed, None for nothing: texts are cut at 64 bytes between characters.

    A dot in `name` leads into an object.
    """
    value: Any = metadata
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return _cut(value) if _kind_of(value) == kind else None


def _kind_of(value: object) -> PropertyType | None:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else None


def _cut(value: Any) -> Any:
    return value.encode()[:MAX_INDEXED_BYTES].decode("utf-8", "ignore") if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on one property."""

    name: str
    operator: str
    operand: Any

    def holds(self, value: Scalar) -> bool:
        """Whether an indexed value fulfils it."""
        if self.operator in _ORDERED:
            is_comparable = _kind_of(value) == _kind_of(self.operand)
            return is_comparable and _ORDERED[self.operator](value, self.operand)
        operands = self.operand if self.operator in _LISTED else [self.operand]
        is_found = any(_kind_of(value) == _kind_of(each) and value == each for each in operands)
        return is_found if self.operator in ("$eq", "$in") else not is_found


def read_filter(posted: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Decode a filter, whose conditions all have to hold. Raises RefusalError (400, 40026)."""
    size = len(msgspec.json.encode(posted))
    if not posted:
        raise _wrong("must be a non-empty object")
    if size > MAX_FILTER_BYTES:
        raise _wrong(f"must have less than {MAX_FILTER_BYTES + 1} bytes as compact JSON, got {size}")
    return tuple(condition for key, value in posted.items() for condition in _conditions(key, value))


def _conditions(name: str, value: object) -> tuple[Condition, ...]:
    if not name or len(name) > MAX_METADATA_KEY or name.startswith("$") or '"' in name:
        raise _wrong(f"key {name!r} is not allowed")
    if not isinstance(value, dict):
        return (_condition(name, "$eq", value),)
    if not value:
        raise _wrong(f"{name!r} has no operator")
    operators = list(value)
    bounds = [operator in _UPPER for operator in operators]
    is_range = all(operator in _ORDERED for operator in operators) and len(set(bounds)) == len(bounds)
    if len(operators) > 1 and not is_range:
        raise _wrong(f"the operators of {name!r} cannot be combined")
    return tuple(_condition(name, operator, operand) for operator, operand in value.items())


def _condition(name: str, operator: str, operand: Any) -> Condition:
    if operator not in _OPERATORS:
        raise _wrong(f"{operator!r} is not an operator")
    if operator in _LISTED:
        if not isinstance(operand, list) or not all(map(_is_operand, operand)):
            raise _wrong(f"{operator} takes a list of strings, numbers, booleans or null")
        return Condition(name, operator, [_cut(each) for each in operand])
    is_ordered = operator in _ORDERED
    if not _is_operand(operand) or (is_ordered and _kind_of(operand) not in ("string", "number")):
        kinds = "a string or a number" if is_ordered else "a string, a number, a boolean or null"
        raise _wrong(f"{operator} takes {kinds}")
    return Condition(name, operator, _cut(operand))


def _is_operand(value: object) -> bool:
    return value is None or _kind_of(value) is not None


def _wrong(reason: str) -> RefusalError:
    return unreadable_body(f"filter: {reason}")
