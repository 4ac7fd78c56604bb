"""What the window remembers of its tables and pages."""

from collections.abc import Callable, Mapping


class Memory:
    """Short texts; `keep` gets all of them whenever one has changed."""

    def __init__(self) -> None:
        self.open({})

    def open(self, texts: Mapping[str, str], keep: Callable[[dict[str, str]], object] = lambda _: None) -> None:
        self._texts, self._keep = dict(texts), keep

    def get(self, key: str) -> str:
        return self._texts.get(key, "")

    def set(self, key: str, value: str) -> None:
        if self.get(key) != value:
            self._texts[key] = value
            self._keep(dict(self._texts))


memory = Memory()
