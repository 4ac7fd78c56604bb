"""A timer of 10 ms in the window's thread, against an idle loop: jobs are watched, a file loads, an export runs.

Then the list of 10,000 jobs, drawn again after a change, against a list of 100.
"""

import asyncio
import csv
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from benchmarks.limits import Figures, best_of
from benchmarks.many_jobs import fill as fill_ledger
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.exports import export
from cfbatch_gui.ui.jobs.library import Library
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window import loop
from cfbatch_gui.ui.window.workspace import Workspace

BEAT = 0.010  # seconds
P99, MOST = 0.020, 0.100  # seconds that a beat may be late
FINISHED, FEW, WATCHED, ROWS, EXPORTED = 10_000, 100, 100, 1_000_000, 20_000
TURNS = 3
_SCHEDULED = Path("/proc/thread-self/schedstat")  # of Linux


@dataclass(frozen=True, slots=True)
class Beats:
    """How many seconds late beats were; `own` at most, without what the thread waited for a processor."""

    p99: float
    most: float
    own: float


class Heartbeat(QObject):
    """A Qt timer, and how many seconds late each of its beats was."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self._due = self._waited = self._most_own = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(round(BEAT * 1000))
        self._timer.timeout.connect(self._beat)

    def begin(self) -> None:
        """Start, and forget earlier beats."""
        self.late.clear()
        self._due = time.perf_counter() + BEAT
        self._waited, self._most_own = waited_for_processor(), 0.0
        self._timer.start()

    def excuse(self, seconds: float, waited: float) -> None:
        """Do not count this time: not the program took it, but who looks at it. `waited`: for a processor."""
        self._due += seconds
        self._waited += waited

    def end(self) -> Beats:
        """Stop. A beat that is due and has not come counts as late as it is now."""
        self._timer.stop()
        self._note(time.perf_counter())
        late = sorted(self.late)
        return Beats(late[int(len(late) * 0.99)], late[-1], self._most_own)

    def _beat(self) -> None:
        now = time.perf_counter()
        self._note(now)
        self._due = now + BEAT

    def _note(self, now: float) -> None:
        late, waited = max(0.0, now - self._due), waited_for_processor()
        self.late.append(late)
        self._most_own = max(self._most_own, late - max(0.0, waited - self._waited))
        self._waited = waited


def waited_for_processor() -> float:
    """How many seconds this thread was ready to run and did not; 0.0 where the system does not tell."""
    try:
        return int(_SCHEDULED.read_text("ascii").split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def table(path: Path, rows: int) -> Path:
    """Texts with a number."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("id", "text", "shelf"))
        writer.writerows((f"{n:06}", f"Reading light number {n}, brass, for a small room", n % 40) for n in range(rows))
    return path


async def draft(program: Program, name: str, path: Path) -> Job:
    """A job that can be sent."""
    job = program.drafts.create(Kind.EMBED, name, program.settings.model, "practice")
    source = await asyncio.to_thread(open_source, path)
    mapping = suggest_mapping(source, Kind.EMBED, preview(source, 50))
    return await asyncio.to_thread(program.drafts.load, job.id, source, mapping)


async def measured(beat: Heartbeat, work: Callable[[], Awaitable[object]] | None, least: float) -> Beats:
    """The beats of one turn, which lasts until the work is done and at least so many seconds."""
    beat.begin()
    began = time.perf_counter()
    if work is not None:
        await work()
    await asyncio.sleep(max(0.0, least - (time.perf_counter() - began)))
    return beat.end()


async def best_turn(beat: Heartbeat, work: Callable[[], Awaitable[object]] | None, least: float) -> Beats:
    """The best of several turns: what blocks the window's thread does so in each."""
    found = [await measured(beat, work, least) for _ in range(TURNS)]
    return Beats(*(min(getattr(each, name) for each in found) for name in ("p99", "most", "own")))


def add_beats(figures: Figures, name: str, beats: Beats, idle: Beats) -> None:
    """From one beat to the next, against an idle loop. The limits are what was promised for a loop without delays."""
    figures.versus(
        f"{name}: p99", BEAT + beats.p99, "idle loop; promised: 30 ms", BEAT + idle.p99, limit=(BEAT + P99) / BEAT
    )
    figures.versus(
        f"{name}: max", BEAT + beats.most, "idle loop; promised: 110 ms", BEAT + idle.most, limit=(BEAT + MOST) / BEAT
    )


