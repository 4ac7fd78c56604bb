"""The menu bar: every command with its key. The menu Job has what the page of the open job offers."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QAction, QActionGroup, QDesktopServices, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPlainTextEdit, QTextEdit

from cfbatch_gui.ui.help import HelpWindow, ShortcutsDialog, Topic
from cfbatch_gui.ui.theme import Scheme
from cfbatch_gui.ui.widgets import PageHeader, SearchField, add_action
from cfbatch_gui.ui.window.main_window import MainWindow

WEBSITE = "https://developers.cloudflare.com/workers-ai/features/batch-api/"
_NO_KEY = QKeySequence()


class Menus(QObject):
    def __init__(self, window: MainWindow, scheme: Scheme) -> None:
        super().__init__(window)
        self._window = window
        self._help: HelpWindow | None = None
        self._make_file()
        self._make_edit()
        self._job = self._menu(self.tr("&Job"))
        self._job.aboutToShow.connect(self._fill_job)
        self._job.setToolTipsVisible(True)  # a command that is not possible says why
        self._make_hidden()
        self._make_view(scheme)
        self._make_help()

    def show_help(self, topic: Topic = Topic.FIRST_JOB) -> None:
        if self._help is None:
            self._help = HelpWindow(self._window)
        self._help.show_topic(topic)

    def show_scheme(self, scheme: Scheme) -> None:
        self._schemes[scheme].setChecked(True)

    def _make_file(self) -> None:
        window, file = self._window, self._menu(self.tr("&File"))
        self._act(file, self.tr("New job"), QKeySequence(QKeySequence.StandardKey.New), window.new_job.emit)
        self._act(file, self.tr("Open a file…"), QKeySequence(QKeySequence.StandardKey.Open), window.open_file.emit)
        self._act(file, self.tr("Add a job by its request ID…"), QKeySequence("Ctrl+Shift+N"), window.attach.emit)
        file.addSeparator()
        self.export = self._act(file, self.tr("Export…"), QKeySequence("Ctrl+E"), window.export.emit)
        self.export.setEnabled(False)
        window.can_export.connect(self.export.setEnabled)
        self._act(file, self.tr("Back up all jobs…"), _NO_KEY, window.back_up.emit)
        file.addSeparator()
        settings = self._act(file, self.tr("Settings"), QKeySequence("Ctrl+,"), window.connection.emit)
        settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        leave = self._act(file, self.tr("Quit"), QKeySequence("Ctrl+Q"), window.close)
        leave.setMenuRole(QAction.MenuRole.QuitRole)

    def _make_edit(self) -> None:
        edit = self._menu(self.tr("&Edit"))
        undos = self._window.notices.undos
        self.undo = self._act(edit, self.tr("Undo"), QKeySequence(QKeySequence.StandardKey.Undo), undos.undo)
        undos.changed.connect(self._show_undo)
        self._show_undo()
        edit.addSeparator()
        copy = _with_key(self.tr("Copy"), QKeySequence.StandardKey.Copy)
        edit.addAction(copy).triggered.connect(_copy)
        paste = _with_key(self.tr("Paste"), QKeySequence.StandardKey.Paste)
        edit.addAction(paste).triggered.connect(self._paste)
        everything = _with_key(self.tr("Select all"), QKeySequence.StandardKey.SelectAll)
        edit.addAction(everything).triggered.connect(_select_all)
        edit.addSeparator()
        find = _with_key(self.tr("Find in this page"), QKeySequence.StandardKey.Find)
        edit.addAction(find).triggered.connect(self._find_in_page)
        self._act(edit, self.tr("Find a job"), QKeySequence("Ctrl+Shift+F"), self._find_job)

    def _show_undo(self) -> None:
        """A field with the focus takes Ctrl+Z for its own text, before the menu does."""
        latest = self._window.notices.undos.latest()
        self.undo.setText(latest.words.replace("&", "&&") if latest else self.tr("Undo"))
        self.undo.setEnabled(latest is not None)

    def _make_hidden(self) -> None:
        """The menu Job has these by the page's own words; their keys work everywhere."""
        window = self._window
        for keys, act in (
            ("F2", window.library.rename),
            ("Ctrl+Shift+C", window.compare.emit),
            ("Ctrl+J", window.judge.emit),
            ("F10", self._open_first),
        ):
            action = QAction(window)
            action.setShortcut(QKeySequence(keys))
            action.triggered.connect(partial(_call, act))
            window.addAction(action)

    def _make_view(self, scheme: Scheme) -> None:
        view = self._menu(self.tr("&View"))
        group = QActionGroup(self)
        names = {
            Scheme.SYSTEM: self.tr("Match system"),
            Scheme.LIGHT: self.tr("Light"),
            Scheme.DARK: self.tr("Dark"),
            Scheme.HIGH_CONTRAST: self.tr("High contrast"),
        }
        self._schemes: dict[Scheme, QAction] = {}
        for each, name in names.items():
            action = self._act(view, name, _NO_KEY, partial(self._window.scheme_chosen.emit, each.value))
            action.setCheckable(True)
            action.setChecked(each is scheme)
            group.addAction(action)
            self._schemes[each] = action
        view.addSeparator()
        self.archive = self._act(view, self.tr("Show the archive"), _NO_KEY, self._window.library.toggle_archive)
        view.aboutToShow.connect(self._show_archive)
        self._act(view, self.tr("Notices"), QKeySequence("Ctrl+Shift+M"), self._window.show_notices)
        self._act(view, self.tr("What leaves this computer"), _NO_KEY, self._window.traffic.emit)

    def _show_archive(self) -> None:
        rows = self._window.library.rows
        self.archive.setText(self.tr("All other jobs") if rows.shows_archive() else self.tr("Show the archive"))
        self.archive.setEnabled(rows.archived() > 0)

    def _make_help(self) -> None:
        menu = self._menu(self.tr("&Help"))
        self._act(menu, self.tr("Help"), QKeySequence("Shift+F1"), self.show_help)
        self._act(menu, self.tr("What is a score?"), _NO_KEY, partial(self.show_help, Topic.SCORES))
        self._act(menu, self.tr("Shortcuts"), QKeySequence("F1"), self.show_shortcuts)
        menu.addSeparator()
        self._act(menu, self.tr("The Batch API at Cloudflare"), _NO_KEY, _open_website)
        about = self._act(menu, self.tr("About CF Batch"), _NO_KEY, self._window.about.emit)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    def show_shortcuts(self) -> None:
        ShortcutsDialog(self._window).open()

    def _menu(self, title: str) -> QMenu:
        return self._window.menuBar().addMenu(title)

    def _act(self, menu: QMenu, text: str, keys: QKeySequence, on_chosen: Callable[[], object]) -> QAction:
        action = QAction(text, self._window)
        action.setMenuRole(QAction.MenuRole.NoRole)  # macOS would move what begins with words such as "Settings"
        action.setShortcut(keys)
        action.triggered.connect(partial(_call, on_chosen))
        menu.addAction(action)
        return action

    def _fill_job(self) -> None:
        self._job.clear()
        library = self._window.library
        page = self._window.pages.currentWidget()
        header = getattr(page, "header", None)
        if library.selection():
            library.fill_menu(self._job)
        elif library.opened_job() and isinstance(header, PageHeader):
            header.fill_menu(self._job)
        else:
            self._job.addAction(self.tr("No job is open")).setEnabled(False)
        self._job.addSeparator()
        add_action(self._job, self.tr("In your account…"), self._window.account.emit, "inbox")

    def _open_first(self) -> None:
        bar = self._window.menuBar()
        bar.setFocus(Qt.FocusReason.MenuBarFocusReason)
        bar.setActiveAction(bar.actions()[0])

    def _find_job(self) -> None:
        self._window.library.find_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._window.library.find_field.selectAll()

    def _find_in_page(self) -> None:
        fields = self._window.pages.findChildren(SearchField)
        field = next((each for each in fields if each.isVisible() and each.isEnabled()), None)
        if field is not None:
            field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            field.selectAll()

    def _paste(self) -> None:
        focused = QApplication.focusWidget()
        if isinstance(focused, (QLineEdit, QPlainTextEdit, QTextEdit)) and not focused.isReadOnly():
            focused.paste()
        else:
            self._window.paste.emit()


def _call(on_chosen: Callable[[], object], _checked: bool = False) -> None:
    on_chosen()


def _with_key(text: str, key: QKeySequence.StandardKey) -> str:
    """The text of an entry whose key belongs to the widget with the focus, and is only shown here."""
    return f"{text}\t{QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)}"


def _copy() -> None:
    copy = getattr(QApplication.focusWidget(), "copy", None)
    if callable(copy):
        copy()


def _select_all() -> None:
    select = getattr(QApplication.focusWidget(), "selectAll", None)
    if callable(select):
        select()


def _open_website() -> None:
    QDesktopServices.openUrl(QUrl(WEBSITE))
