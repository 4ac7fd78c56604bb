"""How a job begins: on the page of a first start, from files that are named, dropped or pasted, or empty."""

import asyncio
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from cfbatch_gui.core.errors import InputError, UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Button,
    Card,
    Flow,
    IconLabel,
    Label,
    LinkButton,
    PrimaryButton,
    Roomy,
    boxed,
    column,
    row,
)
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr

if TYPE_CHECKING:
    from cfbatch_gui.ui.window.workspace import Workspace

MOST_AT_ONCE = 20  # files; more are hardly meant to be a job each


class NewJobs:
    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace
        self._program, self._window, self._tasks = workspace.program, workspace.window, workspace.tasks
        self._waiting: deque[str] = deque()

    def start(self, *files: Path) -> None:
        """A new job with these files; two are queries and contexts."""
        self._tasks.start("new job", self.begin(*files))

    def open_each(self, files: Sequence[str]) -> None:
        """A new job for each file or folder; one that cannot be opened is said in a notice."""
        if len(files) > MOST_AT_ONCE:
            pattern = tr(
                "{n} files are too many to open at once, with a job for each; at most {most} are. Choose fewer, or open"
                " the folder that they are in as one job."
            )
            text = pattern.format(n=figures.number(len(files)), most=MOST_AT_ONCE)
            self._window.notices.show_notice(text, "attention")
            return
        self._waiting.extend(files)
        if self._waiting and not self._tasks.is_running("open each"):
            self._tasks.start("open each", self._open_waiting())

    def paste(self) -> None:
        self._tasks.start("new job", self._begin_pasted())

    def try_example(self) -> None:
        self._tasks.start("new job", self.begin_example())

    def choose_file(self) -> None:
        self._tasks.start("open file", self._choose_file())

    async def begin(self, *files: Path) -> asyncio.Future[None] | None:
        """Show a draft and open the files in it; the result is done when they are recognised, None without files."""
        await self._workspace.ready()
        from cfbatch_gui.ui.inputs.drafts import new_job_name

        job = self._empty_draft()
        if job is None:
            drafts, settings = self._program.drafts, self._program.settings
            connection = settings.connection or "practice"
            job = await self._program.store.on_disk(
                drafts.create, Kind.RANK, new_job_name(), settings.model, connection
            )
        self._workspace.open_new(job.id)
        return self._workspace.draft_page.drafts.open_paths(files)

    async def _open_waiting(self) -> None:
        while self._waiting:
            try:
                recognised = await self.begin(Path(self._waiting.popleft()))
            except UserError as error:
                self._window.notices.show_error(error)
                continue
            if recognised is not None:
                await asyncio.wait({recognised})

    async def begin_example(self) -> None:
        await self.begin()
        self._workspace.draft_page.drafts.use_example()

    async def _begin_pasted(self) -> None:
        """A token goes to the settings instead: it must not be written to a job's files. Raises InputError."""
        await self._workspace.ready()
        from cfbatch_gui.core.workers_ai.api_tokens import read_pasted
        from cfbatch_gui.ui.inputs.draft_actions import NOTHING_TO_PASTE, clipboard_content

        pasted = clipboard_content()
        if not isinstance(pasted, str):
            await self.begin(*pasted)
        elif not pasted.strip():
            raise InputError(NOTHING_TO_PASTE)
        elif len(pasted.splitlines()) == 1 and read_pasted(pasted).token:
            self._workspace.paste_token()
        else:
            await self.begin()
            self._workspace.draft_page.drafts.take_text(pasted)

    async def _choose_file(self) -> None:
        await self._workspace.ready()
        path = await dialogs.open_file(
            self._window,
            tr("Open a file"),
            filters=dialogs.input_filters(),
            folder=self._program.remembered_folder(FolderUse.INPUTS),
        )
        if path is not None:
            self.start(path)

    def _empty_draft(self) -> Job | None:
        from cfbatch_gui.ui.inputs.drafts import new_job_name

        drafts = (job for job in self._program.ledger.jobs() if not job.is_sent and not job.source_name)
        return next(
            (job for job in drafts if job.name == new_job_name() and not self._workspace.draft_page.is_taken(job.id)),
            None,
        )


_CARD = (330, 230)  # pixels; narrower in a narrow window


class WelcomePage(QWidget):
    """The page of a first start: begin with the example, connect an account, or open a file."""

    def __init__(self, new_jobs: NewJobs, notices: Notices) -> None:
        super().__init__()
        self.try_button = PrimaryButton(self.tr("Start with the example"), "play", new_jobs.try_example)
        self.connect_button = Button(self.tr("Connect my account"), "key-round", notices.connection_wanted.emit)
        try_card = _card(
            "flask-conical",
            self.tr("Try it now"),
            self.tr("Works on this computer with an example. No account, nothing leaves this machine."),
            self.try_button,
        )
        connect_card = _card(
            "cloud",
            self.tr("Connect Cloudflare"),
            self.tr(
                "Use your own account. You need an account ID and a token; "
                "we show where to find them and test them for free."
            ),
            self.connect_button,
        )
        title = Label(self.tr("Rank and embed your texts"), "display", wrap=True)
        subtitle = Label(
            self.tr(
                "Best answers first, or every text as a vector, with Cloudflare’s bge-m3 in more than 100 languages."
            ),
            "quiet",
            wrap=True,
        )
        for label in (title, subtitle):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.open_button = LinkButton(self.tr("Open a file"), "file-up", new_jobs.choose_file)
        anywhere = Label(self.tr("or drop a file or paste texts anywhere in this window"), "quiet", wrap=True)
        anywhere.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        cards = boxed(Flow(try_card, connect_card, gap=18))
        middle = boxed(
            column(title, subtitle, WIDE - 2, cards, WIDE, anywhere, row(None, self.open_button, None), gap=SMALL)
        )
        middle.setMaximumWidth(2 * scaled(_CARD[0]) + 18)
        around = row(None, gap=0)
        around.addWidget(middle, 1000)
        around.addStretch(1)
        content = boxed(column(None, around, None, 36, margins=(LARGE, LARGE, LARGE, LARGE)))
        self.setLayout(column(Roomy(content)))


def _card(icon: str, title: str, text: str, button: Button) -> Card:
    words = (Label(title, "part", wrap=True), SMALL, Label(text, "quiet", wrap=True))
    card = Card(IconLabel(icon, "accent", 28), LARGE - 5, *words, None, button, gap=0, margins=(22, 22, 22, 19))
    card.setMinimumHeight(scaled(_CARD[1]))
    card.setMaximumWidth(max(scaled(_CARD[0]), button.sizeHint().width() + 2 * 22))
    card.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)  # equally wide, whatever they say
    return card
