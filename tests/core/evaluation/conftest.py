from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.judgements.book import Book


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    with closing(Book.create(tmp_path / "book.db", "b", clock=lambda: 0.0)) as opened:
        yield opened
