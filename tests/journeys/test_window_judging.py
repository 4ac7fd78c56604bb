"""From two rankings without labels to "is B better than A?", by the keyboard alone."""

import json
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.values import Source
from cfbatch_gui.core.system.paths import Paths
from tests.journeys.desktop import Desktop
from tests.journeys.terminal import Terminal

QUERIES = ("reset my password", "cancel an order", "change the invoice", "delete my account", "refund of a payment")
TEXTS = 8


def questions(path: Path, *, prefix: str = "") -> Path:
    rows = [
        f'"{query}","{prefix}{query if text == 0 else "something else"}, answer {text} of {number}"'
        for number, query in enumerate(QUERIES)
        for text in range(TEXTS)
    ]
    path.write_text("query,text\n" + "\n".join(rows) + "\n", "utf-8")
    return path


def judged(data: Path) -> list[str]:
    """The texts in the only book, in the order in which they were judged."""
    books = list(Paths(data).judgements.glob("*.db"))
    if not books:
        return []
    with closing(Book(books[0], read_only=True, clock=lambda: 0.0)) as book:
        return [each.document.text for each in book.judgements() if each.source is Source.PERSON]


def test_two_rankings_are_judged_and_compared_by_keys(desktop: Desktop, tmp_path: Path) -> None:
    terminal = Terminal(desktop.data)
    for name in ("Short texts", "Long texts"):
        file = questions(tmp_path / f"{name}.csv")
        ended = terminal.run("run", file, "--rank", "--connection", "practice", "--name", name)
        assert ended.status == 0, ended.err
    desktop.start_and_wait()
    assert desktop.is_in(JobState.DONE, "Long texts")
    desktop.until(lambda: len(desktop.main_buttons()) == 2)  # "New job" and "Export…"
    desktop.press("ctrl+shift+c")
    desktop.until(lambda: len(desktop.main_buttons()) == 3)
    desktop.press("Return")
    desktop.until(lambda: len(desktop.main_buttons()) == 1)
    desktop.press("ctrl+j")
    desktop.until(lambda: len(desktop.main_buttons()) == 2)  # "Start judging" has the focus
    desktop.press("Return")
    desktop.until(lambda: len(desktop.main_buttons()) == 1)  # the first text is there
    total = len(QUERIES) * TEXTS
    for count in range(total + 4):  # four come again
        desktop.press("2" if count % 3 == 0 else "0")
        desktop.until(lambda count=count: len(judged(desktop.data)) > count)  # type: ignore[misc]
    texts = judged(desktop.data)
    assert len(set(texts)) == total
    desktop.press("Return")
    assert desktop.close() == 0
    found = json.loads(terminal.run("compare", "Long texts", "Short texts", "--json").out)
    assert found["judgements"] == "My judgements"
    assert found["metrics"]["queries"] == len(QUERIES)
    assert all(job["judged_share"] == 1.0 for job in found["metrics"]["jobs"])
    (answer,) = found["answers"]
    assert (answer["better"], answer["worse"], answer["same"]) == (0, 0, len(QUERIES))  # the rankings are the same
