"""The dialog of an export: its targets, limits, columns and folder, what will be written, and the writing itself."""

import asyncio
import threading
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLayout, QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results import exports
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import Exported, ExportOptions, Measure, Target, targets_for
from cfbatch_gui.core.results.exports.base import REQUEST_ID
from cfbatch_gui.core.results.exports.people import HEADERS
from cfbatch_gui.core.results.nearest import has_asked
from cfbatch_gui.core.results.outcomes import OutcomeCounts
from cfbatch_gui.core.results.rankings import Rankings
from cfbatch_gui.core.system.file_names import file_stem
from cfbatch_gui.core.system.settings import FolderUse
from cfbatch_gui.core.system.threads import Stopped
from cfbatch_gui.core.versions import ChangedSince, changed_since_predecessor, removed_list
from cfbatch_gui.ui import dialogs, display, widgets
from cfbatch_gui.ui.dialogs import Dialog
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice
from cfbatch_gui.ui.results.results_page import LimitsBar, labelled
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.theme import LARGE, SMALL, TINY, WIDE
from cfbatch_gui.words import figures
from cfbatch_gui.words.figures import worded
from cfbatch_gui.words.languages import said, tr
from cfbatch_gui.words.states import connection_title

_MOST_LINES = 4
_LONGEST_NAME = 40  # characters of the name of a job or column
Output = tuple[Path, Target]


@dataclass(frozen=True, slots=True)
class Extent:
    """`rows` can be written, `kept_rows` of them within the limits, which keep `scores`; `names` are the columns to
    choose from. About so many rows of the user's file as `failed` have no result and will get none. `of_first` are
    the rows of the first file.
    """

    counts: OutcomeCounts
    names: tuple[str, ...]
    rows: int
    kept_rows: int
    failed: int
    scores: int = 0
    dimension: int = 0
    of_first: int = 0


def read_extent(folder: JobFolder, job: Job, options: ExportOptions) -> Extent:
    """Count what can be written, within the limits and the items of the options. Blocking. Raises DataError."""
    results = (Rankings if job.kind is Kind.RANK else Embeddings)(folder, job.failed_batches)
    counts, items = results.outcome_counts(), options.items
    chosen = counts.items + counts.skipped if items is None else len(items)
    if isinstance(results, Rankings):
        scores, done = results.counts(options.top_k, options.threshold, items)
        rows, kept, dimension = chosen, scores + chosen - done, 0
    else:
        present, dimension = results.present(), results.dimension
        done = int((present if items is None else present[[number - 1 for number in items]]).sum())
        scores, rows, kept = 0, done, done
    failed = min(chosen - done, counts.failed + counts.left_out + (counts.skipped if items is None else 0))
    names = exports.columns_of(folder, job.kind, job.purpose)
    of_first = job.rows_in if items is None else len(items)
    return Extent(counts, names, rows, kept, failed, scores, dimension, of_first)


def paths_for(folder: Path, job: Job, targets: Sequence[Target]) -> tuple[Output, ...]:
    """A path for each target, named after the job; no two are the same, and none exists yet."""
    found: dict[Path, Target] = {}
    stem = file_stem(job.name, job.id)
    for target in targets:
        suffix = "" if target.is_folder else target.suffixes[0]
        needs_name = target.is_folder or any(path.suffix == suffix for path in found)  # two forms with one suffix
        name = f"{stem} ({target.name})" if needs_name else stem
        names = chain([name], (f"{name} {number}" for number in count(2)))
        paths = (folder / f"{each}{suffix}" for each in names)
        found[next(path for path in paths if path not in found and not path.exists())] = target
    return tuple(found.items())


def extent_words(extent: Extent, target: Target, options: ExportOptions) -> str:
    """ "3,816 rows", "18,204 rows of 1,024 numbers, about 205 MB"."""
    if target.contents:
        return said(target.contents)
    if target.measure is Measure.SCORES:
        return figures.plural(extent.scores, "{n} score", "{n} scores")
    if target.measure is Measure.FAILED_ROWS:
        return figures.plural(extent.failed, "{n} row", "{n} rows")
    if target.is_own_sheet:
        return figures.plural(extent.of_first, "{n} row", "{n} rows")
    is_limited = target.has_limits and not (target.is_workbook and options.in_own_order)
    count = extent.kept_rows if is_limited else extent.rows
    rows = figures.plural(count, "{n} row", "{n} rows")
    if target.kind is Kind.RANK or (target.is_workbook and not options.has_numbers):
        return rows
    text = worded("{rows} of {n} numbers", rows=rows, n=extent.dimension)
    size = count * extent.dimension * target.bytes_per_number
    return worded("{text}, about {size}", text=text, size=figures.size(size)) if size else text


