"""A book of 100,000 judgements, 300 answers on the page of judging, and 300 decisions about matches of 5,000 rows.

Opening checks every page; it is held against reading the same numbers from a plain table (promised: 100 ms). Each
answer is written and the next text on the screen; it is held against a row written into a plain table, flushed to the
disk, and a label that is painted (promised: 50 ms). So are decisions.
"""

import asyncio
import sqlite3
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from benchmarks.limits import Figures, best_of
from benchmarks.ranking_page import make_job
from cfbatch_gui.core.judgements.book import Shelf
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.evaluation.judge_page import JudgePage
from cfbatch_gui.ui.evaluation.review_page import ReviewPage
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window import loop
from tests.support.lists import numbered_lists, two_lists

JUDGEMENTS, ANSWERS, QUERIES, SCORES, ROWS = 100_000, 300, 60, 600, 5_000
TURNS = 5
_TABLE = (
    "CREATE TABLE plain(query INTEGER, document INTEGER, judge INTEGER, source INTEGER, grade INTEGER, time INTEGER)"
)


def main(figures: Figures) -> None:
    """The book, then the page."""
    with tempfile.TemporaryDirectory() as name:
        _open_book(figures, Path(name))
    app = QApplication(["cfbatch"])
    Theme(Scheme.LIGHT).apply(app)
    for scene in (_answer, _review):
        with tempfile.TemporaryDirectory() as name:
            loop.run(app, partial(scene, figures, Path(name)))


def _open_book(figures: Figures, root: Path) -> None:
    path, plain = root / "book.db", root / "plain.db"
    with closing(Shelf(path)) as shelf:
        shelf.book_or_new().add(
            [
                Judgement(
                    Subject("", f"query {number // 100}"),
                    Subject("", f"A text of some words about its own number, which is {number}."),
                    *(number % 4, "me", Source.PERSON, float(number)),
                )
                for number in range(JUDGEMENTS)
            ]
        )
    with closing(sqlite3.connect(plain)) as database:
        database.execute(_TABLE)
        rows = ((number // 100, number, 1, 3, number % 4, number) for number in range(JUDGEMENTS))
        database.executemany("INSERT INTO plain VALUES(?, ?, ?, ?, ?, ?)", rows)
        database.commit()

    def ours() -> None:
        with closing(Shelf(path)) as shelf:
            shelf.book()

    def theirs() -> None:
        with closing(sqlite3.connect(plain)) as database:
            database.execute("SELECT * FROM plain").fetchall()

    opened, read = best_of(TURNS, ours, theirs)
    figures.versus(f"{JUDGEMENTS:,} judgements opened and checked", opened, "rows of a plain table", read, limit=1.5)


async def _answer(figures: Figures, root: Path) -> None:
    program = await Program.open(root, environ={})
    job = make_job(program, QUERIES, seed=1, scores=SCORES)
    page = JudgePage(program, Notices())
    page.resize(1004, 820)
    page.show()
    page.judge([job])
    while not page.begin_button.isVisible() or page.tasks.running():  # noqa: ASYNC110 - no event says so
        await asyncio.sleep(0.01)
    page.begin_button.click()
    while (session := page.session) is None or page.tasks.running():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    times = []
    for count in range(ANSWERS):
        start = time.perf_counter()
        QTest.keyClick(page.view, Qt.Key.Key_1)
        while session.position == count or page.tasks.running():  # noqa: ASYNC110
            await asyncio.sleep(0)
        page.view.repaint()
        times.append(time.perf_counter() - start)
    _compare(figures, f"{ANSWERS} answers, the next text is there", times, root, (12.0, 20.0))
    await page.tasks.close()
    await program.close()


async def _review(figures: Figures, root: Path) -> None:
    program = await Program.open(root / "data", environ={}, practice_times=(0.0, 0.0))
    job = await two_lists(program, root, *numbered_lists(ROWS), threshold=-1.0)
    page = ReviewPage(program, Notices())
    page.resize(1089, 743)
    page.show()
    page.review(job)
    while (session := page.session) is None or page.tasks.running():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    times = []
    for count in range(ANSWERS):
        start = time.perf_counter()
        QTest.keyClick(page.view, Qt.Key(Qt.Key.Key_1 + count % 5))
        while len(session.given) == count or page.tasks.running():  # noqa: ASYNC110
            await asyncio.sleep(0.001)  # without a pause this thread would take the time that the other needs
        page.view.repaint()
        times.append(time.perf_counter() - start)
    _compare(figures, f"{ANSWERS} of {ROWS:,} rows reviewed", times, root, (25.0, 50.0))
    await page.tasks.close()
    await program.close()


def _compare(figures: Figures, title: str, times: list[float], root: Path, limits: tuple[float, float]) -> None:
    """The times in seconds, of half of the keys and of 99 in 100."""
    ours, plain = sorted(times), _answer_plainly(root / "plain.db")
    for name, place, limit in (("half", ANSWERS // 2, limits[0]), ("99 of 100", ANSWERS * 99 // 100, limits[1])):
        figures.versus(f"{title}: {name}", ours[place], "a row flushed, a label painted", plain[place], limit=limit)


def _answer_plainly(path: Path) -> list[float]:
    """The sorted times in which a row is on the disk and a label painted."""
    label = QLabel()
    label.setWordWrap(True)
    label.resize(1004, 820)
    label.show()
    times = []
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = EXTRA")
        database.execute(_TABLE)
        for number in range(ANSWERS):
            start = time.perf_counter()
            database.execute("INSERT INTO plain VALUES(?, ?, ?, ?, ?, ?)", (number, number, 1, 3, 1, number))
            label.setText(f"A text of some words about its own number, which is {number}. " * 10)
            label.repaint()
            times.append(time.perf_counter() - start)
    return sorted(times)
