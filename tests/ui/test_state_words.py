"""A job's page and its line in the list say the same of its state, with the same icon, at every moment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from cfbatch_gui.core.inputs.input_values import Kind, Role
from cfbatch_gui.core.jobs.states import STOPPED_BY_USER, Batch, BatchState, Job, JobState
from cfbatch_gui.core.system.paths import resource
from cfbatch_gui.ui.inputs.draft_page import DraftPage
from cfbatch_gui.ui.jobs.job_page import JobPage
from cfbatch_gui.ui.theme import Theme
from tests.screen.past import run
from tests.screen.stage import Stage, opened

HELP_CENTRE = resource("examples/help-centre-ranking.csv")
NAME = "Help centre ranking"


@pytest.fixture
async def stage(tmp_path: Path, theme: Theme) -> AsyncIterator[Stage]:
    async with opened(tmp_path / "data", theme, practice_times=(0.05, 0.05)) as stage:
        yield stage


def on_page(stage: Stage) -> tuple[str, str]:
    page = stage.workspace.window.pages.currentWidget()
    if not isinstance(page, JobPage | DraftPage):
        return "", ""
    return page.header.state.text(), page.header.state._icon._name


def in_list(stage: Stage) -> tuple[str, str]:
    library = stage.workspace.window.library
    entry = library.rows.entries()[library.rows.line_of(library.opened_job())]
    assert isinstance(entry, Job)
    words = library.list.delegate.words(entry)
    return words.text.split(" · ")[0], words.icon


@asynccontextmanager
async def watched(stage: Stage) -> AsyncIterator[list[str]]:
    """Compare page and list whenever anything else has run; the states that were seen, in their order."""
    seen: list[str] = []
    over = asyncio.Event()

    async def watch() -> None:
        while not over.is_set():
            if stage.workspace.window.library.opened_job():
                assert on_page(stage) == in_list(stage)
                if (text := on_page(stage)[0]) not in seen[-1:]:
                    seen.append(text)
            await asyncio.sleep(0)

    task = asyncio.ensure_future(watch())
    try:
        yield seen
    finally:
        over.set()
        await task


async def test_a_draft_that_is_read_changed_and_sent(stage: Stage) -> None:
    person = stage.person
    async with watched(stage) as seen:
        await person.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        await person.until_sees("Your data")
        draft = stage.workspace.draft_page
        draft.acts.open_paths([HELP_CENTRE])
        await person.until(lambda: seen[-1:] == ["Ready to send"])
        mapping = draft.drafts.state(draft.job_id()).mapping
        assert mapping is not None
        query = mapping.roles.index(Role.QUERY)
        draft.drafts.choose_role(query, Role.KEEP)
        await person.until(lambda: seen[-1:] == ["Draft"])
        draft.drafts.choose_role(query, Role.QUERY)
        await person.until(lambda: seen[-1:] == ["Ready to send"])
        await person.click("Send 1 batch")
        await person.until(lambda: seen[-1:] == ["Finished"])
    assert seen[:6] == ["Draft", "Reading", "Ready to send", "Draft", "Reading", "Ready to send"]
    assert set(seen[6:-1]) <= {"Waiting to be sent", "Running"} and len(seen) > 7


async def test_a_draft_that_is_opened_again_and_one_that_was_never_opened(tmp_path: Path, theme: Theme) -> None:
    async with opened(tmp_path / "data", theme, file=HELP_CENTRE) as stage:
        await stage.person.until_sees("Ready to send")
    async with opened(tmp_path / "data", theme) as stage, watched(stage) as seen:
        await stage.person.until(lambda: seen[-2:] == ["Reading", "Ready to send"])


def _instead(after: Job, _before: Job) -> Job:
    return after


def _is_shown(stage: Stage, words: str) -> bool:
    return on_page(stage)[0] == words


async def test_a_job_in_every_state(stage: Stage) -> None:
    job = await run(stage.program, NAME, HELP_CENTRE, Kind.RANK)
    stage.workspace.open_job(job.id)
    batch = job.batches[0]

    def two(one: BatchState, other: BatchState = BatchState.DONE, **changes: object) -> tuple[Batch, ...]:
        fresh = replace(batch, failed_requests=0, error="", **changes)  # type: ignore[arg-type]  # names of its fields
        return replace(fresh, state=one), replace(fresh, number=2, state=other)

    planned = BatchState.PLANNED
    steps: list[tuple[tuple[Batch, ...], str, JobState, str]] = [
        (two(planned, planned), "", JobState.WAITING, "Waiting to be sent"),
        (two(BatchState.SENDING, planned), "", JobState.WORKING, "Running"),
        (two(BatchState.QUEUED, planned), STOPPED_BY_USER, JobState.PAUSED, "Paused"),
        (two(BatchState.RUNNING, BatchState.COLLECTING), "", JobState.WORKING, "Running"),
        (two(BatchState.COLLECTING), "", JobState.WORKING, "Running"),
        (two(BatchState.FAILED, BatchState.RUNNING), "", JobState.WORKING, "Running"),
        (two(BatchState.OUTCOME_UNKNOWN, BatchState.RUNNING), "", JobState.OUTCOME_UNKNOWN, "Outcome unknown"),
        (two(BatchState.OUTCOME_UNKNOWN), "The token was refused.", JobState.OUTCOME_UNKNOWN, "Outcome unknown"),
        (two(BatchState.DISMISSED), "", JobState.PARTLY_DONE, "Finished in part"),
        (two(BatchState.FAILED, BatchState.GONE), "", JobState.FAILED, "Failed"),
        (two(BatchState.FAILED), STOPPED_BY_USER, JobState.PARTLY_DONE, "Finished in part"),
        (two(planned, at_once=True), "", JobState.WORKING, "Running"),
        (two(BatchState.SENDING, at_once=True), "", JobState.WORKING, "Running"),
        (two(BatchState.DONE), "", JobState.DONE, "Finished"),
    ]
    async with watched(stage):
        for batches, paused, state, words in steps:
            changed = replace(job, batches=batches, paused_because=paused)
            await stage.program.store.change(job.id, partial(_instead, changed))
            await stage.person.until(partial(_is_shown, stage, words))
            assert stage.job(NAME).state is state
    assert {step[2] for step in steps} == set(JobState) - {JobState.DRAFT}
