"""The first page: tiles by mouse and by keyboard, examples on this computer, and what files that are opened suggest."""

import asyncio
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from cfbatch_gui.core.inputs.input_values import Kind, Layout, Role
from cfbatch_gui.core.jobs.states import Job, JobState, Purpose
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.results.matches import MatchState, read_matches
from cfbatch_gui.ui.inputs.draft_state import DraftState
from cfbatch_gui.ui.window.start_page import Tile
from cfbatch_gui.words.purposes import purpose_words
from tests.screen.past import run
from tests.screen.stage import Stage

CTRL = Qt.KeyboardModifier.ControlModifier
MATCHED = (MatchState.MATCHED, MatchState.SAME)


def opened(stage: Stage) -> tuple[Job, DraftState]:
    """The draft that is open."""
    page = stage.workspace.draft_page
    return page.drafts.job(), page.drafts.shown


async def until_read(stage: Stage, purpose: Purpose) -> tuple[Job, DraftState]:
    def is_read() -> bool:
        if not stage.workspace.window.library.opened_job():
            return False
        job, state = opened(stage)
        return job.purpose is purpose and state.preflight is not None and not state.unsaved

    await stage.person.until(is_read)
    return opened(stage)


async def focused(stage: Stage, wanted: QWidget) -> None:
    await stage.person.until(lambda: QApplication.focusWidget() is wanted)


async def test_a_tile_begins_a_job_by_mouse_and_its_link_is_the_second_stop_of_the_keyboard(stage: Stage) -> None:
    person, page = stage.person, stage.workspace.start_page
    await person.click(purpose_words(Purpose.SEARCH).title)
    await person.until(lambda: stage.workspace.is_shown("draft_page"))
    job, state = opened(stage)
    assert (job.purpose, state.kind, state.has_data) == (Purpose.SEARCH, Kind.EMBED, False)
    for key, purpose in ((Qt.Key.Key_Return, Purpose.MATCH), (Qt.Key.Key_Space, Purpose.RANK)):
        await person.press(Qt.Key.Key_N, CTRL)
        await focused(stage, page)  # nothing is chosen beforehand
        for tile in page.tiles.values():
            await person.press(Qt.Key.Key_Tab)
            await focused(stage, tile)
            if tile is page.tiles[purpose]:
                break
            await person.press(Qt.Key.Key_Tab)
            await focused(stage, tile.example)
        await person.press(key)
        await person.until(lambda: stage.workspace.is_shown("draft_page"))
        assert [each.purpose for each in stage.program.ledger.jobs()] == [purpose]  # the empty draft is used again


async def test_each_purpose_has_an_example_of_its_own_that_stays_on_this_computer(stage: Stage) -> None:
    stage.program.change_settings(connection="cloudflare")
    files = {Purpose.RANK: 1, Purpose.MATCH: 2, Purpose.CATEGORIES: 2}
    for purpose, tile in stage.workspace.start_page.tiles.items():
        stage.workspace.show_start()
        await stage.person.click(tile.example.accessibleName())
        job, state = await until_read(stage, purpose)
        assert job.connection == "practice" and job.texts and not job.problems
        assert len(state.files) == files.get(purpose, 1)
    assert len(stage.program.ledger.jobs()) == len(Purpose)


async def test_the_two_lists_of_the_example_have_matches_doubts_and_rows_of_their_own(stage: Stage) -> None:
    await stage.person.click(stage.workspace.start_page.tiles[Purpose.MATCH].example.accessibleName())
    job, state = await until_read(stage, Purpose.MATCH)
    assert state.mapping is not None and state.mapping.layout is Layout.LISTS
    assert state.mapping.roles.count(Role.TEXT) == 2  # two sizes of one thing are two rows
    await stage.program.actions.send(job.id)
    done = await stage.program.runner.wait(job.id)
    assert done.state is JobState.DONE
    matches = await asyncio.to_thread(read_matches, stage.program.folder(job.id), done)
    counts = matches.counts()
    assert len(matches.items_a) == 40 and counts[MatchState.SAME] == 5
    assert all(counts[state] for state in (MatchState.MATCHED, MatchState.CHECK, MatchState.WITHOUT))


