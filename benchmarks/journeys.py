"""The window's thread on the ways that its users take: how late a timer of 10 ms was at most, against an idle loop.

Each turn walks all of them in a process of its own, so that whatever is made, imported or styled when it is first
wanted counts; the best of the turns is printed, for what blocks the window does so in each. Looking at the window from
outside does not count, nor does waiting for a processor that other programs have. Promised are 100 ms, of
the computing that the window's own thread does; the time by the clock stands beside it.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLineEdit, QWidget

from benchmarks.heartbeat import BEAT, MOST, Beats, Heartbeat, measured, waited_for_processor
from benchmarks.limits import Figures, apart, quantity
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.resources import resource
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window import loop
from cfbatch_gui.ui.window.workspace import Workspace
from tests.screen import material, past
from tests.screen.person import Person

TURNS = 3
QUERIES, TEXTS, PRODUCTS, ROWS = 200, 50, 5_000, 100_000
REST = 0.5  # seconds after each way: what it began is to be over
RANKING, EARLIER, VECTORS = "Reviews by topic", "Reviews, first try", "Catalogue vectors"
LABELLED, UNLABELLED = "Help centre, baseline", "Support articles"
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
SCREEN = Path(__file__).parents[1] / "tests" / "data" / "offscreen.json"


def main(figures: Figures) -> None:
    """The best of several turns, for each way."""
    turns = [apart(walk) for _ in range(TURNS)]
    idle = min(turn.pop("idle").own for turn in turns)
    for name in turns[0]:
        own, most = (min(getattr(turn[name], kind) for turn in turns) for kind in ("own", "most"))
        note = f"idle loop; promised: 110 ms; by the clock {quantity(BEAT + most, 's')}"
        figures.versus(name, BEAT + own, note, BEAT + idle, limit=(BEAT + MOST) / BEAT)


def walk() -> dict[str, Beats]:
    """The beats of an idle loop, as "idle", and those on each way by its name."""
    if os.environ.get("QT_QPA_PLATFORM") == "offscreen":
        os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={SCREEN}"
    app = QApplication(["cfbatch"])
    theme = Theme(Scheme.LIGHT)
    theme.apply(app)
    found: dict[str, Beats] = {}
    with tempfile.TemporaryDirectory() as name:
        loop.run(app, lambda: Walk(Path(name), theme, found).walk())
    return found


class Onlooker(Person):
    """A person whose looking does not count as the window's time."""

    def __init__(self, beat: Heartbeat) -> None:
        super().__init__(patience=60.0)
        self._beat = beat
        self._looking = 0

    @contextmanager
    def _look(self) -> Iterator[None]:
        self._looking += 1
        began, waited = time.perf_counter(), waited_for_processor()
        try:
            yield
        finally:
            self._looking -= 1
            if not self._looking:
                self._beat.excuse(time.perf_counter() - began, waited_for_processor() - waited)

    def seen(self) -> list[str]:
        with self._look():
            return super().seen()

    def sees(self, *words: str) -> bool:
        with self._look():
            return super().sees(*words)

    def _clickable(self, text: str) -> tuple[QWidget, QPoint] | None:
        with self._look():
            return super()._clickable(text)

    def _row(self, table: str, text: str) -> tuple[QAbstractItemView, QModelIndex] | None:
        with self._look():
            return super()._row(table, text)

    def _field(self, name: str) -> QLineEdit | None:
        with self._look():
            return super()._field(name)


