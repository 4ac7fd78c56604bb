"""The main way through a draft, as a user goes it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit

from cfbatch_gui.core.inputs.input_values import Kind, Layout, Role
from cfbatch_gui.core.jobs.states import JobState
from tests.ui.inputs.conftest import Desk

Until = Callable[..., Awaitable[None]]


async def test_the_example_is_read_counted_and_sent(desk: Desk, until: Until) -> None:
    job = desk.new_draft()
    assert desk.why_not() == "Bring your data first: open a file, drop it here, or paste."
    desk.click(desk.page.data.drop.example_link)
    await until(desk.is_ready)
    assert desk.page.data.first.name.whole_text() == "help-centre-ranking.csv"
    assert desk.page.data.first.facts.text() == "82 rows · 4 columns"
    assert desk.sentence() == (
        "Each row is a query with one context; rows with the same query are ranked together: "
        "12 queries, about 7 contexts each."
    )
    assert desk.figures()[:3] == [("12", "queries"), ("82", "contexts"), ("1", "batch · 10 kB")]
    assert desk.figures()[4] == ("$0", "Practice: costs nothing")
    assert desk.page.check.send_button.text() == "Send 1 batch"
    assert desk.why_not() == "Practice takes a few seconds."
    desk.click(desk.page.check.send_button)
    await until(lambda: desk.sent == [job.id])
    done = await desk.program.runner.wait(job.id)
    assert done.state is JobState.DONE


async def test_the_example_for_vectors(desk: Desk, until: Until) -> None:
    desk.new_draft()
    desk.click(desk.page.what.embed)
    assert desk.page.what.embed.is_chosen()
    await until(lambda: desk.job.kind is Kind.EMBED)
    desk.click(desk.page.data.drop.example_link)
    await until(desk.is_ready)
    assert desk.figures()[:2] == [("60", "texts"), ("1", "request")]
    assert desk.sentence() == "Each row is one text: 60 texts."


async def test_a_fresh_draft_takes_the_kind_from_its_file_and_its_name_too(desk: Desk, until: Until) -> None:
    desk.new_draft("New job")
    desk.page.open_path(Path("resources/examples/product-texts.csv").resolve())
    await until(desk.is_ready)
    assert desk.page.what.embed.is_chosen() and not desk.page.what.rank.is_chosen()
    assert desk.job.kind is Kind.EMBED
    await until(lambda: desk.page.header.title() == "Product texts")
    assert desk.job.id in desk.changed


async def test_another_file_gives_its_name_unless_the_user_gave_one(desk: Desk, questions: Path, until: Until) -> None:
    examples = Path("resources/examples").resolve()
    desk.new_draft("New job")
    desk.page.open_path(examples / "product-texts.csv")
    await until(lambda: desk.is_ready() and desk.job.name == "Product texts")
    desk.page.open_path(questions)
    await until(lambda: desk.is_settled() and desk.job.name == "Questions")
    desk.page.header.renamed.emit("Mine")
    await until(lambda: desk.job.name == "Mine")
    desk.page.open_path(examples / "product-texts.csv")
    await until(lambda: desk.is_settled() and desk.job.texts == 60)
    assert desk.job.name == "Mine"


async def test_a_kind_that_was_chosen_stays_when_a_file_comes(desk: Desk, until: Until) -> None:
    desk.new_draft("Mine")
    desk.click(desk.page.what.rank)
    desk.page.open_path(Path("resources/examples/product-texts.csv").resolve())
    await until(desk.is_settled)
    assert desk.page.what.rank.is_chosen() and desk.job.name == "Mine"
    desk.click(desk.page.what.embed)
    await until(desk.is_ready)
    assert desk.job.kind is Kind.EMBED and desk.job.texts == 60


async def test_another_file_is_taken_for_what_it_is_unless_a_kind_was_chosen(
    desk: Desk, questions: Path, until: Until
) -> None:
    texts = Path("resources/examples/product-texts.csv").resolve()
    desk.new_draft("New job")
    desk.page.open_path(questions)
    await until(lambda: desk.is_ready() and desk.job.kind is Kind.RANK)
    desk.page.open_path(texts)
    await until(lambda: desk.is_ready() and desk.job.kind is Kind.EMBED)
    assert desk.page.what.embed.is_chosen() and desk.job.texts == 60
    desk.click(desk.page.what.rank)
    await until(lambda: desk.is_settled() and not desk.is_ready())
    desk.page.open_path(questions)
    await until(desk.is_ready)
    desk.page.open_path(texts)
    await until(lambda: desk.is_settled() and desk.page.data.first.name.whole_text() == "product-texts.csv")
    assert desk.page.what.rank.is_chosen() and not desk.is_ready()


async def test_another_role_changes_the_sentence_and_the_figures(desk: Desk, questions: Path, until: Until) -> None:
    desk.new_draft()
    desk.page.open_path(questions)
    await until(desk.is_ready)
    desk.choose_role(2, Role.CONTEXT)
    assert "contexts in 2 columns" in desk.sentence()
    await until(desk.is_ready)
    assert desk.sentence() == "Each row is a query with its contexts in 2 columns: 2 queries, about 4 contexts each."
    assert desk.figures()[1] == ("9", "contexts")
    assert desk.page.data.first.table.role_of(2) is Role.CONTEXT


async def test_without_a_query_the_button_says_what_is_missing(desk: Desk, questions: Path, until: Until) -> None:
    desk.new_draft()
    desk.page.open_path(questions)
    await until(desk.is_ready)
    desk.choose_role(0, Role.KEEP)
    assert not desk.page.check.send_button.isEnabled()
    assert desk.why_not() == desk.sentence() == "Choose the column that holds the query."
    assert desk.page.check.send_button.toolTip() == desk.why_not()
    assert desk.figures()[0] == ("–", "queries")
    desk.choose_role(0, Role.QUERY)
    await until(desk.is_ready)
    assert desk.figures()[0] == ("2", "queries")


async def test_the_last_wish_wins_however_fast_they_come(desk: Desk, tmp_path: Path, until: Until) -> None:
    large, small = tmp_path / "large.csv", tmp_path / "small.csv"
    large.write_text("id,text\n" + "".join(f"{n},a text with the number {n}\n" for n in range(30_000)))
    small.write_text("id,text\n1,one\n2,two\n")
    desk.new_draft()
    desk.page.open_path(large)
    await until(lambda: desk.state.file is not None)
    for role in (Role.KEEP, Role.LABEL, Role.IGNORE):
        desk.choose_role(0, role)
        await asyncio.sleep(0)
    desk.page.open_path(small)
    await until(desk.is_ready, timeout=20)
    assert desk.job.source_name == "small.csv"
    assert desk.figures()[0] == ("2", "texts")
    assert desk.page.data.first.facts.text() == "2 rows · 2 columns"


async def test_the_first_five_are_sent_as_a_job_of_their_own(desk: Desk, until: Until) -> None:
    job = desk.new_draft("Help")
    desk.page.use_example()
    await until(desk.is_ready)
    desk.click(desk.page.check.try_button)
    await until(lambda: len(desk.sent) == 1)
    copy = desk.program.ledger.job(desk.sent[0])
    assert copy.id != job.id and copy.queries == 5 and copy.name == "Help, first 5"
    assert not desk.program.ledger.job(job.id).is_sent
    assert (await desk.program.runner.wait(copy.id)).state is JobState.DONE


async def test_two_dropped_files_are_queries_and_contexts_for_all(desk: Desk, tmp_path: Path, until: Until) -> None:
    queries, contexts = tmp_path / "queries.csv", tmp_path / "answers.csv"
    queries.write_text("id,question\n1,how do I pay\n2,where is my parcel\n")
    contexts.write_text("sku,answer\nA,By card\nB,On its way\nC,Ask the shop\n")
    desk.new_draft()
    drop(desk, [queries, contexts])
    await until(lambda: desk.state.second is not None)
    await until(desk.is_ready)
    assert desk.figures()[:2] == [("2", "queries"), ("6", "contexts")]
    assert desk.page.data.second.isVisible()
    desk.click(desk.page.data.second.remove)
    await until(lambda: not desk.page.data.second.isVisible())
    assert desk.state.mapping is not None and desk.state.mapping.layout is Layout.LONG
    assert not desk.is_ready()


async def test_cells_from_a_spreadsheet_are_pasted(desk: Desk, until: Until) -> None:
    desk.new_draft()
    QGuiApplication.clipboard().setText('question\tanswer\nwhy\t"two\nlines"\nhow\tlike this\n')
    desk.click(desk.page.data.drop.paste_button)
    await until(desk.is_ready)
    assert desk.page.data.first.name.whole_text() == "pasted.tsv"
    assert desk.figures()[:2] == [("2", "queries"), ("2", "contexts")]
    assert Path(desk.job.source_path).parent == desk.program.folder(desk.job.id).path


async def test_an_empty_clipboard_is_said(desk: Desk, until: Until) -> None:
    desk.new_draft()
    QGuiApplication.clipboard().clear()
    desk.click(desk.page.data.drop.paste_button)
    await until(lambda: desk.notices.texts() == ["There is no text on the clipboard. Copy cells or lines first."])


async def test_rename_duplicate_delete_and_undo(desk: Desk, questions: Path, until: Until) -> None:
    job = desk.new_draft("Before")
    desk.page.open_path(questions)
    await until(desk.is_ready)
    desk.page.header.rename()
    field = desk.page.header.findChild(QLineEdit)
    assert field is not None
    field.setText("After")
    desk.qtbot.keyClick(field, Qt.Key.Key_Return)
    await until(lambda: desk.job.name == "After")
    desk.page.duplicate()
    await until(lambda: len(desk.copies) == 1)
    assert desk.program.ledger.job(desk.copies[0]).texts == desk.job.texts
    assert desk.program.ledger.job(desk.copies[0]).name == "After, copy", "as in the list of jobs"
    desk.page.delete()
    await until(lambda: desk.deleted == [job.id])
    assert job.id not in [each.id for each in desk.program.ledger.jobs()]
    assert desk.notices.texts()[-1] == "“After” was deleted."
    desk.click(desk.notices.bars()[-1].links()[0])
    await until(lambda: job.id in [each.id for each in desk.program.ledger.jobs()])


async def test_control_return_sends(desk: Desk, questions: Path, until: Until) -> None:
    job = desk.new_draft()
    desk.page.open_path(questions)
    await until(desk.is_ready)
    desk.window.activateWindow()
    desk.page.what.rank.setFocus()
    desk.qtbot.keyClick(desk.page.what.rank, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: desk.sent == [job.id])


def drop(desk: Desk, paths: list[Path]) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(desk.page, QDragEnterEvent(QPoint(300, 300), copy, mime, left, none))
    QApplication.sendEvent(desk.page, QDropEvent(QPointF(300, 300), copy, mime, left, none))
