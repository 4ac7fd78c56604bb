"""What was found about the data folder at this start: damage, restored jobs, and whether it is a copy."""

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.store.data_folder import FolderAnswer
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.widgets import NoticeBar
from cfbatch_gui.ui.window.main_window import MainWindow

_ANSWERS = (FolderAnswer.COPIED, FolderAnswer.MOVED)


class DataFolder:
    def __init__(self, program: Program, window: MainWindow, tasks: Tasks) -> None:
        self._program, self._window, self._tasks = program, window, tasks
        self._reminder: NoticeBar | None = None

    async def tell(self) -> None:
        """Check what was stored last, show what was found, and ask what only the user knows."""
        notices = self._window.notices
        for sentence in (*self._program.damage, *await self._program.check_last_written()):
            notices.show_notice(said(sentence), "attention")
        if self._program.recovered:
            notices.show_notice(
                tr(
                    "Jobs were put together again from their own folders, because their record was missing or damaged."
                    " Open one and carry on to collect what is at the service."
                ),
                "attention",
            )
        if self._program.doubt is not None:
            self._ask_later()
            self._ask()

    def _ask(self) -> None:
        self._tasks.start("data folder", self._question())

    def _ask_later(self) -> None:
        self._reminder = self._window.notices.show_notice(
            tr("Nothing is sent until you have said whether this data folder was copied or restored."),
            "attention",
            button=tr("Say what happened"),
            on_button=self._ask,
            stays=True,
        )

    async def _question(self) -> None:
        chosen = await dialogs.choose(
            self._window,
            tr("Was this folder copied or restored?"),
            tr(
                "The folder with your jobs is not where it was, or is older than it was. What waits in it to be sent"
                " may have been sent already, from the other copy or after the backup was made, and sending it again"
                " costs again.\n\nIf it is a copy or a restored backup, those jobs wait until you open each and carry"
                " on. If it was only moved, they go on now."
            ),
            (tr("Copied or restored"), tr("Only moved")),
            cancel=tr("Not now"),
        )
        if chosen is None:
            self._ask_later()
            return
        try:
            paused = await self._program.settle_doubt(_ANSWERS[chosen])
        except UserError:  # a full disk: nothing is sent, and the question stays
            self._ask_later()
            raise
        if self._reminder is not None:
            self._window.notices.dismiss(self._reminder)
        if paused:
            waiting = display.plural(
                len(paused),
                "{n} job waits for your word. Open it and carry on to send the rest of it.",
                "{n} jobs wait for your word. Open one and carry on to send the rest of it.",
            )
            self._window.notices.show_notice(waiting)
