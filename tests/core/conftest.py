"""Fixtures for input files and judgements."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.judgements.book import Book, Shelf


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """A function (name, content) that writes a file and returns its path."""

    def written(name: str, content: str) -> Path:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8", newline="")
        return path

    return written


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with closing(Shelf(tmp_path / "judgements.db")) as shelf:
        yield shelf.book_or_new("b")
