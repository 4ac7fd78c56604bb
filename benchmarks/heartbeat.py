"""How late a timer of 10 ms is in the window's thread: a hundred jobs are watched, a file loads, an export runs."""

import asyncio
import csv
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.inputs.columns.layouts import suggest_mapping
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program, facts_of
from cfbatch_gui.core.results.exports import export
from cfbatch_gui.ui.theme import Scheme, Theme
from cfbatch_gui.ui.window import loop
from cfbatch_gui.ui.window.workspace import Workspace

BEAT = 0.010  # seconds
JOBS, ROWS, EXPORTED = 100, 200_000, 20_000


class Heartbeat(QObject):
    """A Qt timer, and how many seconds late each of its beats was."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self._due = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(round(BEAT * 1000))
        self._timer.timeout.connect(self._beat)

    def begin(self) -> None:
        """Forget what was, and beat."""
        self.late.clear()
        self._due = time.perf_counter() + BEAT
        self._timer.start()

    def end(self) -> None:
        """Beat no more."""
        self._timer.stop()

    def _beat(self) -> None:
        now = time.perf_counter()
        self.late.append(max(0.0, now - self._due))
        self._due = now + BEAT


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


async def measured(beat: Heartbeat, name: str, work: Awaitable[object] | None, seconds: float) -> None:
    """Run the work to its end, and for so many seconds at least; print how late the beats were."""
    beat.begin()
    began = time.perf_counter()
    if work is not None:
        await work
    took = time.perf_counter() - began
    await asyncio.sleep(max(0.0, seconds - took))
    beat.end()
    late = sorted(beat.late)
    p50, p99 = (late[int(len(late) * share)] * 1000 for share in (0.5, 0.99))
    print(f"{name:<44} {took:>7.1f} s {len(late):>7,} {p50:>7.1f} {p99:>7.1f} {late[-1] * 1000:>7.1f}", flush=True)


async def main_in_loop(root: Path, theme: Theme) -> None:
    """The window with all of it going on."""
    told: list[Callable[[Job], None]] = []

    def tell(job: Job) -> None:
        for each in told:
            each(job)

    program = await Program.open(root / "data", environ={}, on_change=tell, practice_times=(3_600.0, 1.0))
    workspace = Workspace(program, theme)
    told.append(workspace.job_changed)
    await workspace.begin(None, with_example=False)
    beat = Heartbeat()
    print(f"{'':<44} {'took':>9} {'beats':>7} {'p50 ms':>7} {'p99':>7} {'max':>7}")
    await measured(beat, "nothing", None, 5.0)
    small = table(root / "small.csv", 40)
    for number in range(JOBS):
        job = await draft(program, f"Watched {number}", small)
        await program.actions.send(job.id)
    await measured(beat, f"{JOBS} jobs watched", None, 15.0)
    large = table(root / "large.csv", ROWS)
    await measured(beat, f"… and {ROWS:,} rows load", _load(workspace, program, large), 5.0)
    job = await draft(program, "Exported", table(root / "exported.csv", EXPORTED))
    done = await _finished(root, job.name)
    await measured(beat, f"… and an export of {EXPORTED:,} vectors runs", done, 5.0)
    await workspace.close()
    await program.close()
    workspace.window.finish()


async def _load(workspace: Workspace, program: Program, path: Path) -> None:
    """Through the page of a draft, as a dropped file."""
    loaded = asyncio.Event()

    def look(job_id: str) -> None:
        if program.ledger.job(job_id).rows_in == ROWS:
            loaded.set()

    workspace._draft.changed.connect(look)
    workspace.window.files_dropped.emit([path])
    await loaded.wait()


async def _finished(root: Path, name: str) -> Awaitable[object]:
    """A finished job of another data folder, and the writing of its vectors, still to be begun."""
    other = await Program.open(root / "other", environ={}, practice_times=(0.0, 0.0))
    job = await draft(other, name, root / "exported.csv")
    await other.actions.send(job.id)
    job = await other.runner.wait(job.id)
    folder, facts = other.folder(job.id), facts_of(job, "Practice service")
    await other.close()
    return asyncio.to_thread(export, folder, facts, root / "vectors.csv")


def main() -> None:
    """Print how late the beats were."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication.instance() or QApplication(["cfbatch"])
    assert isinstance(app, QApplication)
    theme = Theme(Scheme.LIGHT)
    theme.apply(app)
    with tempfile.TemporaryDirectory() as name:
        loop.run(app, lambda: main_in_loop(Path(name), theme))


if __name__ == "__main__":
    main()