class Walk:
    """One person on all ways, one after the other."""

    def __init__(self, root: Path, theme: Theme, found: dict[str, Beats]) -> None:
        self._root, self._theme, self._found = root, theme, found
        self._beat = Heartbeat()
        self._person = Onlooker(self._beat)

    async def walk(self) -> None:
        """Make the jobs of earlier days, open the window, and walk."""
        os.environ["HOME"] = str(self._root)
        await self._earlier()
        self._found["idle"] = await measured(self._beat, None, 3.0)
        listeners: list[Callable[[Job], None]] = []

        def notify(job: Job) -> None:
            for each in listeners:
                each(job)

        program = await Program.open(self._root / "data", environ={}, on_change=notify, practice_times=(0.2, 0.2))
        self._workspace = workspace = Workspace(program, self._theme)
        listeners.append(workspace.job_changed)
        await self._measure("the first page", self._first_page)
        loop.favour_window()
        for name, way in (
            *(("the example", self._example), ("sent and watched", self._sent), ("ranking, all tabs", self._ranking)),
            *(("quality", self._quality), ("judging", self._judging), ("comparison", self._comparison)),
            *(("export to Excel", self._export), ("vectors", self._vectors), ("map", self._map)),
            *(("neighbours", self._similar), ("duplicates", self._duplicates), ("clusters", self._clusters)),
            *((f"{ROWS:,} rows opened", self._draft), ("settings", self._settings), ("help", self._help)),
            *(("archive", self._archive), ("from job to job", self._to_and_fro)),
        ):
            await self._measure(name, way)
        await workspace.close()
        await program.close()
        workspace.window.finish()

    async def _measure(self, name: str, way: Callable[[], Awaitable[None]]) -> None:
        self._beat.begin()
        await way()
        await asyncio.sleep(REST)
        self._found[name] = self._beat.end()

    async def _earlier(self) -> None:
        example = resource("examples/help-centre-ranking.csv")
        program = await Program.open(self._root / "data", environ={}, practice_times=(0.0, 0.0))
        for name in (EARLIER, RANKING):
            await past.run(program, name, material.reviews(self._root / "reviews.csv", QUERIES, TEXTS), Kind.RANK)
        await past.run(program, LABELLED, example, Kind.RANK)
        plain = material.without_labels(self._root / "plain.csv", example)
        await past.run(program, UNLABELLED, plain, Kind.RANK)
        products = material.catalogue(self._root / "products.csv", PRODUCTS)
        await past.run(program, VECTORS, products, Kind.EMBED)
        material.catalogue(self._root / "large.csv", ROWS)
        await program.close()

    # The ways

    async def _first_page(self) -> None:
        await self._workspace.begin((), with_example=False)
        self._workspace.window.activateWindow()
        await self._person.until_sees("New job")

    async def _example(self) -> None:
        await self._person.press(Qt.Key.Key_N, CTRL)
        await self._person.click("Use the example")
        await self._person.until_sees("Finish without sending")
        await self._person.click("Take what earlier jobs have, and send only the rest")
        await self._person.until_sees("Send 1 batch")

    async def _sent(self) -> None:
        await self._person.click("Send 1 batch")
        await self._person.until_sees("Export…", "how do I reset my password")

    async def _ranking(self) -> None:
        person = self._person
        await person.click_row("Jobs", RANKING)
        for tab in ("Overview", "Quality", "Ranking"):
            await person.click(tab)
            await asyncio.sleep(REST)
        await person.click_row("Queries", "complaints about the app")
        for _ in range(10):
            await person.press(Qt.Key.Key_Down)
        await person.press(Qt.Key.Key_F, CTRL)
        await person.press(Qt.Key.Key_A)

    async def _quality(self) -> None:
        await self._person.click_row("Jobs", LABELLED)
        await self._person.click("Quality")
        await self._person.until_sees("mean of 12 queries")

    async def _judging(self) -> None:
        person = self._person
        await person.click_row("Jobs", UNLABELLED)
        await person.press(Qt.Key.Key_J, CTRL)
        await person.until_sees("Start judging", "Judged already")
        await person.press(Qt.Key.Key_Return)
        await person.until_sees("Would this text help?")
        for count, key in enumerate((Qt.Key.Key_2, Qt.Key.Key_0, Qt.Key.Key_1, Qt.Key.Key_3), 1):
            await person.press(key)
            await person.until_sees(f"{count} of 90")
        await person.click("Pause")

    async def _comparison(self) -> None:
        person = self._person
        await person.click_row("Jobs", EARLIER)
        await person.click("Compare")
        await person.until_sees("Compare “")
        await person.click_row("Jobs to compare with", RANKING)
        await person.press(Qt.Key.Key_Return)
        await person.until_sees("Answer", "More measures")
        for tab in ("Queries", "Scores", "More measures"):
            await person.click(tab)
            await asyncio.sleep(REST)

    async def _export(self) -> None:
        await self._person.click_row("Jobs", RANKING)
        await self._person.press(Qt.Key.Key_E, CTRL)
        await self._person.until_sees("Export as", "rows")
        await self._person.click("Save")
        await self._person.until_sees("Wrote ")

    async def _vectors(self) -> None:
        await self._person.click_row("Jobs", VECTORS)
        await self._person.until_sees("Export…", "numbers a text")

    async def _map(self) -> None:
        await self._person.click("Map")
        await self._person.until_sees("distances between islands")
        await self._person.until(lambda: not self._person.sees("Drawing"))

    async def _similar(self) -> None:
        person = self._person
        await person.click("Search")
        await person.type("A text to look for", "something warm for the bed")
        await person.press(Qt.Key.Key_Return)
        await person.until_sees("Most like")

    async def _duplicates(self) -> None:
        await self._person.click("Duplicates")
        await self._person.until_sees("would go")

    async def _clusters(self) -> None:
        await self._person.click("Groups")
        await self._person.until_sees("Group 1:")

    async def _draft(self) -> None:
        self._workspace.window.files_dropped.emit([self._root / "large.csv"])
        await self._person.until(lambda: self._person.sees("Send ") and self._person.sees(f"{ROWS:,}"))

    async def _settings(self) -> None:
        await self._person.click("Settings")
        for tab in ("Window", "Spending", "Data and privacy", "Connections"):
            await self._person.click(tab)
            await asyncio.sleep(REST)
        await self._person.click("Done")

    async def _help(self) -> None:
        person = self._person
        for key, modifier in ((Qt.Key.Key_F1, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_F1, SHIFT)):
            await person.press(key, modifier)
            await asyncio.sleep(REST)
            await person.press(Qt.Key.Key_Escape)

    async def _archive(self) -> None:
        self._workspace.job_actions.archive(self._job(EARLIER).id)
        await asyncio.sleep(REST)

    async def _to_and_fro(self) -> None:
        for name in (RANKING, VECTORS, LABELLED, UNLABELLED, RANKING):
            await self._person.click_row("Jobs", name)
            await asyncio.sleep(REST)

    def _job(self, name: str) -> Job:
        return next(job for job in self._workspace.program.ledger.jobs() if job.name == name)
