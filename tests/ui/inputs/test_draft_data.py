"""Files that are unusual, and what the page makes of them."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit

from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.job_folder.filling import problems
from cfbatch_gui.core.program import Program
from tests.ui.inputs.conftest import Desk

Until = Callable[..., Awaitable[None]]
GERMAN = "frage;antwort\nWie ändere ich das?;Über „Konto“ für 5 €\nWo ist das Maß?;Im Zubehör\n"


def cell(desk: Desk, row: int, column: int) -> str:
    model = desk.page.data.first.table.model()
    return str(model.index(row, column).data())


async def test_an_unknown_encoding_is_asked_inside_the_page(desk: Desk, tmp_path: Path, until: Until) -> None:
    path = tmp_path / "fragen.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    desk.new_draft()
    desk.page.open_path(path)
    chooser = desk.page.data.encoding
    await until(chooser.isVisible)
    assert chooser.codec() == "cp1252"
    assert desk.why_not() == "Choose the encoding of fragen.csv first."
    await until(lambda: chooser.preview.model() is not None)
    assert chooser.preview.model().index(0, 1).data() == "Über „Konto“ für 5 €"
    chooser.choose("cp1251")
    await until(lambda: str(chooser.preview.model().index(0, 1).data()).startswith("Ьber"))
    assert chooser.use_button.text() == "Use Windows-1251"
    chooser.choose("cp1252")
    desk.click(chooser.use_button)
    await until(desk.is_ready)
    assert not chooser.isVisible() and cell(desk, 1, 0) == "Wo ist das Maß?"
    assert desk.page.data.first.encoding.text() == "Windows-1252"
    assert desk.figures()[:2] == [("2", "queries"), ("2", "contexts")]


async def test_a_question_that_is_not_answered_leaves_what_was_there(
    desk: Desk, questions: Path, tmp_path: Path, until: Until
) -> None:
    desk.new_draft()
    desk.page.open_path(questions)
    await until(desk.is_ready)
    path = tmp_path / "fragen.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    desk.page.open_path(path)
    await until(desk.page.data.encoding.isVisible)
    assert not desk.is_ready()
    desk.click(desk.page.data.encoding.cancel_button)
    await until(desk.is_ready)
    assert desk.page.data.first.name.whole_text() == "questions.csv"


async def test_a_file_that_cannot_be_read_is_said_once_and_the_old_data_stays(
    desk: Desk, questions: Path, tmp_path: Path, until: Until
) -> None:
    desk.new_draft()
    desk.page.open_path(questions)
    await until(desk.is_ready)
    before = desk.figures()
    picture = tmp_path / "picture.csv"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    desk.page.open_path(picture)
    await until(lambda: len(desk.notices.texts()) == 1)
    assert desk.notices.texts()[0].startswith("picture.csv is a picture.")
    await until(desk.is_ready)
    assert desk.figures() == before and desk.page.data.first.name.whole_text() == "questions.csv"
    assert desk.notices.bars()[0].links()[0].text() == "Choose another file"


async def test_rows_that_are_left_out_are_shown_and_saved(
    desk: Desk, questions: Path, tmp_path: Path, until: Until
) -> None:
    desk.new_draft()
    desk.page.open_path(questions)
    await until(desk.is_ready)
    bars = desk.page.check.bars()
    assert sorted(bar.text() for bar in bars) == [
        "1 row has no context and will be left out.",
        "1 row has no query and will be left out.",
    ]
    bar = next(bar for bar in bars if "no context" in bar.text())
    show, save = bar.links()
    desk.click(show)
    view = desk.page.check.problems
    await until(view.isVisible)
    assert [(row.row, row.cells[2]) for row in view.shown_rows()] == [(4, "A-3")]
    desk.click(show)
    assert not view.isVisible()
    desk.click(save)
    await until(lambda: desk.page.findChildren(QFileDialog) != [])
    dialog = desk.page.findChildren(QFileDialog)[0]
    target = tmp_path / "left out.csv"
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    assert field is not None
    field.setText(str(target))
    dialog.accept()
    await until(lambda: desk.notices.texts() == ["Wrote 1 row to left out.csv."])
    assert target.read_text("utf-8-sig").splitlines() == [
        "row;reason;question;answer;sku;relevance",
        "4;There is no text in “answer”.;how do I reset my password;;A-3;0",
    ]


async def test_separator_and_header_answer_at_once(desk: Desk, tmp_path: Path, until: Until) -> None:
    path = tmp_path / "list.txt"
    path.write_text("id|text\n1|a, b\n2|c, d\n")
    desk.new_draft()
    desk.page.open_path(path)
    await until(desk.is_ready)
    part = desk.page.data.first
    assert part.separator.text() == "one text a line" and part.facts.text() == "3 rows · 1 column"
    desk.click(part.separator)
    desk.pick(lambda action: action.text().startswith("Bar"))
    await until(lambda: part.facts.text() == "2 rows · 2 columns")
    assert part.separator.text() == "separated by |" and part.header.text() == "first row is a header"
    await until(desk.is_ready)
    desk.click(part.header)
    desk.pick(lambda action: action.text() == "There is no header row")
    await until(lambda: part.facts.text() == "3 rows · 2 columns")
    assert part.header.text() == "no header row" and cell(desk, 0, 1) == "text"


async def test_a_workbook_has_sheets_to_choose_from(desk: Desk, tmp_path: Path, until: Until) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["id", "text"])
    book.active.append(["1", "one"])
    other = book.create_sheet("Q & A")
    other.append(["question", "answer"])
    other.append(["why", "because"])
    book.save(tmp_path / "book.xlsx")
    desk.new_draft()
    desk.page.open_path(tmp_path / "book.xlsx")
    await until(desk.is_ready)
    part = desk.page.data.first
    assert not part.encoding.isVisible() and not part.separator.isVisible() and part.sheet.isVisible()
    desk.click(part.sheet)
    desk.pick(lambda action: "Q && A" in action.text())
    await until(lambda: cell(desk, 0, 0) == "why")
    assert part.sheet.text() == "sheet “Q && A”"


async def test_a_text_that_is_too_long_is_cut_or_left_out(desk: Desk, tmp_path: Path, until: Until) -> None:
    path = tmp_path / "long.csv"
    path.write_text(f"id,text\n1,short\n2,{'word ' * 12_000}\n")
    desk.new_draft()
    desk.page.open_path(path)
    await until(desk.is_ready)
    (bar,) = desk.page.check.bars()
    assert bar.text().startswith("1 text may be longer than the model reads (8,192 tokens).")
    show, _, leave_out = bar.links()
    desk.click(show)
    view = desk.page.check.problems
    await until(view.isVisible)
    assert [(row.row, row.reason) for row in view.shown_rows()] == [
        (3, "15,000 to 20,000 tokens; the model reads 8,192.")
    ]
    desk.click(leave_out)
    await until(lambda: desk.is_ready() and desk.figures()[0] == ("1", "text"))
    (bar,) = desk.page.check.bars()
    assert bar.text() == "1 text is too long for the model and will be left out."
    assert not view.isVisible()
    desk.click(bar.links()[1])
    await until(lambda: desk.is_ready() and desk.figures()[0] == ("2", "texts"))
    assert desk.job.options.truncate_inputs
    desk.click(desk.page.check.bars()[0].links()[1])
    await until(lambda: desk.is_ready() and desk.figures()[0] == ("4", "texts"))
    assert desk.page.check.bars() == []
    assert desk.page.data.split.isVisible() and desk.page.data.split.tokens.value() == 7_680


async def test_a_draft_is_found_again_and_can_be_sent_without_its_file(
    program: Program, desk: Desk, questions: Path, until: Until, qtbot: object
) -> None:
    desk.new_draft()
    desk.page.open_path(questions)
    await until(desk.is_ready)
    desk.choose_role(3, Role.KEEP)
    await until(desk.is_ready)
    job, figures = desk.job, desk.figures()
    rows = problems(program.folder(job.id))
    desk.page.drafts.forget(job.id)  # as after a new start
    desk.page.show_job(job)
    assert not desk.is_ready()
    await until(desk.is_ready)
    assert desk.figures() == figures and desk.page.data.first.table.role_of(3) is Role.KEEP
    questions.unlink()
    desk.page.drafts.forget(job.id)
    desk.page.show_job(job)
    await until(desk.is_ready)
    assert "questions.csv" in desk.page.data.missing.text()
    assert desk.page.data.missing.text().endswith("What was read from it before can still be sent.")
    assert desk.figures() == figures and problems(program.folder(job.id)) == rows
    desk.click(desk.page.check.send_button)
    await until(lambda: desk.sent == [job.id])


async def test_a_file_that_has_changed_is_read_again(desk: Desk, questions: Path, until: Until) -> None:
    desk.new_draft()
    desk.page.open_path(questions)
    await until(desk.is_ready)
    job = desk.job
    with questions.open("a") as file:
        file.write("a new query;a new answer;A-9;1\n")
    desk.page.drafts.forget(job.id)
    desk.page.show_job(job)
    await until(desk.is_ready)
    assert desk.figures()[0] == ("3", "queries")


async def test_drafts_are_kept_apart(desk: Desk, questions: Path, until: Until) -> None:
    first = desk.new_draft("First")
    desk.page.open_path(questions)
    await until(desk.is_ready)
    desk.new_draft("Second")
    assert desk.page.data.drop.isVisible() and not desk.is_ready()
    desk.page.show_job(first)
    assert desk.is_ready() and desk.page.header.title() == "First"


async def test_columns_fill_the_preview_although_the_mouse_was_dropped_on_it(
    desk: Desk, questions: Path, until: Until
) -> None:
    desk.new_draft()
    table = desk.page.data.first.table
    table.roles.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    desk.page.open_path(questions)
    await until(desk.is_ready)
    assert sum(map(table.roles.sectionSize, range(4))) == table.viewport().width()


async def test_data_is_shown_as_it_stands(desk: Desk, questions: Path, until: Until) -> None:
    desk.new_draft()
    desk.page.open_path(questions)
    await until(desk.is_ready)
    assert cell(desk, 4, 1) == "<b>Follow</b> the link & look"


async def test_roles_are_chosen_by_the_keyboard(desk: Desk, questions: Path, until: Until) -> None:
    desk.new_draft()
    desk.page.open_path(questions)
    await until(desk.is_ready)
    header = desk.page.data.first.table.roles
    header.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(3):
        desk.qtbot.keyClick(header, Qt.Key.Key_Right)
    assert header.accessibleDescription() == "Column relevance: Label"
    desk.qtbot.keyClick(header, Qt.Key.Key_Space)
    desk.pick(lambda action: action.data() == Role.IGNORE)
    await until(desk.is_ready)
    assert desk.page.data.first.table.role_of(3) is Role.IGNORE
