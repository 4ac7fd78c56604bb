"""Attributes that are made when they are first asked for, so that a start pays only for what it uses."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar, overload

T = TypeVar("T")
S = TypeVar("S")


class made_once(Generic[S, T]):  # noqa: N801 - used as a decorator, like `functools.cached_property`
    """A method whose result becomes its attribute, made once, with a lock each (as `cached_property` had)."""

    def __init__(self, make: Callable[[S], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type[S]) -> "made_once[S, T]": ...
    @overload
    def __get__(self, instance: S, owner: type[S]) -> T: ...
    def __get__(self, instance: S | None, owner: type[S]) -> "made_once[S, T] | T":
        if instance is None:
            return self
        kept = vars(instance)
        with kept.setdefault(f"{self._name} is being made", threading.RLock()):
            if self._name not in kept:
                kept[self._name] = self._make(instance)
        made: T = kept[self._name]
        return made


def is_made(instance: object, *names: str) -> bool:
    """Whether all these attributes of an instance have been made or set."""
    return all(name in vars(instance) for name in names)