def missing_words(extent: Extent, first: Target) -> str:
    words = tr("Rows without a vector: {n}. They are left out.")
    if first.is_own_sheet:
        words = tr("Rows without a vector: {n}. They are written too, with their reasons.")
    elif first.kind is Kind.RANK:
        words = tr("Rows without a score: {n}. They are written too, with their reasons.")
    return figures.filled(words, {"n": extent.counts.missing}) if extent.counts.missing else ""


def say_written(notices: Notices, written: Sequence[Exported]) -> None:
    counts = sorted({each.rows for each in written})
    rows = figures.listed([figures.plural(count, "{n} row", "{n} rows") for count in counts])
    pattern = tr("Wrote {rows} to “{name}”.") if len(written) == 1 else tr("Wrote {n} files of {rows}.")
    sentence = pattern.format(n=len(written), rows=rows, name=written[0].path.name)
    lists = [file for exported in written for file in exported.files if file.name.endswith(".removed.csv")]
    if lists:
        sentence = tr("{sentence} What is gone is listed in “{name}”.").format(sentence=sentence, name=lists[0].name)
    bar = notices.show_written(sentence, *(exported.path for exported in written))
    commands = "\n".join(exported.next_command for exported in written if exported.next_command)
    if commands:
        link = bar.add_link(tr("Copy the next command"), lambda: QGuiApplication.clipboard().setText(commands))
        link.setToolTip(display.plain_tip(commands.split("\n")[0]))


_INDENT = 24  # to the left edge of the words of a box
_LEAST_FORMS = 110  # so that the dialog fits a small screen
_COLUMNS_HEIGHT = 300
_FOR_DEVELOPERS = ("external_reference", REQUEST_ID)  # columns


class ExportForms(QWidget):
    changed = Signal()

    def __init__(self, targets: Sequence[Target]) -> None:
        super().__init__()
        in_order = sorted(targets, key=lambda target: (not target.is_for_people, not target.is_of_screening))
        self._targets = tuple(in_order)
        self.first = self._targets[0]
        self._proposed = self.first.name
        self.boxes = {target.name: widgets.CheckBox(said(target.title)) for target in self._targets}
        self.boxes[self._proposed].setChecked(True)
        for box in self.boxes.values():
            box.toggled.connect(self._toggled)
        words = tr("With all numbers of the vectors")
        if self.first.is_of_matches:
            words = tr("With the next best matches, too")
        elif self.first.kind is Kind.RANK:
            words = tr("In my own order, with every row")
        self.excel_box = widgets.CheckBox(words)
        self.excel_box.clicked.connect(self.changed)
        sides = [self._side(tr("For people"), True), self._side(tr("For programs"), False)]
        content = widgets.boxed(widgets.row(*((side, 1) for side in sides), gap=WIDE, margins=(2, 2, SMALL, 2)))
        area = widgets.scrolled(content)
        area.setMinimumHeight(_LEAST_FORMS)
        self.setLayout(widgets.column(area))

    def _side(self, title: str, is_for_people: bool) -> QLayout:
        side = widgets.column(widgets.Label(title, "strong"), gap=10)
        for target in (each for each in self._targets if each.is_for_people is is_for_people):
            box, about = self.boxes[target.name], said(target.about)
            box.setAccessibleDescription(about)
            parts = [widgets.row(_INDENT, (widgets.Label(about, "small", wrap=True), 1), gap=0)]
            if target.is_workbook and (target.is_of_matches or not target.is_own_sheet):
                parts.append(widgets.row(_INDENT, self.excel_box, None, gap=0, margins=(0, TINY, 0, 0)))
            side.addLayout(widgets.column(box, *parts, gap=1))
        side.addStretch(1)
        return side

    def chosen(self) -> tuple[Target, ...]:
        """Those that are ticked, in the order of the list."""
        return tuple(target for target in self._targets if self.boxes[target.name].isChecked())

    def choose(self, *names: str) -> None:
        self._proposed = ""
        for name, box in self.boxes.items():
            box.setChecked(name in names)

    def _toggled(self, ticked: bool) -> None:
        # The first tick replaces the proposal: a user who ticks Excel wants Excel only.
        proposed, self._proposed = self._proposed, ""
        if proposed and ticked:
            self.boxes[proposed].setChecked(False)
        self.changed.emit()


