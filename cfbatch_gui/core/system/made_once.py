"""Attributes that are made when they are first asked for, so that a start pays only for what it uses."""

import threading
from functools import cached_property
from typing import Any, TypeVar

T = TypeVar("T")


class made_once(cached_property[T]):  # noqa: N801 - used as a decorator, like its base
    """A method whose result becomes its attribute, made once, with a lock each (as `cached_property` had)."""

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> T:  # type: ignore[override]
        with vars(instance).setdefault(f"{self.attrname} is being made", threading.RLock()):
            made: T = super().__get__(instance, owner)
        return made
