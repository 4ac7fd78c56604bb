"""Two lists of 5,000 rows in the window: their matches on the screen, and each step of the threshold.

What users were promised: 3 s from the vectors to the matches on the screen, 50 ms for a step.
"""

import asyncio
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.limits import Figures, seconds
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.vector_file import stored_vectors
from cfbatch_gui.core.jobs.states import Job, Purpose
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.matches_view import MatchesView

ROWS, STEPS = 5_000, 60
_THINGS = ("Stock pot", "Frying pan", "Tea kettle", "Kitchen scales", "Bread bin", "Garlic press", "Salad bowl")
_OF = ("steel", "enamel", "bamboo", "zinc", "cast iron", "glass", "beech wood", "white china")


def main(figures: Figures) -> None:
    from PySide6.QtWidgets import QApplication

    from cfbatch_gui.ui.theme import Scheme, Theme
    from cfbatch_gui.ui.window import loop

    app, theme = QApplication(["cfbatch"]), Theme(Scheme.LIGHT)
    theme.apply(app)

    async def run() -> None:
        with tempfile.TemporaryDirectory() as root:
            program = await Program.open(Path(root) / "data", environ={}, practice_times=(0.0, 0.0))
            try:
                await _measure(figures, program, await _job(program, Path(root)))
            finally:
                await program.close()

    loop.run(app, run)


async def _job(program: Program, root: Path) -> Job:
    sources = []
    for name, step in (("a", 7), ("b", 11)):
        rows = (f"{_THINGS[at * step % 7]} of {_OF[at % 8]}, {at * step % 977} cm" for at in range(ROWS))
        (root / f"{name}.csv").write_text("name\n" + "\n".join(f'"{row}"' for row in rows), encoding="utf-8")
        sources.append(open_source(root / f"{name}.csv"))
    first, second = sources
    job = program.drafts.create(Kind.EMBED, "Lists", "@cf/baai/bge-m3", "practice")
    program.drafts.change(job.id, options=replace(job.options, purpose=Purpose.MATCH))
    mapping = suggest_mapping(first, None, preview(first, 50), second, preview(second, 50))
    await asyncio.to_thread(program.drafts.load, job.id, first, mapping, second)
    await program.actions.send(job.id)
    return await program.runner.wait(job.id)


async def _measure(figures: Figures, program: Program, job: Job) -> None:
    view = MatchesView(program, Notices())
    view.resize(1_089, 700)
    view.show()
    start = time.perf_counter()
    view.show_job(job)
    while view.matches is None or view.tasks.running():  # noqa: ASYNC110 - no event says so
        await asyncio.sleep(0.005)
    view.grab()
    ours = time.perf_counter() - start
    vectors = np.asarray(stored_vectors(program.folder(job.id).vectors))
    plain = seconds(lambda: (vectors[:ROWS] @ vectors[ROWS:].T).argmax(axis=1))
    figures.versus("matches on the screen", ours, "the bare product; promised: 3 s", plain, limit=15.0)
    slider, steps, plain_steps = view.card.slider, [], []
    slider.setSliderDown(True)
    for value in range(slider.maximum() - STEPS, slider.maximum()):
        moved = seconds(lambda: slider.setValue(value))  # noqa: B023 - called at once
        painted = seconds(view.grab)
        steps.append(moved + painted)
        plain_steps.append(painted)
    ours, plain = (float(np.quantile(each, 0.9)) for each in (steps, plain_steps))
    figures.versus("a step of the threshold", ours, "the page painted; promised: 50 ms", plain, limit=4.0)
    await view.tasks.close()
