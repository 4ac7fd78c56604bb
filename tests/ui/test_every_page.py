"""Every page and dialog: no word is cut, covered or out of sight where it is hardest, and none cannot be translated.

The language that nobody speaks shows what is still English. What a widget says besides words of the program's own is
data: names of jobs and files, texts, addresses. Its words are known from the files of the walk; all others have to
stand between the brackets of the language. `make sheets` goes through all combinations of look and size.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabBar,
    QTableView,
    QTextEdit,
    QWidget,
)

from cfbatch_gui.core.resources import resource
from cfbatch_gui.ui.theme import Theme
from cfbatch_gui.words.languages import languages
from tests.screen.fits import faults, reaches
from tests.screen.look import Language, Look, put_on
from tests.screen.pseudo_language import BEGIN, END
from tests.screen.shown import stray_windows
from tests.screen.stage import Stage
from tests.screen.tour import Past, Tour, settled
from tests.support.faulty_service import ThreadedService

HARDEST = ((Look(Language.GERMAN), (800, 500)), (Look(Language.PSEUDO, doubled=True), (1024, 640)))

_WORD = re.compile(r"[^\W\d_]{2,}")
# Tags, addresses, paths, request ids and hashes, the keys behind an entry of a menu, and a word that was cut short.
_NO_WORDS = re.compile(
    r"<[^<>]*>|https?://\S+|/\S*/\S*|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-\w{12}\b|\b[0-9a-f]{32,}\b|\t.*|\w*…"
)
_OF_THE_WALK = ("notices", "ask-text")  # stops with sentences that the walk itself says
_NAMES = """
CF Batch Cloudflare Workers AI Worker Gateway Python Qt PySide curl Excel CSV TSV JSON Lines Parquet NumPy npy npz
TREC BEIR qrels SQLite llm OpenAI Vectorize Atlas Embedding Projector nDCG RR AP MAP RBO bpref Success Recall Judged
exp UTF BGE bge small base large en Qwen qwen embeddinggemma gemma plamo pplx baai cf api com client https http
developers dash index metadata xlsx txt kB MB GB min example dev GET PUT POST DELETE
"""


def _own_names(past: Past) -> set[str]:
    """Words of data, and names that are the same in every language."""
    files = [*past.files.iterdir(), *resource("examples").iterdir()]
    texts = [_NAMES, *(path.read_text(encoding="utf-8", errors="replace") for path in files)]
    texts += [path.name for path in files] + [str(past.root), str(Path.home())]
    texts += [language.name for language in languages()]
    return {word.casefold() for text in texts for word in _WORD.findall(text)}


def _english(text: str, names: set[str]) -> list[str]:
    """The words outside of the brackets that are no data."""
    depth, outside = 0, []
    for sign in _NO_WORDS.sub(" ", text):
        depth += (sign == BEGIN) - (sign == END)
        outside.append(sign if depth == 0 and sign not in (BEGIN, END) else " ")
    return [word for word in _WORD.findall("".join(outside)) if word.casefold() not in names]


def _said(widget: QWidget) -> Iterator[str]:
    """All that a widget says to eyes and ears, but for the content of tables and editors."""
    yield widget.toolTip()
    yield widget.accessibleName()
    yield widget.accessibleDescription()
    if widget.isWindow():
        yield widget.windowTitle()
    match widget:
        case QLabel() | QAbstractButton() | QAbstractSpinBox():
            yield widget.text()
        case QGroupBox():
            yield widget.title()
        case QLineEdit() | QPlainTextEdit() | QTextEdit():
            yield widget.placeholderText()
        case QComboBox():
            yield from (widget.itemText(index) for index in range(widget.count()))
        case QTabBar():
            yield from (widget.tabText(index) for index in range(widget.count()))
        case QMenu():
            yield from (action.text() for action in widget.actions())
        case QTableView():
            rows = widget.model()
            for column in range(rows.columnCount()):
                for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                    yield str(rows.headerData(column, Qt.Orientation.Horizontal, role) or "")


@pytest.mark.parametrize(("look", "size"), HARDEST, ids=str)
async def test_all_words_have_their_room_and_can_be_translated(
    tmp_path: Path, qapp: QApplication, theme: Theme, look: Look, size: tuple[int, int]
) -> None:
    found: dict[str, str] = {}
    stops = set()

    def translated(stage: Stage, name: str, window: QWidget) -> None:
        jobs = [f"{job.id} {job.name}" for job in stage.program.ledger.jobs()]
        own = names | {word.casefold() for words in jobs for word in _WORD.findall(words)}
        for widget in (window, *window.findChildren(QWidget)):
            if widget.isVisible() and widget.window() is window:
                for text in _said(widget):
                    if english := _english(text, own):
                        found.setdefault(f"{type(widget).__name__}: {text[:160]}", f"{name}: {' '.join(english[:6])}")

    async def visit(stage: Stage, name: str, window: QWidget) -> None:
        stops.add(name)
        main = stage.workspace.window
        if isinstance(window, QDialog):
            window.resize(window.size().boundedTo(main.size()))
            await settled(stage)
        for fault in faults(window, may_scroll_sideways=look.may_scroll_sideways(size[0])):
            found.setdefault(fault, name)
        if look.language is Language.PSEUDO and name not in _OF_THE_WALK:
            translated(stage, name, window)
        assert main.size().toTuple() == size
        assert reaches(main.library.foot, main)
        if not isinstance(window, QDialog | QMenu):
            for button in (stage.workspace.draft_page.check.send_button, stage.workspace.job_page.export_button):
                assert not button.isVisible() or reaches(button, main), name

    with ThreadedService(tmp_path / "service").opened() as service:
        past = Past(tmp_path / "past", service)
        await past.make()
        names = _own_names(past)
        with put_on(look, qapp, theme), stray_windows(qapp) as stray:
            async with past.opened(theme) as stage:
                stage.workspace.window.resize(*size)
                await Tour(stage, past, visit).go()
    assert not found, "\n".join(f"{what} ({where})" for what, where in found.items())
    assert len(stops) >= 55
    assert not stray
