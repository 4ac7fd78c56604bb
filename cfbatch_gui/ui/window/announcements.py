"""What is told when a job changes: to screen readers, and on the desktop when it ended or needs the user."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from cfbatch_gui.core.jobs.account.shards import account_progress
from cfbatch_gui.core.jobs.states import STOPPED_BY_USER, Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.accessibility import announce
from cfbatch_gui.ui.state_names import job_words
from cfbatch_gui.ui.window.job_changes import AT_WORK
from cfbatch_gui.ui.window.main_window import MainWindow
from cfbatch_gui.ui.window.system_notices import Announcement, SystemNotices


class Announcements(QObject):
    """`opened` brings the id of a job whose notice on the desktop was clicked."""

    opened = Signal(str)

    def __init__(self, program: Program, window: MainWindow) -> None:
        super().__init__(window)
        self._program, self._window = program, window
        self._states: dict[str, JobState] = {}
        self._with_account: set[str] = set()  # jobs that need this computer no more until they are fetched
        self._system = SystemNotices(QApplication.windowIcon(), window)
        self._system.opened.connect(self.opened)

    def begin(self, jobs: Iterable[Job]) -> None:
        """Take the states as they are at the start; later ones are told."""
        known = tuple(jobs)
        self._states = {job.id: job.state for job in known}
        self._with_account = {job.id for job in known if account_progress(job).lid_may_close}

    async def connect_to_desktop(self) -> None:
        """As `SystemNotices.connect_to_desktop`."""
        await self._system.connect_to_desktop()

    def close(self) -> None:
        """Tell nothing more."""
        self._system.close()

    def job_changed(self, job: Job) -> None:
        """Tell what changed, unless it is being looked at or is the user's own doing."""
        before, self._states[job.id] = self._states.get(job.id), job.state
        if before is not job.state and job.is_sent and job.state is not JobState.WAITING:
            announce(self._window, f"{job.name}: {job_words(job.state).text}", is_urgent=job.needs_user)
        self._tell_of_account(job)
        if before in AT_WORK and job.state not in AT_WORK:
            self._tell_desktop(job)

    def _tell_of_account(self, job: Job) -> None:
        if job.state is not JobState.WORKING or not account_progress(job).lid_may_close:
            self._with_account.discard(job.id)
        elif job.id not in self._with_account:
            self._with_account.add(job.id)
            words = self.tr("{name}: with your account. You can close this computer.")
            announce(self._window, words.format(name=job.name))

    def _tell_desktop(self, job: Job) -> None:
        is_looked_at = self._window.isActiveWindow() and self._window.library.opened_job() == job.id
        is_by_user = job.state is JobState.PAUSED and job.paused_because == STOPPED_BY_USER
        if self._program.settings.system_notices and not is_looked_at and not is_by_user:
            self._system.announce(Announcement(job.id, job.name, job.state is JobState.DONE))
