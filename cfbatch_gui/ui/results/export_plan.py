"""What an export will write: how much of what, under which names in which folder; and what is said when it is there."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import Exported, ExportOptions, Measure, Target, columns_of
from cfbatch_gui.core.results.exports.score_rows import keeps
from cfbatch_gui.core.results.outcomes import OutcomeCounts, Status
from cfbatch_gui.core.results.rankings import Rankings
from cfbatch_gui.core.system.file_names import file_stem
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.versions import ChangedSince
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.results.loaded_results import failed_batches
from cfbatch_gui.ui.widgets import Card, ElidedLabel, Label, LinkButton, boxed, column, row

_MOST_LINES = 4
_LONGEST_NAME = 40  # characters of a job's name
Output = tuple[Path, Target]


@dataclass(frozen=True, slots=True)
class Extent:
    """`kept`: scores within the limits; `names`: columns that can be chosen."""

    counts: OutcomeCounts
    kept: int
    names: tuple[str, ...]
    dimension: int
    chosen: int | None = None  # of the rows, where not all are written
    chosen_failed: int = 0

    @property
    def failed_rows(self) -> int:
        """About how many rows of the user's file have no result and will get none."""
        if self.chosen is not None:
            return self.chosen_failed
        return self.counts.failed + self.counts.left_out + self.counts.skipped

    def rows(self, kind: Kind, *, limited: bool) -> int:
        if self.chosen is not None:
            return self.chosen
        if kind is Kind.EMBED:
            return self.counts.done
        return (self.kept if limited else self.counts.done) + self.counts.items - self.counts.done + self.counts.skipped


def read_extent(folder: JobFolder, job: Job, options: ExportOptions) -> Extent:
    """Count what can be written, within the limits and the items of the options. Blocking. Raises DataError."""
    failed = failed_batches(job)
    names = columns_of(folder, job.kind)
    if job.kind is Kind.RANK:
        rankings = Rankings(folder, failed)
        if options.items is not None:
            some = [each for block in rankings.blocks() for each in block if options.has_item(each.item_no)]
            kept = [each for each in some if keeps(each, options)]
            lost = sum(each.status in (Status.FAILED, Status.LEFT_OUT) for each in some)
            scored = sum(each.score is not None for each in kept)
            return Extent(rankings.outcome_counts(), scored, names, 0, len(kept), lost)
        return Extent(rankings.outcome_counts(), rankings.counts(options.top_k, options.threshold).kept, names, 0)
    embeddings = Embeddings(folder, failed)
    counts = embeddings.outcome_counts()
    if options.items is None:
        return Extent(counts, 0, names, embeddings.dimension)
    there = embeddings.present()[[number - 1 for number in sorted(options.items)]]
    chosen = int(there.sum())
    lost = min(len(there) - chosen, counts.failed + counts.left_out)
    return Extent(counts, 0, names, embeddings.dimension, chosen, lost)


def changed_words(changed: ChangedSince) -> str:
    name = display.one_line(changed.earlier.name, _LONGEST_NAME)
    return tr("Changed since “{name}” ({n})").format(name=name, n=display.number(len(changed.items)))


def paths_for(folder: Path, job: Job, targets: Sequence[Target]) -> tuple[Output, ...]:
    """A path for each target, named after the job; no two are the same, and none exists yet."""
    wanted: set[Path] = set()
    found: dict[Path, Target] = {}
    for target in targets:
        path = folder / file_name(job, target)
        if path in wanted:  # two forms with one suffix
            path = _called(path, target, f" ({target.name})")
        wanted.add(path)
        found[_free(path, target, found)] = target
    return tuple(found.items())


def file_name(job: Job, target: Target) -> str:
    ending = f" ({target.name})" if target.is_folder else target.suffixes[0]
    return f"{file_stem(job.name, job.id)}{ending}"


def kinds_of_file(target: Target) -> str:
    if target.is_folder:
        return f"{said(target.title)} (*)"
    return f"{said(target.title)} ({' '.join(f'*{suffix}' for suffix in target.suffixes)})"