class ColumnsDialog(Dialog):
    """Those of a ranking, and of a list of matches, cannot be accepted without any."""

    def __init__(self, names: Sequence[str], chosen: Collection[str], first: Target, parent: QWidget) -> None:
        super().__init__(tr("Columns"), parent, (400, 0))
        self.accept_button = widgets.PrimaryButton(tr("Use these columns"), on_click=self.accept)
        self._names, self._needs_one = tuple(names), first.kind is Kind.RANK or first.is_of_matches
        words = [said(HEADERS[name]) if name in HEADERS else figures.one_line(name, _LONGEST_NAME) for name in names]
        self.boxes = tuple(widgets.CheckBox(each.replace("&", "&&")) for each in words)
        for name, box in zip(names, self.boxes, strict=True):
            box.setToolTip(display.plain_tip(name))
            box.setChecked(name in chosen)
            box.toggled.connect(self._show_possible)
        content = widgets.boxed(widgets.column(*self.boxes, gap=SMALL, margins=(2, 2, SMALL, 2)))
        area = widgets.scrolled(content)
        area.setMinimumHeight(min(content.sizeHint().height(), _COLUMNS_HEIGHT))
        words_of_all = ((tr("All"), True), (tr("None"), False))
        ticks = (widgets.LinkButton(word, on_click=partial(self._tick_all, on)) for word, on in words_of_all)
        about = tr("Your own columns. The id and the vector are always written.")
        if first.is_of_matches:
            about = tr("The columns of the matches, which stand beside your own.")
        elif self._needs_one:
            about = tr("For forms with columns of any kind; TREC and its like always have the same.")
        whole = (widgets.row(None, *ticks, gap=LARGE), area)
        self.lay_out(tr("Columns to write"), *whole, about=about, buttons=[self.accept_button])
        self._show_possible()

    def chosen(self) -> tuple[str, ...]:
        """The names that are ticked, in the order of the list."""
        return tuple(name for name, box in zip(self._names, self.boxes, strict=True) if box.isChecked())

    def _tick_all(self, ticked: bool) -> None:
        for box in self.boxes:
            box.setChecked(ticked)

    def _show_possible(self) -> None:
        is_empty = self._needs_one and not self.chosen()
        self.accept_button.set_possible(tr("Tick at least one column.") if is_empty else "")


_STEPS = 1_000  # of the progress of each file


