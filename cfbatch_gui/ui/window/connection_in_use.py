"""The connection of new jobs, at the foot of the sidebar; and what goes on once it, or the keyring, works again."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from cfbatch_gui.core.connections.credentials import KeyringState
from cfbatch_gui.core.errors import ConnectionProblem, KeyringUnavailable
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE
from cfbatch_gui.core.workers_ai.limits import CALL_BUDGET
from cfbatch_gui.ui.jobs.library import ConnectionState
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.window.main_window import MainWindow

_SCARCE = 200  # the number of calls left in 5 minutes is shown when it is below this
_LOOK_AGAIN = 3_000  # milliseconds, while the keyring is locked
_WAITING = (KeyringState.LOCKED, KeyringState.REFUSED)


class ConnectionInUse(QObject):
    """The keyring is asked in the background."""

    has_changed = Signal()
    has_failed: Callable[[], bool]  # whether the last test of this connection has failed; the settings know

    def __init__(self, program: Program, window: MainWindow, tasks: Tasks) -> None:
        super().__init__(window)
        self._program, self._window, self._tasks = program, window, tasks
        program.credentials.changed = self.changed
        window.library.unlock_wanted.connect(self.unlock)
        window.notices.unlock_wanted.connect(self.unlock)
        # Whether it was unlocked elsewhere; a paused job may need it, not new ones.
        self._locked = QTimer(self, interval=_LOOK_AGAIN)
        self._locked.timeout.connect(self._look_again)

    def show(self) -> None:
        self._show_known()
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
            await self._show_chosen()
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

    def _show_known(self) -> bool:
        chosen, foot = self._program.settings.connection, self._window.library.foot
        saved = {each.id for each in self._program.address_book.saved()}
        if chosen == PRACTICE.id or (chosen not in saved and self._program.ledger.jobs()):
            foot.show_connection(self.tr("Practice service"), self.tr("on this computer, free"), "practice")
            return True
        if chosen not in saved:
            foot.show_connection(self.tr("Not connected"), self.tr("nothing leaves this computer"), "none")
            return True
        if self._program.credentials.state is KeyringState.UNKNOWN:
            title = self._program.address_book.title(chosen)
            foot.show_connection(title, self.tr("Checking the keyring…"), "waiting")
        return False

    async def _show_chosen(self) -> None:
        if self._show_known():
            return
        chosen, foot = self._program.settings.connection, self._window.library.foot
        summaries = await self._program.address_book.summaries(chosen)
        used = next(each for each in summaries if each.id == chosen)
        keyring = self._program.credentials.state
        if used.waits_for_keyring and keyring in _WAITING:
            foot.show_connection(used.title, self.tr("Your keyring is locked"), "locked")
            return
        if used.waits_for_keyring:
            is_broken = keyring is KeyringState.BROKEN
            words = self.tr("Your keyring cannot be used") if is_broken else self.tr("Your keyring does not answer")
            foot.show_connection(used.title, words, "refused")
            return
        has_failed = self.has_failed()
        state: ConnectionState = "ready" if used.is_ready and not has_failed else "refused"
        budget = self._program.address_book.budget(chosen)
        left = self.tr("{left} of {all} calls left in 5 minutes").format(left=budget.left, all=CALL_BUDGET)
        ready = left if budget.left < _SCARCE else self.tr("new jobs are sent there")
        known = self.tr("its last test failed") if has_failed else ready
        foot.show_connection(used.title, known if used.is_ready else said(used.sentence), state)

    async def _resume(self) -> None:
        await self._show()
        self.has_changed.emit()
        paused = [job.id for job in self._program.ledger.jobs() if job.state is JobState.PAUSED]
        if paused:
            await self._program.prepare("runner")
        for job_id in paused:
            if isinstance(self._program.runner.pause_error(job_id), ConnectionProblem):
                await self._program.runner.carry_on(job_id)
