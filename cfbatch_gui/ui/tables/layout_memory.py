"""Where the layout of the window is kept."""

from typing import Protocol


class Memory(Protocol):
    """The store of the window's layout: a text for each key."""

    def get(self, key: str) -> str:
        """The text of a key, "" when there is none."""

    def set(self, key: str, value: str) -> None:
        """Save a text under a key."""
