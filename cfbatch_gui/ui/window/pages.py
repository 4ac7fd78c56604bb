"""The connection in use, what is imported once the window is painted, and the views of results."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from cfbatch_gui.core.connections.credentials import SHUT, KeyringState
from cfbatch_gui.core.errors import ConnectionProblem, KeyringUnavailable
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.limits import CALL_BUDGET
from cfbatch_gui.ui.help import Topic
from cfbatch_gui.ui.jobs.library import ConnectionState
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import ResultView
from cfbatch_gui.words.languages import said

_SCARCE = 200  # the number of calls left in 5 minutes is shown when it is below this
_LOOK_AGAIN = 3_000  # milliseconds, while the keyring is locked


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
        if self._program.credentials.state not in SHUT:
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
            return self.tr("Not connected"), self.tr("nothing is sent anywhere"), "none"
        if self._program.credentials.state is KeyringState.UNKNOWN:
            self._foot.show_connection(book.title(chosen), self.tr("Checking the keyring…"), "waiting")
        used = next(each for each in await book.summaries(chosen) if each.id == chosen)
        keyring = self._program.credentials.state
        if used.waits_for_keyring:
            from cfbatch_gui.words.connections import keyring_words  # with it the client, which no start needs

            return used.title, keyring_words(keyring), "locked" if keyring in SHUT else "refused"
        if not used.is_ready:
            return used.title, said(used.sentence), "refused"
        workspace = self._workspace
        if "connection_page" in vars(workspace) and workspace.connection_page.has_failed():
            return used.title, self.tr("its last test failed"), "refused"
        left = book.budget(chosen).left
        words = self.tr("{left} of {all} calls left in 5 minutes").format(left=left, all=CALL_BUDGET)
        return used.title, words if left < _SCARCE else self.tr("new jobs are sent there"), "ready"

    async def _resume(self) -> None:
        await self._show()
        self.has_changed.emit()
        paused = [job.id for job in self._program.ledger.jobs() if job.state is JobState.PAUSED]
        await self._workspace.ready()
        for job_id in paused:
            if isinstance(self._program.runner.pause_error(job_id), ConnectionProblem):
                await self._program.runner.carry_on(job_id)


if TYPE_CHECKING:
    from cfbatch_gui.ui.window.workspace import Workspace


def import_pages(program: Program) -> None:
    """Import all pages and make what they use; in a thread after the first painting, so that no click waits for it."""
    from cfbatch_gui.ui import settings  # noqa: F401
    from cfbatch_gui.ui.connections import connection_page  # noqa: F401
    from cfbatch_gui.ui.evaluation import comparison_page, judge_page, review_page, screening_page  # noqa: F401
    from cfbatch_gui.ui.inputs import draft_page  # noqa: F401
    from cfbatch_gui.ui.jobs import details_view, elsewhere, job_page, progress_view  # noqa: F401
    from cfbatch_gui.ui.results import export_dialog  # noqa: F401

    result_kinds()
    program.make_parts()


def result_kinds() -> dict[str, Callable[[Program, Notices], ResultView]]:
    """What makes each view of results, by the keys of their tabs; they are imported by the first call."""
    from cfbatch_gui.ui.results import (
        categories_view,
        duplicates_view,
        groups_view,
        map_view,
        matches_view,
        quality_view,
        ranking_view,
        search_view,
        vectorize_page,
        vectors_view,
    )

    return {
        "ranking": ranking_view.RankingView,
        "quality": quality_view.QualityView,
        "overview": ranking_view.OverviewView,
        "matches": matches_view.MatchesView,
        "categories": categories_view.CategoriesView,
        "vectors": vectors_view.VectorsView,
        "search": search_view.SearchView,
        "map": map_view.MapView,
        "groups": groups_view.GroupsView,
        "duplicates": duplicates_view.DuplicatesView,
        "vectorize": vectorize_page.VectorizePage,
    }


def make_result(workspace: "Workspace", key: str) -> ResultView:
    """A view of results in the page of a job, by the key of its tab."""

    def show_items(tab: str, job: Job, items: tuple[int, ...], name: str) -> None:
        workspace.job_page.tabs.choose(tab)
        workspace.job_page.view(tab).show_items(job, items, name)

    def show_similar(item_no: int) -> None:
        page = workspace.job_page
        page.tabs.choose("search")
        page.view("search").show_like(page.view("vectors").job, item_no)

    view = result_kinds()[key](workspace.program, workspace.notices)
    receivers = {
        "rows_wanted": partial(show_items, "vectors"),
        "map_wanted": partial(show_items, "map"),
        "duplicates_wanted": lambda: workspace.job_page.tabs.choose("duplicates"),
        "similar_wanted": show_similar,
        "score_help_wanted": partial(workspace.menus.show_help, Topic.SCORES),
        "matching_help_wanted": partial(workspace.menus.show_help, Topic.MATCHING),
        "changed": workspace.job_changed,
        "quality_help_wanted": partial(workspace.menus.show_help, Topic.QUALITY),
        "judge_wanted": workspace.judge,
        "review_wanted": workspace.review,
        "screen_wanted": workspace.screen,
        "export_wanted": workspace.export,
    }
    for signal, receiver in receivers.items():
        if hasattr(view, signal):
            getattr(view, signal).connect(receiver)
    return view
