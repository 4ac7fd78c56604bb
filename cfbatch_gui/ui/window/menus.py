"""The menu bar: every command with its key, and the dialogs that it opens; Job has what the open page offers."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPlainTextEdit, QTextEdit

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import account_progress, goes_on_elsewhere
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.ui import dialogs
from cfbatch_gui.ui.help import AboutDialog, HelpWindow, ShortcutsDialog, Topic
from cfbatch_gui.ui.job_actions import AT_WORK
from cfbatch_gui.ui.widgets import PageHeader, SearchField, add_action
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr

if TYPE_CHECKING:
    from cfbatch_gui.ui.window.workspace import Workspace

WEBSITE = "https://developers.cloudflare.com/workers-ai/features/batch-api/"
_ELSEWHERE = "cfbatch_gui.ui.jobs.elsewhere"
_Key, _Role = QKeySequence.StandardKey, QAction.MenuRole


class Menus(QObject):
    def __init__(self, workspace: "Workspace") -> None:
        window = self._window = workspace.window
        super().__init__(window)
        self._workspace, self._program, self._tasks = workspace, workspace.program, workspace.tasks
        self._help: HelpWindow | None = None
        undos, new_jobs, action = workspace.notices.undos, workspace.new_jobs, self._action
        self.by_request_id = action(tr("Add a job by its request ID…"), "Ctrl+Shift+N", self.attach)
        self.export = action(tr("Export…"), "Ctrl+E", lambda: self.show_export(window.library.opened_job()))
        self.export.setEnabled(False)
        self.undo = action(tr("Undo"), _Key.Undo, undos.undo)
        self._job = QMenu(tr("&Job"), window.menuBar())
        self._job.aboutToShow.connect(self._fill_job)
        self._job.setToolTipsVisible(True)  # a command that is not possible says why
        file = (
            action(tr("New job"), _Key.New, workspace.show_start),
            action(tr("Open a file…"), _Key.Open, new_jobs.choose_file),
            self.by_request_id,
            None,
            self.export,
            action(tr("Back up all jobs…"), "", self.back_up),
            None,
            action(tr("Settings"), "Ctrl+,", workspace.show_connections, _Role.PreferencesRole),
            action(tr("Quit"), "Ctrl+Q", window.close, _Role.QuitRole),
        )
        edit = (
            self.undo,
            None,
            action(_with_key(tr("Copy"), _Key.Copy), "", partial(_do_in_focus, "copy")),
            action(tr("Paste"), _Key.Paste, self._paste),
            action(_with_key(tr("Select all"), _Key.SelectAll), "", partial(_do_in_focus, "selectAll")),
            None,
            action(tr("Find in this page"), _Key.Find, self._find_in_page),
            action(tr("Find a job"), "Ctrl+Shift+F", partial(_find_in, window.library.find_field)),
        )
        view = (
            action(tr("Notices"), "Ctrl+Shift+M", window.show_notices),
            action(tr("What leaves this computer"), "", workspace.show_traffic),
        )
        about = (
            action(tr("Help"), "F1", self.show_help),
            action(tr("What is a score?"), "", partial(self.show_help, Topic.SCORES)),
            action(tr("Shortcuts"), "Shift+F1", self.show_shortcuts),
            None,
            action(tr("The Batch API at Cloudflare"), "", partial(QDesktopServices.openUrl, QUrl(WEBSITE))),
            action(tr("About CF Batch"), "", self.show_about, _Role.AboutRole),
        )
        self._add(tr("&File"), file)
        self._add(tr("&Edit"), edit)
        window.menuBar().addMenu(self._job)
        self._add(tr("&View"), view)
        self._add(tr("&Help"), about)
        # The menu Job has these by the page's own words; their keys work everywhere.
        for text, keys, act in (
            (tr("Rename the job"), "F2", self._rename),
            (tr("Compare the ranking with another job"), "Ctrl+Shift+C", workspace.compare_opened),
            (tr("Judge the texts of the ranking, or of the comparison"), "Ctrl+J", workspace.judge_shown),
            (tr("Open the menu"), "F10", self._open_first),
        ):
            window.addAction(action(text, keys, act))
        undos.changed.connect(self._show_undo)
        self._show_undo()
        window.pages.currentChanged.connect(self._show_for_developers)  # also when the settings are left
        self._show_for_developers()

    def show_export(self, job_id: str) -> None:
        self._workspace.when_ready("export", partial(self._export, job_id))

    def _export(self, job_id: str) -> None:
        from cfbatch_gui.ui.results.export_dialog import ExportDialog

        workspace, job = self._workspace, self._program.ledger.job(job_id)
        dialog = ExportDialog(
            self._program,
            workspace.notices,
            job,
            limits=workspace.job_page.limits(),
            choices=workspace.job_page.row_choices() if workspace.is_shown("job_page") else (),
            parent=self._window,
        )
        dialog.all_written.connect(self._workspace.job_actions.exported_all)
        dialog.open()

    def attach(self) -> None:
        self._open("AttachDialog", self._program, added=self._workspace.open_new)

    def show_account(self, connection_id: str = "") -> None:
        self._open("AccountDialog", self._program, connection_id, opened=self._workspace.open_new)

    def _open(self, name: str, *arguments: object, **receivers: Callable[..., object]) -> None:
        """Open a dialog about jobs that were begun elsewhere; `receivers` are named as its signals."""

        def show() -> None:
            dialog = getattr(import_module(_ELSEWHERE), name)(*arguments, self._window)
            for signal, receiver in receivers.items():
                getattr(dialog, signal).connect(receiver)
            dialog.open()

        self._workspace.when_ready(name, show)

    def show_about(self) -> None:
        AboutDialog(self._program, self._window).open()

    def back_up(self) -> None:
        self._tasks.start("back up", self._back_up())

    async def _back_up(self) -> None:
        from cfbatch_gui.core.jobs.store.data_folder import back_up

        path = await dialogs.save_file(
            self._window,
            tr("Back up all jobs"),
            name="cfbatch-jobs.zip",
            folder=self._program.remembered_folder(FolderUse.BACKUPS),
        )
        if path is None:
            return
        count = await asyncio.to_thread(back_up, self._program.paths, path)
        files = figures.plural(count, "{n} file", "{n} files")
        said = tr("Backed up {files} to “{name}”.").format(files=files, name=path.name)
        self._window.notices.show_written(said, path)

    async def may_close(self) -> bool:
        """Whether the window may close: while jobs are at work here, the user is told once that they go on."""
        at_work = [job for job in self._program.ledger.jobs() if job.state in AT_WORK]
        told = [job for job in at_work if not account_progress(job).lid_may_close]
        if told and not self._program.settings.seen_close_note:
            text = tr("That is safe: the work waits on this computer, and goes on at the next start.")
            if any(map(goes_on_elsewhere, told)):
                text = tr("That is safe: what was sent goes on at the service, and is collected at the next start.")
            if any(account_progress(job).is_used for job in told):
                text += " " + tr("What your account was not handed yet is handed over then.")
            if not await dialogs.ask(self._window, tr("Close while jobs are at work?"), text, accept=tr("Close")):
                return False
            with suppress(UserError):  # closing must work with a full disk, too
                await self._program.keep_settings(seen_close_note=True)
        return True

    def show_help(self, topic: Topic = Topic.FIRST_JOB) -> None:
        if self._help is None:
            self._help = HelpWindow(self._window)
        self._help.show_topic(topic)

    def show_shortcuts(self) -> None:
        menus = self._window.menuBar().findChildren(QMenu)
        actions = (*(action for menu in menus for action in menu.actions()), *self._window.actions())
        ShortcutsDialog(actions, self._window).open()

    def _add(self, title: str, actions: Sequence[QAction | None]) -> None:
        """Add a menu; None is a line between two entries."""
        menu = self._window.menuBar().addMenu(title)
        for each in actions:
            if each is None:
                menu.addSeparator()
            else:
                menu.addAction(each)

    def _action(
        self,
        text: str,
        keys: QKeySequence.StandardKey | str,
        on_chosen: Callable[[], object],
        role: QAction.MenuRole = _Role.NoRole,  # macOS would move what begins with words such as "Settings"
    ) -> QAction:
        action = QAction(text, self._window)
        action.setMenuRole(role)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda _checked=False: on_chosen())
        return action

    def _show_undo(self) -> None:
        """A field with the focus takes Ctrl+Z for its own text, before the menu does."""
        latest = self._window.notices.undos.latest()
        self.undo.setText(latest.words.replace("&", "&&") if latest else self.tr("Undo"))
        self.undo.setEnabled(latest is not None)

    def _fill_job(self) -> None:
        self._job.clear()
        library = self._window.library
        page = self._window.pages.currentWidget()
        header = getattr(page, "header", None)
        if library.selection():
            library.job_actions.fill_menu(self._job, library.selection())
        elif library.opened_job() and isinstance(header, PageHeader):
            header.fill_menu(self._job)
        else:
            self._job.addAction(self.tr("No job is open")).setEnabled(False)
        self._job.addSeparator()
        settings = self._program.settings
        if settings.for_developers or any(each.kind == "worker" for each in settings.connections):
            add_action(self._job, self.tr("In your account…"), self.show_account, "inbox")

    def _show_for_developers(self) -> None:
        self.by_request_id.setVisible(self._program.settings.for_developers)

    def _rename(self) -> None:
        if opened := self._window.library.opened_job():
            self._workspace.job_actions.rename(opened)

    def _open_first(self) -> None:
        bar = self._window.menuBar()
        bar.setFocus(Qt.FocusReason.MenuBarFocusReason)
        bar.setActiveAction(bar.actions()[0])

    def _find_in_page(self) -> None:
        fields = self._window.pages.findChildren(SearchField)
        field = next((each for each in fields if each.isVisible() and each.isEnabled()), None)
        if field is not None:
            _find_in(field)

    def _paste(self) -> None:
        focused = QApplication.focusWidget()
        if isinstance(focused, (QLineEdit, QPlainTextEdit, QTextEdit)) and not focused.isReadOnly():
            focused.paste()
        else:
            self._workspace.paste_into_page()


def _find_in(field: SearchField) -> None:
    field.setFocus(Qt.FocusReason.ShortcutFocusReason)
    field.selectAll()


def _with_key(text: str, key: QKeySequence.StandardKey) -> str:
    """The text of an entry whose key belongs to the widget with the focus, and is only shown here."""
    return f"{text}\t{QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)}"


def _do_in_focus(name: str) -> None:
    """Call the method of this name of the widget with the focus, if it has one."""
    act = getattr(QApplication.focusWidget(), name, None)
    if callable(act):
        act()