class ExportSummary(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.change_button = LinkButton(self.tr("Change…"))
        self.change_button.setAccessibleName(self.tr("Change where to save"))
        self.folder = ElidedLabel("", "quiet")
        self.lines = tuple((ElidedLabel("", "strong"), Label("", "quiet")) for _ in range(_MOST_LINES))
        self._more = Label("", "quiet")
        files: QVBoxLayout = column(gap=4)
        self._rows: list[QWidget] = []
        for name, what in self.lines:
            line = boxed(row((name, 1), 12, what))
            name.setMinimumWidth(160)
            self._rows.append(line)
            files.addWidget(line)
        folder_row = row((self.folder, 1), 12, self.change_button)
        self.setLayout(column(Card(files, self._more, folder_row, inset=True, gap=6)))

    def show_outputs(self, outputs: Sequence[Output], extent: Extent | None, columns: int | None) -> None:
        """Without an `extent` it is still being counted; `columns` is how many are chosen, None for all."""
        shown = outputs if len(outputs) <= _MOST_LINES else outputs[: _MOST_LINES - 1]
        for index, (line, (name, what)) in enumerate(zip(self._rows, self.lines, strict=True)):
            line.setVisible(index < len(shown))
            if index < len(shown):
                path, target = shown[index]
                name.setText(path.name)
                words = extent_words(extent, target, columns) if extent else self.tr("Counting…")
                what.setText(words)
        rest = len(outputs) - len(shown)
        self._more.setText(self.tr("and {n} more").format(n=rest))
        self._more.setVisible(rest > 0)
        folder = str(outputs[0][0].parent) if outputs else ""
        self.folder.setText(self.tr("In {folder}").format(folder=folder) if folder else self.tr("Nothing is ticked."))
        self.change_button.setVisible(bool(outputs))


def extent_words(extent: Extent, target: Target, columns: int | None = None) -> str:
    """ "3,816 rows of 15 columns", "18,204 rows of 1,024 numbers, about 205 MB". `columns`: how many are chosen."""
    count = extent.rows(target.kind, limited=target.has_limits)
    rows = display.plural(count, "{n} row", "{n} rows")
    if target.contents:
        return said(target.contents)
    if target.measure is Measure.FAILED_ROWS:
        return display.plural(extent.failed_rows, "{n} row", "{n} rows")
    if target.measure is Measure.SCORES:
        return display.plural(extent.kept, "{n} score", "{n} scores")
    if target.kind is Kind.RANK and target.suffixes == (".xlsx",) and columns is None:
        return rows  # which columns it has depends on what they hold
    if target.kind is Kind.RANK:
        wide = columns if columns is not None and target.has_columns else len(extent.names)
        each = display.plural(wide, "{n} column", "{n} columns")
        return tr("{rows} of {columns}").format(rows=rows, columns=each)
    text = tr("{rows} of {n} numbers").format(rows=rows, n=display.number(extent.dimension))
    if not target.bytes_per_number:
        return text
    return tr("{text}, about {size}").format(
        text=text, size=display.size(count * extent.dimension * target.bytes_per_number)
    )


def missing_words(extent: Extent, kind: Kind) -> str:
    missing = extent.counts.items - extent.counts.done + extent.counts.skipped
    if not missing:
        return ""
    if missing == extent.counts.waiting:
        return _waiting_words(missing, kind)
    if kind is Kind.RANK:
        return display.plural(
            missing,
            "{n} row has no score. It is written too, with its reason.",
            "{n} rows have no score. They are written too, with their reasons.",
        )
    return display.plural(
        missing,
        "{n} row has no vector and is left out; the file beside it says so.",
        "{n} rows have no vector and are left out; the file beside it says so.",
    )


def _waiting_words(missing: int, kind: Kind) -> str:
    if kind is Kind.RANK:
        return display.plural(
            missing,
            "{n} row has no score yet. It is written too, without one.",
            "{n} rows have no score yet. They are written too, without one.",
        )
    return display.plural(
        missing,
        "{n} row has no vector yet and is left out; the file beside it says so.",
        "{n} rows have no vector yet and are left out; the file beside it says so.",
    )


def _free(path: Path, target: Target, taken: Collection[Path]) -> Path:
    number, candidate = 1, path
    while candidate in taken or candidate.exists():
        number += 1
        candidate = _called(path, target, f" {number}")
    return candidate


def _called(path: Path, target: Target, addition: str) -> Path:
    suffix = "" if target.is_folder else target.suffixes[0]
    return path.with_name(f"{path.name.removesuffix(suffix)}{addition}{suffix}")


_TIP_LINES = 6


def say_written(notices: Notices, written: Sequence[Exported]) -> None:
    rows = {exported.rows for exported in written}
    counted = display.plural(max(rows), "{n} row", "{n} rows")
    if len(written) == 1:
        sentence = tr("Wrote {rows} to “{name}”.").format(rows=counted, name=written[0].path.name)
    elif len(rows) == 1:
        sentence = tr("Wrote {n} files of {rows}.").format(n=len(written), rows=counted)
    else:
        sentence = tr("Wrote {n} files.").format(n=len(written))
    lists = [file for exported in written for file in exported.files if file.name.endswith(".removed.csv")]
    if lists:
        sentence = tr("{sentence} What is gone is listed in “{name}”.").format(sentence=sentence, name=lists[0].name)
    bar = notices.show_written(sentence, *(exported.path for exported in written))
    commands = "\n".join(exported.next_command for exported in written if exported.next_command)
    if commands:
        link = bar.add_link(tr("Copy the next command"), lambda: QGuiApplication.clipboard().setText(commands))
        link.setToolTip(display.plain_tip(_beginning(commands)))


def _beginning(commands: str) -> str:
    lines = commands.split("\n")
    return "\n".join(lines if len(lines) <= _TIP_LINES else [*lines[: _TIP_LINES - 1], "…"])
