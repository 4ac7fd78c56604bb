"""The connection in use; the pages and the views of results, made when they are first shown."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from cfbatch_gui.core.connections.credentials import KeyringState
from cfbatch_gui.core.errors import ConnectionProblem, KeyringUnavailable
from cfbatch_gui.core.jobs.states import FORGETTABLE, Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.made_once import is_made
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.limits import CALL_BUDGET
from cfbatch_gui.ui.help import Topic
from cfbatch_gui.ui.job_actions import can_be_judged
from cfbatch_gui.ui.jobs.library import ConnectionState
from cfbatch_gui.ui.result_view import LateView
from cfbatch_gui.words.languages import said

_SCARCE = 200  # the number of calls left in 5 minutes is shown when it is below this
_LOOK_AGAIN = 3_000  # milliseconds, while the keyring is locked
_WAITING = (KeyringState.LOCKED, KeyringState.REFUSED)


class ConnectionInUse(QObject):
    """The keyring is asked in the background."""

    has_changed = Signal()

    def __init__(self, workspace: "Workspace") -> None:
        super().__init__(workspace.window)
        self._workspace, self._program, self._tasks = workspace, workspace.program, workspace.tasks
        self._foot = workspace.window.library.foot
        self._program.credentials.changed = self.changed
        workspace.notices.unlock_wanted.connect(self.unlock)
        # Whether it was unlocked elsewhere; a paused job may need it, not new ones.
        self._locked = QTimer(self, interval=_LOOK_AGAIN)
        self._locked.timeout.connect(self._look_again)

    def show(self) -> None:
        if not self._tasks.is_running("connection"):
            self._tasks.start("connection", self._show())

    def changed(self) -> None:
        self._tasks.start("connection", self._resume())

    def has_paused(self, job: Job) -> None:
        error = self._program.runner.pause_error(job.id)
        self._watch()
        if isinstance(error, KeyringUnavailable) and self._program.credentials.has_moved_on(error):
            self._tasks.start(f"carry on {job.id}", self._program.runner.carry_on(job.id))

    def unlock(self) -> None:
        self._tasks.start("unlock", self._program.credentials.unlock())

    async def _show(self) -> None:
        try:
            self._foot.show_connection(*await self._words())
        finally:
            self._watch()

    def _look_again(self) -> None:
        if not self._tasks.is_running("keyring"):
            self._tasks.start("keyring", self._program.credentials.look_again())

    def _watch(self) -> None:
        if self._program.credentials.state not in _WAITING:
            self._locked.stop()
        elif not self._locked.isActive():
            self._locked.start()

    async def _words(self) -> tuple[str, str, ConnectionState]:
        """Its name, what is said of it, and its look."""
        book, chosen = self._program.address_book, self._program.settings.connection
        is_saved = any(each.id == chosen for each in book.saved())
        if chosen == PRACTICE.id or (not is_saved and self._program.ledger.jobs()):
            return self.tr("Practice service"), self.tr("on this computer, free"), "practice"
        if not is_saved:
            return self.tr("Not connected"), self.tr("nothing leaves this computer"), "none"
        if self._program.credentials.state is KeyringState.UNKNOWN:
            self._foot.show_connection(book.title(chosen), self.tr("Checking the keyring…"), "waiting")
        used = next(each for each in await book.summaries(chosen) if each.id == chosen)
        keyring = self._program.credentials.state
        if used.waits_for_keyring and keyring in _WAITING:
            return used.title, self.tr("Your keyring is locked"), "locked"
        if used.waits_for_keyring:
            is_broken = keyring is KeyringState.BROKEN
            words = self.tr("Your keyring cannot be used") if is_broken else self.tr("Your keyring does not answer")
            return used.title, words, "refused"
        if not used.is_ready:
            return used.title, said(used.sentence), "refused"
        workspace = self._workspace
        if is_made(workspace, "connection_page") and workspace.connection_page.has_failed():
            return used.title, self.tr("its last test failed"), "refused"
        left = book.budget(chosen).left
        words = self.tr("{left} of {all} calls left in 5 minutes").format(left=left, all=CALL_BUDGET)
        return used.title, words if left < _SCARCE else self.tr("new jobs are sent there"), "ready"

    async def _resume(self) -> None:
        await self._show()
        self.has_changed.emit()
        paused = [job.id for job in self._program.ledger.jobs() if job.state is JobState.PAUSED]
        if paused:
            await self._program.prepare("runner")
        for job_id in paused:
            if isinstance(self._program.runner.pause_error(job_id), ConnectionProblem):
                await self._program.runner.carry_on(job_id)


if TYPE_CHECKING:
    from cfbatch_gui.core.results.exports.base import ExportOptions
    from cfbatch_gui.ui.results.ranking_view import RankingView
    from cfbatch_gui.ui.window.workspace import Workspace


class ResultViews:
    """The views in the page of a job; none is made before the window is painted."""

    def __init__(self, workspace: "Workspace") -> None:
        self._workspace, program, notices = workspace, workspace.program, workspace.notices

        def late(module: str, name: str, has_something: Callable[[Job], bool] = lambda job: True) -> LateView[Any]:
            def make(imported_module: Any) -> Any:
                view = getattr(imported_module, name)(program, notices)
                receivers = {
                    "rows_wanted": self._show_rows,
                    "similar_wanted": self._show_similar,
                    "score_help_wanted": partial(workspace.menus.show_help, Topic.SCORES),
                    "quality_help_wanted": partial(workspace.menus.show_help, Topic.QUALITY),
                    "judge_wanted": workspace.judge,
                    "export_wanted": workspace.export,
                }
                for signal, receiver in receivers.items():
                    if hasattr(view, signal):
                        getattr(view, signal).connect(receiver)
                return view

            module = f"cfbatch_gui.ui.{module}"
            painted = workspace.window.painted
            return LateView(module, make, notices.show_error, may_begin=painted, has_something=has_something)

        # By the key of its tab, in the order of the tabs.
        self.pages: dict[str, LateView[Any]] = {
            "ranking": late("results.ranking_view", "RankingView"),
            "quality": late("results.quality_view", "QualityView", can_be_judged),
            "overview": late("results.ranking_view", "OverviewView"),
            "vectors": late("results.vectors_view", "VectorsView"),
            "search": late("results.vectors_view", "SearchView"),
            "map": late("results.map_view", "MapView"),
            "groups": late("results.vectors_view", "ClustersView"),
            "duplicates": late("results.vectors_view", "DuplicatesView"),
            "vectorize": late(
                "results.vectorize_page",
                "VectorizePage",
                lambda job: job.state in FORGETTABLE and _has_account(program),
            ),
        }

    def limits(self) -> "ExportOptions | None":
        """What the ranking is limited to; None before it was first shown."""
        view: RankingView | None = self.pages["ranking"].made()
        return view.limits() if view is not None else None

    def _show_rows(self, job: Job, items: tuple[int, ...], name: str) -> None:
        self._workspace.job_page.tabs.choose("vectors")
        self.pages["vectors"].view.show_items(job, items, name)

    def _show_similar(self, item_no: int) -> None:
        job = self.pages["vectors"].view.job
        self._workspace.job_page.tabs.choose("search")
        self.pages["search"].view.show_like(job, item_no)


def _has_account(program: Program) -> bool:
    """Whether a connection leads to an account, without which there is no Vectorize."""
    return any(each.account_id and each.kind != "worker" for each in program.address_book.saved())