class ExportDialog(Dialog):
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
        limits: ExportOptions | None = None,
        choices: Sequence[RowChoice] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Export"), parent, (680, 0))
        self._program, self._notices, self._job = program, notices, job
        self._remembered = program.remembered_folder(FolderUse.EXPORTS)
        self._folder = self._remembered.path or Path(dialogs.documents())
        self._named: Output | None = None  # a name that the user gave, and for which form
        self._columns: tuple[str, ...] | None = None  # all
        self._extent: Extent | None = None
        self._stop: threading.Event | None = None
        self.tasks = Tasks(self, lambda error: self.error_bar.say(said(error.message), "error"))
        self._changed: ChangedSince | None = None
        self._make_widgets(choices)
        self.limits_bar.show_limits(limits or ExportOptions())
        # What is shown before it stands in the dialog is a window of its own for a moment.
        self.limits_bar.setVisible(job.kind is Kind.RANK)
        self._rows_field.setVisible(bool(choices))
        self._show_writing(False)
        self.forms.boxes[self.forms.first.name].setFocus()
        self._show()
        self._count_anew()
        self.tasks.start("version", self._look_for_changes())

    def outputs(self) -> tuple[Output, ...]:
        chosen = self.forms.chosen()
        if self._named is not None and chosen == (self._named[1],):
            return (self._named,)
        return paths_for(self._folder, self._job, chosen)

    def is_writing(self) -> bool:
        return self._stop is not None

    def set_folder(self, folder: Path) -> None:
        self._folder, self._named = folder, None
        self._show_anew()

    def reject(self) -> None:
        if self._stop is not None:
            self._stop.set()
        else:
            super().reject()

    # Making

    def _make_widgets(self, choices: Sequence[RowChoice]) -> None:
        job = self._job
        targets = targets_for(job.kind, job.purpose, is_screened=bool(job.options.screening))
        if any(each.is_of_questions for each in targets) and not has_asked(self._program.folder(job.id)):
            targets = tuple(each for each in targets if not each.is_of_questions)
        self._targets = targets
        self.forms = ExportForms(targets)
        self.forms.changed.connect(self._show_anew)
        self.limits_bar = LimitsBar()
        self.limits_bar.changed.connect(self._count_anew)
        self.rows = widgets.Choice(tr("Rows"), [(tr("All rows"), None)], self._count_anew)
        for choice in choices:
            self.rows.add(choice.words(), choice.items)
            if choice.is_proposed:
                self.rows.set_value(choice.items)
        self._rows_field = labelled(tr("Rows"), self.rows)
        self.columns_button = widgets.LinkButton(on_click=self._starting("columns", self._choose_columns))
        self.lines = widgets.LabelGrid("strong", "quiet", stretches=(1, 0), elided=0)
        self._folder_words = widgets.ElidedLabel("", "quiet")
        self.change_button = widgets.LinkButton(tr("Change…"), on_click=self._starting("path", self._choose_path))
        self.change_button.setAccessibleName(tr("Change where to save"))
        self._missing = widgets.Saying("info")
        self.error_bar = widgets.NoticeBar("", "error")
        self.error_bar.hide()
        self.progress = widgets.ThinProgress()
        self._progress_words = widgets.Label("", "small")
        save = self._starting("write", lambda: self.write(self.outputs()))
        self.save_button = widgets.PrimaryButton(tr("Save"), "download", save)
        folder = widgets.row((self._folder_words, 1), 12, self.change_button)
        self._choices = widgets.boxed(
            widgets.column(
                widgets.Flow(self._rows_field, None, self.columns_button),
                widgets.row(self.limits_bar, None),
                (self.forms, 1),
                widgets.Card(self.lines, folder, inset=True, gap=6),
                self._missing,
                self.error_bar,
                gap=LARGE,
            )
        )
        content = ((self._choices, 1), self.progress)
        self.lay_out(tr("Export as"), *content, buttons=[self.save_button], beside=[self._progress_words])

    def _starting(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], object]:
        return lambda: self.tasks.start(name, work())

    # Counting and choosing

    def _count_anew(self, *_: object) -> None:
        self.tasks.start("count", self._count())

    async def _count(self) -> None:
        options = self._options()
        self._extent = await asyncio.to_thread(read_extent, self._program.folder(self._job.id), self._job, options)
        self.rows.setItemText(0, worded("All {n}", n=self._extent.counts.items + self._extent.counts.skipped))
        self._show()

    async def _look_for_changes(self) -> None:
        jobs, folder = self._program.ledger.jobs(), self._program.folder
        self._changed = changed = await asyncio.to_thread(changed_since_predecessor, self._job, jobs, folder)
        if changed is not None:
            name = figures.one_line(changed.earlier.name, _LONGEST_NAME)
            self.rows.add(worded("Changed since “{name}” ({n})", name=name, n=len(changed.items)), changed.items)
            self._rows_field.show()

    async def _choose_columns(self) -> None:
        if self._extent is None:
            return
        developers = self._program.settings.for_developers
        names = tuple(name for name in self._extent.names if developers or name not in _FOR_DEVELOPERS)
        chosen = names if self._columns is None else self._columns
        dialog = ColumnsDialog(names, chosen, self.forms.first, self)
        if await dialogs.finished(dialog) == QDialog.DialogCode.Accepted:
            self._columns = None if dialog.chosen() == names else dialog.chosen()
            self._show()

    async def _choose_path(self) -> None:
        outputs = self.outputs()
        if len(outputs) != 1:
            folder = await dialogs.choose_folder(self, tr("Save in"), folder=self._folder)
            if folder is not None:
                self.set_folder(folder)
            return
        ((path, target),) = outputs
        chosen = await dialogs.save_file(
            self,
            tr("Export"),
            name=path.name,
            filters=(f"{said(target.title)} ({' '.join(f'*{suffix}' for suffix in target.suffixes) or '*'})",),
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
        fitting = [each for each in self._targets if each.fit_of(path)]
        return chosen if chosen.fit_of(path) or not fitting else max(fitting, key=lambda each: each.fit_of(path))

    def _show_anew(self) -> None:
        self.error_bar.hide()
        self._show()

    def _show(self) -> None:
        outputs, extent, options = self.outputs(), self._extent, self._options()
        shown = outputs if len(outputs) <= _MOST_LINES else outputs[: _MOST_LINES - 1]
        counting = tr("Counting…")
        lines = [(path.name, extent_words(extent, target, options) if extent else counting) for path, target in shown]
        if rest := len(outputs) - len(shown):
            lines.append((worded("and {n} more", n=rest), ""))
        self.lines.show_lines(lines)
        folder = worded("In {folder}", folder=str(outputs[0][0].parent)) if outputs else ""
        self._folder_words.setText(folder or tr("Nothing is ticked."))
        self.change_button.setVisible(bool(outputs))
        self.save_button.setText(tr("Save") if len(outputs) < 2 else worded("Save {n} files", n=len(outputs)))
        self._show_possible()
        names = extent.names if extent else ()
        words = tr("All columns of the matches…") if self.forms.first.is_of_matches else tr("All columns…")
        if self._columns is not None:
            words = worded("{n} of {all} columns…", n=len(self._columns), all=len(names))
        self.columns_button.setText(words)
        self.columns_button.setVisible(bool(names) and any(map(self._has_columns, self.forms.chosen())))
        self.forms.excel_box.setVisible(any(target.is_workbook for _, target in outputs))
        self._missing.set_line(missing_words(extent, self.forms.first) if extent else "")

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
        except Stopped:
            words = tr("Stopped. Nothing was written.")
            if written:
                words = worded("Stopped. {n} of {all} files were written.", n=len(written), all=len(outputs))
            self.error_bar.say(words, "info")
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
        limits = (options.top_k, options.threshold, options.columns, options.items)
        if limits == (None,) * len(limits) and any(
            each.needs_results and not each.is_own_sheet and not each.is_of_questions for _, each in outputs
        ):
            self.all_written.emit(self._job.id)

    def _export(self, path: Path, target: Target, options: ExportOptions, tell: Callable[[int, int], None]) -> Exported:
        columns = options.columns if self._has_columns(target) else None
        changed = self._changed if self._changed and options.items is self._changed.items else None
        with removed_list(changed, path) if changed else nullcontext() as removed:
            written = exports.export(
                self._program.folder(self._job.id),
                self._job,
                path,
                target,
                options=replace(options, columns=columns),
                progress=tell,
                note=changed.note(removed) if changed else None,
                connection=connection_title(self._program, self._job),
                say=said,
                decided=self._program.decisions_of(self._job).find,
            )
        return replace(written, files=(*written.files, removed)) if removed else written

    def _has_columns(self, target: Target) -> bool:
        """Whether the columns to choose from are those of this form; beside matches they are those of list B."""
        return target.has_columns and target.is_of_matches is self.forms.first.is_of_matches

    def _teller(self, stop: threading.Event, before: int, total: int) -> Callable[[int, int], None]:
        loop = asyncio.get_running_loop()

        def tell(done: int, of: int) -> None:
            if stop.is_set():
                raise Stopped
            loop.call_soon_threadsafe(self.progress.set_parts, before + _STEPS * done // max(1, of), total)

        return tell

    def _options(self) -> ExportOptions:
        is_ranking, for_excel = self._job.kind is Kind.RANK, self.forms.excel_box.isChecked()
        is_of_matches = self.forms.first.is_of_matches
        best = self._job.options.matching.best if is_of_matches and for_excel else None
        return replace(
            self.limits_bar.limits() if is_ranking else ExportOptions(top_k=best),
            separator=display.csv_separator(),
            columns=self._columns,
            items=self.rows.currentData(),
            has_numbers=for_excel and not (is_ranking or is_of_matches),
            in_own_order=for_excel and is_ranking,
        )

    def _show_writing(self, writing: bool) -> None:
        self.progress.setVisible(writing)
        self._progress_words.setText(tr("Writing…") if writing else "")
        self.progress.set_parts(0, 1)
        if writing:
            self.setFocus()  # else the list scrolls to the widget that gets it, and a second Enter stops the work
        self._choices.setEnabled(not writing)
        self._show_possible()

    def _show_possible(self) -> None:
        chosen, nothing = self.forms.chosen(), ""
        if not chosen:
            nothing = tr("Tick at least one form.")
        elif self._extent and not self._extent.failed and any(each.measure is Measure.FAILED_ROWS for each in chosen):
            nothing = tr("Every row has a result. Untick the failed rows.")
        self.save_button.set_possible(tr("A file is being written.") if self.is_writing() else nothing)
