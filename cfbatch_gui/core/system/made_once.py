"""Attributes that are made when they are first asked for, so that a start pays only for what it uses."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar, overload

T = TypeVar("T")
S = TypeVar("S")

# One for all: making one attribute may ask for another, and threads that make two must not wait for each other.
_MAKING = threading.RLock()


class made_once(Generic[S, T]):  # noqa: N801 - used as a decorator, like `functools.cached_property`
    """A method whose result becomes the attribute of its name at the first access.

    As `functools.cached_property`, which has no lock from Python 3.12 on: two threads could get two results.
    """

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
        with _MAKING:
            if self._name not in kept:
                kept[self._name] = self._make(instance)
        made: T = kept[self._name]
        return made


def is_made(instance: object, *names: str) -> bool:
    """Whether all these attributes of an instance have been made or set."""
    return all(name in vars(instance) for name in names)