def table(folder: Path, name: str, header: str, rows: int) -> str:
    path = folder / f"{name}.csv"
    path.write_text(f"id,{header}\n" + "".join(f"{row},the {header} {row} of {name}\n" for row in range(1, rows + 1)))
    return str(path)


async def test_two_files_suggest_what_they_are_for_whichever_comes_first(stage: Stage, tmp_path: Path) -> None:
    topics, letters = table(tmp_path, "topics", "about", 5), table(tmp_path, "letters", "letter", 40)
    answers, questions = table(tmp_path, "answers", "answer", 6), table(tmp_path, "questions", "question", 3)
    products = table(tmp_path, "products", "name", 30)
    for names, purpose, first in (
        ((topics, letters), Purpose.CATEGORIES, "letters.csv"),
        ((answers, questions), Purpose.RANK, "questions.csv"),
        ((letters, products), Purpose.MATCH, "letters.csv"),
    ):
        stage.workspace.show_start()
        if purpose is Purpose.MATCH:
            await stage.person.click("Open…")
            await stage.person.name_file(" ".join(f'"{name}"' for name in names))
        else:
            stage.workspace.new_jobs.open_each(names)  # as the command line and the desktop do
        job, state = await until_read(stage, purpose)
        assert state.files[0].path.name == first == job.source_name
    assert len(stage.program.ledger.jobs()) == 3
    stage.workspace.new_jobs.open_each((letters, answers))  # while a job is open, each is a job
    await stage.person.until(lambda: len(stage.program.ledger.jobs()) == 5)


async def test_a_file_of_a_tile_keeps_what_the_tile_said(stage: Stage) -> None:
    await stage.person.click(purpose_words(Purpose.GROUPS).title)
    await stage.person.until(lambda: stage.workspace.is_shown("draft_page"))
    stage.workspace.draft_page.drafts.open_paths([resource("examples/wide-questions.csv")])
    job, state = await until_read(stage, Purpose.GROUPS)
    assert job.kind is Kind.EMBED and state.mapping is not None and state.mapping.kind is Kind.EMBED


async def test_tiles_stand_in_two_columns_where_there_is_no_room_for_three(stage: Stage) -> None:
    window, page = stage.workspace.window, stage.workspace.start_page

    def has_columns(count: int) -> bool:
        return len({tile.x() for tile in page.findChildren(Tile)}) == count

    for width, count in ((1366, 3), (920, 2)):
        window.resize(width, 768)
        await stage.person.until(partial(has_columns, count))
        assert page.open_button.isVisible() and page.connect_link.isVisible()
        assert not page._area.horizontalScrollBar().isVisible()


async def test_a_finished_job_of_texts_is_searched_from_the_first_page(stage: Stage, tmp_path: Path) -> None:
    page = stage.workspace.start_page
    stage.workspace.show_start()
    assert not page.search_field.isVisible()
    job = await run(stage.program, "letters", Path(table(tmp_path, "letters", "letter", 30)), Kind.EMBED)
    await run(stage.program, "others", Path(table(tmp_path, "others", "other", 5)), Kind.EMBED)
    stage.workspace.open_job(job.id)
    await stage.person.until(lambda: stage.workspace.is_shown("job_page"))
    stage.workspace.show_start()
    await stage.person.until(page.search_field.isVisible)
    page.searched_job.set_value(job.id)
    page.search_field.setText("the letter 7 of letters")
    page.search_field.setFocus()
    await stage.person.press(Qt.Key.Key_Return)
    view = stage.workspace.job_page.view("search")
    await stage.person.until(lambda: view.found.found.rowCount() == 20 and not view.tasks.running())
    assert stage.workspace.window.library.opened_job() == job.id and view.isVisible()
    assert view.found.found.row(0).text.text == "the letter 7 of letters"