async def main_in_loop(figures: Figures, root: Path, theme: Theme) -> None:
    """The window over many jobs, with one kind of work after the other."""
    listeners: list[Callable[[Job], None]] = []

    def notify(job: Job) -> None:
        for each in listeners:
            each(job)

    beat = Heartbeat()
    idle = await measured(beat, None, 3.0)
    fill_ledger(root / "data", FINISHED)
    program = await Program.open(root / "data", environ={}, on_change=notify, practice_times=(3_600.0, 1.0))
    workspace = Workspace(program, theme)
    listeners.append(workspace.job_changed)
    await workspace.begin((), with_example=False)
    loop.favour_window()
    add_beats(figures, f"window over {FINISHED:,} jobs", await best_turn(beat, None, 2.0), idle)
    small = table(root / "small.csv", 40)
    for number in range(WATCHED):
        job = await draft(program, f"Watched {number}", small)
        await program.actions.send(job.id)
    add_beats(figures, f"{WATCHED} of them watched", await best_turn(beat, None, 5.0), idle)
    large = table(root / "large.csv", ROWS)
    add_beats(
        figures, f"and {ROWS:,} rows load", await best_turn(beat, lambda: _load(workspace, program, large), 3.0), idle
    )
    export_vectors = await _export(root)
    add_beats(figures, f"and {EXPORTED:,} vectors exported", await best_turn(beat, export_vectors, 3.0), idle)
    await workspace.close()
    await program.close()
    workspace.window.finish()


async def _load(workspace: Workspace, program: Program, path: Path) -> None:
    """Through the page of a draft, as a dropped file, until it can be sent."""
    loaded = asyncio.Event()
    drafts = workspace.draft_page.drafts

    def look(job_id: str) -> None:
        if program.ledger.job(job_id).rows_in == ROWS and drafts.state(job_id).preflight is not None:
            loaded.set()

    drafts.changed.connect(look)
    workspace.window.files_dropped.emit([path])
    await loaded.wait()
    drafts.changed.disconnect(look)


async def _export(root: Path) -> Callable[[], Awaitable[object]]:
    """Writes the vectors of a finished job of another data folder."""
    other = await Program.open(root / "other", environ={}, practice_times=(0.0, 0.0))
    job = await draft(other, "Exported", table(root / "exported.csv", EXPORTED))
    await other.actions.send(job.id)
    job = await other.runner.wait(job.id)
    folder, facts = other.folder(job.id), job
    await other.close()
    return lambda: asyncio.to_thread(export, folder, facts, root / "vectors.csv")


def main(figures: Figures) -> None:
    """Lateness is printed as the time from one beat to the next: 10 ms and what it is late."""
    app = QApplication(["cfbatch"])
    theme = Theme(Scheme.LIGHT)
    theme.apply(app)
    with tempfile.TemporaryDirectory() as name:
        loop.run(app, lambda: main_in_loop(figures, Path(name), theme))
    ours, plain = best_of(TURNS, DrawnAgain(FINISHED), DrawnAgain(FEW))
    figures.versus(f"list of {FINISHED:,} jobs drawn again", ours, f"of {FEW}; promised: 300 ms", plain, limit=5.0)


class DrawnAgain:
    """A list of finished jobs and one at work; each call draws it after the one at work has changed."""

    def __init__(self, count: int) -> None:
        done = Batch("", 1, BatchState.DONE, 20, 400, 120_000)
        finished = Job("", "", Kind.RANK, "m", "practice", 0.0, is_sent=True, queries=20)
        self._jobs = tuple(
            replace(finished, id=f"{number}", name=f"Job {number}", batches=(replace(done, job_id=f"{number}"),))
            for number in range(count)
        )
        self._running = Batch("running", 1, BatchState.RUNNING, 20, 400, 120_000)
        self._working = replace(finished, id="running", name="Running")
        self._library = Library()
        self._library.resize(276, 820)
        self._library.show()
        self()

    def __call__(self) -> None:
        self._running = replace(self._running, checked_at=self._running.checked_at + 1)
        self._library.show_jobs((*self._jobs, replace(self._working, batches=(self._running,))))
        self._library.grab()
