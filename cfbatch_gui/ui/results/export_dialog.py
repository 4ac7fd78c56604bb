"""The dialog of an export: its targets, limits, columns and folder, then the writing itself."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QWidget

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.exports import Exported, ExportOptions, Measure, Target, export, targets_for
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.versions.changed_export import ChangedSince, changed_since_predecessor, removed_list
from cfbatch_gui.ui import dialogs, display
from cfbatch_gui.ui.job_labels import connection_title
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice
from cfbatch_gui.ui.results.export_choices import ColumnsDialog, ExportForms, RowsBar
from cfbatch_gui.ui.results.export_plan import (
    ExportSummary,
    Extent,
    changed_words,
    kinds_of_file,
    missing_words,
    paths_for,
    read_extent,
    usual_folder,
)
from cfbatch_gui.ui.results.ranking_limits import Limits, LimitsBar
from cfbatch_gui.ui.results.written_notice import say_written
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, SMALL, WIDE, scaled
from cfbatch_gui.ui.widgets import (
    Button,
    CheckBox,
    IconLine,
    Label,
    LinkButton,
    NoticeBar,
    PrimaryButton,
    ThinProgress,
    column,
    row,
)

_NO_LIMITS = Limits()
_STEPS = 1_000  # of the progress of each file

Output = tuple[Path, Target]


class ExportDialog(QDialog):
    """Open it with `open()`; it deletes itself when it closes. `notices` shows which files were written.

    `all_written` has the job's id when all of its results were written, with all columns.
    """

    all_written = Signal(str)

    def __init__(
        self,
        program: Program,
        notices: Notices,
        job: Job,
        *,
        limits: Limits = _NO_LIMITS,
        choices: Sequence[RowChoice] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Export"))
        self._program, self._notices, self._job = program, notices, job
        self._remembered = program.remembered_folder(FolderUse.EXPORTS)
        self._folder = self._remembered.path or usual_folder()
        self._named: Output | None = None  # a name that the user gave, and for which form
        self._columns: tuple[str, ...] | None = None  # all
        self._extent: Extent | None = None
        self._stop: threading.Event | None = None
        self.tasks = Tasks(self, self._show_error)
        self.rows_bar = RowsBar(choices)
        self.rows_bar.changed.connect(lambda: self.tasks.start("count", self._count()))
        self._make_widgets()
        self.limits_bar.show_limits(limits)
        self._lay_out()
        self._show()
        self.tasks.start("count", self._count())
        self._changed: ChangedSince | None = None
        self.tasks.start("version", self._look_for_changes())

    def outputs(self) -> tuple[Output, ...]:
        """What will be written where, as it is chosen now."""
        chosen = self.forms.chosen()
        if self._named is not None and chosen == (self._named[1],):
            return (self._named,)
        return paths_for(self._folder, self._job, chosen)

    def is_writing(self) -> bool:
        """Whether a file is being written."""
        return self._stop is not None

    def set_folder(self, folder: Path) -> None:
        """Write into this folder."""
        self._folder, self._named = folder, None
        self._show_anew()

    def set_columns(self, names: Sequence[str]) -> None:
        """Write these columns in the forms that have columns."""
        offered = self._extent.names if self._extent else ()
        self._columns = None if tuple(names) == offered else tuple(names)
        self._show()

    def reject(self) -> None:
        """Stop what is being written; when nothing is, close."""
        if self._stop is not None:
            self._stop.set()
        else:
            super().reject()

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(max(scaled(680), hint.width()), hint.height())

    # Making

    def _make_widgets(self) -> None:
        is_ranking = self._job.kind is Kind.RANK
        self.forms = ExportForms(targets_for(self._job.kind))
        self.forms.changed.connect(self._show_anew)
        self.limits_bar = LimitsBar(self.tasks)
        self.limits_bar.setVisible(is_ranking)
        self.limits_bar.changed.connect(lambda: self.tasks.start("count", self._count()))
        self._columns_words = Label("", "quiet")
        self.columns_button = LinkButton(self.tr("Choose…"))
        self.columns_button.setAccessibleName(self.tr("Choose columns"))
        self.columns_button.clicked.connect(lambda: self.tasks.start("columns", self._choose_columns()))
        self.summary = ExportSummary()
        self.summary.change_button.clicked.connect(lambda: self.tasks.start("path", self._choose_path()))
        self._missing = IconLine("", wrap=True)
        self._missing.hide()
        self.error_bar = NoticeBar("", "error")
        self.error_bar.hide()
        self.manifest_box = CheckBox(self.tr("Note with the job how this file was made"))
        self.manifest_box.setToolTip(
            self.tr(
                "A small file in the job's folder with the model, options and counts; nothing beside your own file."
            )
        )
        self.manifest_box.setChecked(self._program.settings.keeps_manifests)
        self.manifest_box.clicked.connect(lambda on: self._program.change_settings(keeps_manifests=on))
        self.progress = ThinProgress()
        self._progress_words = Label("", "small")
        self.cancel_button = Button(self.tr("Cancel"))
        self.cancel_button.clicked.connect(self.reject)
        self.save_button = PrimaryButton(self.tr("Save"), "download")
        self.save_button.setDefault(True)
        self.save_button.clicked.connect(lambda: self.tasks.start("write", self.write(self.outputs())))
        self._show_writing(False)

    def _lay_out(self) -> None:
        self._choices = QWidget()
        columns = row(self._columns_words, 4, self.columns_button)
        self._choices.setLayout(row(self.limits_bar, None, columns))
        content = column(
            Label(self.tr("Export as"), "part"),
            self.forms,
            self.rows_bar,
            self._choices,
            self.summary,
            self.manifest_box,
            self._missing,
            self.error_bar,
            gap=LARGE,
            margins=(WIDE, 20, WIDE, SMALL),
        )
        content.setStretch(1, 1)  # the forms
        foot = column(
            self.progress,
            row(self._progress_words, None, self.cancel_button, self.save_button),
            gap=LARGE,
            margins=(WIDE, SMALL, WIDE, 20),
        )
        self.setLayout(column(content, foot, gap=0))

    # Counting and choosing

    async def _count(self) -> None:
        folder, limits = self._program.folder(self._job.id), self.limits_bar.limits()
        items = self.rows_bar.items()
        self._extent = await asyncio.to_thread(read_extent, folder, self._job, limits, items)
        self.rows_bar.show_count(self._extent.counts.items + self._extent.counts.skipped)
        for target in targets_for(self._job.kind):
            if target.measure is Measure.FAILED_ROWS:
                none = self.tr("No row has failed.") if items is None else self.tr("None of these rows has failed.")
                self.forms.set_possible(target.name, "" if self._extent.failed_rows else none)
        self._show()

    async def _look_for_changes(self) -> None:
        jobs, folder = self._program.ledger.jobs(), self._program.folder
        self._changed = await asyncio.to_thread(changed_since_predecessor, self._job, jobs, folder)
        if self._changed is not None:
            self.rows_bar.add(changed_words(self._changed), self._changed.items)

    async def _choose_columns(self) -> None:
        if self._extent is None:
            return
        names = self._extent.names
        is_ranking = self._job.kind is Kind.RANK
        about = (
            self.tr("For forms with columns of any kind; TREC and its like always have the same.")
            if is_ranking
            else self.tr("Your own columns. The id and the vector are always written.")
        )
        chosen = names if self._columns is None else self._columns
        dialog = ColumnsDialog(names, chosen, about=about, needs_one=is_ranking, parent=self)
        if await dialogs.finished(dialog) == QDialog.DialogCode.Accepted:
            self.set_columns(dialog.chosen())

    async def _choose_path(self) -> None:
        outputs = self.outputs()
        if len(outputs) != 1:
            folder = await dialogs.choose_folder(self, self.tr("Save in"), folder=self._folder)
            if folder is not None:
                self.set_folder(folder)
            return
        ((path, target),) = outputs
        chosen = await dialogs.save_file(
            self,
            self.tr("Export"),
            name=path.name,
            filters=(kinds_of_file(target),),
            folder=path.parent,
            suffix=target.suffixes[0].removeprefix(".") if target.suffixes else "",
        )
        if chosen is not None:
            target = self._form_of(chosen, target)
            self.forms.choose(target.name)
            self._folder, self._named = chosen.parent, (chosen, target)
            self._show_anew()

    def _form_of(self, path: Path, chosen: Target) -> Target:
        """The form that the name of the file asks for by its suffix, else the one that is ticked."""
        suffix = path.suffix.lower()
        fitting = [each for each in targets_for(self._job.kind) if suffix in each.suffixes]
        return chosen if suffix in chosen.suffixes or not fitting else fitting[0]

    def _show_anew(self) -> None:
        """Show the choices anew; an error shown before was about other ones."""
        self.error_bar.hide()
        self._show()

    def _show(self) -> None:
        outputs = self.outputs()
        kind = self._job.kind
        count = None if self._columns is None else len(self._columns)
        self.summary.show_outputs(outputs, self._extent, count)
        self.save_button.setText(
            self.tr("Save") if len(outputs) < 2 else self.tr("Save {n} files").format(n=len(outputs))
        )
        self._show_possible()
        names = self._extent.names if self._extent else ()
        self._columns_words.setText(
            self.tr("All columns")
            if count is None
            else self.tr("{n} of {all} columns").format(n=display.number(count), all=display.number(len(names)))
        )
        self.manifest_box.setVisible(any(target.is_for_people for _, target in outputs))
        has_columns = bool(names) and any(target.has_columns for _, target in outputs)
        for widget in (self._columns_words, self.columns_button):
            widget.setVisible(has_columns)
        missing = missing_words(self._extent, kind) if self._extent else ""
        self._missing.set_line(missing)
        self._missing.setVisible(bool(missing))

    # Writing

    async def write(self, outputs: Sequence[Output]) -> None:
        """Write each form to its path, show a notice, and close. The dialog stays open when it is stopped or fails."""
        self.error_bar.hide()
        self._stop = stop = threading.Event()
        options = self._options()
        written: list[Exported] = []
        self._show_writing(True)
        try:
            for number, (path, target) in enumerate(outputs):
                tell = self._teller(stop, number * _STEPS, len(outputs) * _STEPS)
                written.append(await asyncio.to_thread(self._export, path, target, options, tell))
        except _StoppedError:
            self._show_stopped(len(written), len(outputs))
            return
        finally:
            stop.set()
            self._stop = None
            self._show_writing(False)
            if written:
                say_written(self._notices, written)
                self._show()  # the names proposed before exist now
        self._remembered.keep(written[-1].path.parent)
        self.accept()
        if options == ExportOptions(separator=options.separator) and any(each.needs_results for _, each in outputs):
            self.all_written.emit(self._job.id)

    def _export(self, path: Path, target: Target, options: ExportOptions, tell: Callable[[int, int], None]) -> Exported:
        """In a thread."""
        metadata = metadata_of(self._job, connection_title(self._program, self._job))
        columns = options.columns if target.has_columns else None
        changed = self._changed if self._changed and options.items is self._changed.items else None
        with removed_list(changed, path) if changed else nullcontext() as removed:
            written = export(
                self._program.folder(self._job.id),
                metadata,
                path,
                target,
                options=replace(options, columns=columns),
                keeps_manifest=self._program.settings.keeps_manifests,
                progress=tell,
                note=changed.note(removed) if changed else None,
                say=said,
            )
        return replace(written, files=(*written.files, removed)) if removed else written

    def _teller(self, stop: threading.Event, before: int, total: int) -> Callable[[int, int], None]:
        loop = asyncio.get_running_loop()

        def tell(done: int, of: int) -> None:
            if stop.is_set():
                raise _StoppedError
            loop.call_soon_threadsafe(self._show_progress, before + _STEPS * done // max(1, of), total)

        return tell

    def _options(self) -> ExportOptions:
        limits = self.limits_bar.limits() if self._job.kind is Kind.RANK else _NO_LIMITS
        return ExportOptions(
            separator=display.csv_separator(),
            top_k=limits.top_k,
            threshold=limits.threshold,
            columns=self._columns,
            items=self.rows_bar.items(),
        )

    def _show_writing(self, writing: bool) -> None:
        self.progress.setVisible(writing)
        self._progress_words.setText(self.tr("Writing, then reading back…") if writing else "")
        if not writing:
            self.progress.set_parts(0, 1)
        if writing:
            self.cancel_button.setFocus()  # else the list scrolls to the widget that gets the focus
        self.forms.set_open(not writing)
        # Only the controls are disabled, not the labels between them.
        for widget in (
            self.rows_bar,
            self.limits_bar.top,
            self.limits_bar.threshold,
            self.columns_button,
            self.summary.change_button,
        ):
            widget.setEnabled(not writing)
        self._show_possible()

    def _show_possible(self) -> None:
        nothing = "" if self.forms.chosen() else self.tr("Tick at least one form.")
        self.save_button.set_possible(self.tr("A file is being written.") if self.is_writing() else nothing)

    def _show_progress(self, done: int, total: int) -> None:
        if self._stop is not None:
            self.progress.set_parts(done, total)

    def _show_stopped(self, there: int, of: int) -> None:
        pattern = (
            self.tr("Stopped. {n} of {all} files were written.") if there else self.tr("Stopped. Nothing was written.")
        )
        self.error_bar.set_text(pattern.format(n=there, all=of), "info")
        self.error_bar.show()

    def _show_error(self, error: UserError) -> None:
        self.error_bar.set_text(said(error.message), "error")
        self.error_bar.show()


class _StoppedError(Exception):
    """The user has stopped the writing."""
