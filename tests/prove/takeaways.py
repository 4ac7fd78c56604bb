"""Every kind of file that users can export, with the function that writes it: results in every format, and lists."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cfbatch_gui.cli import compare as compare_command
from cfbatch_gui.cli import export as export_command
from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder import row_problems
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import TARGETS, Target, csv_tables
from cfbatch_gui.core.results.near_duplicates import find_duplicates
from cfbatch_gui.core.results.text_map import make_map
from cfbatch_gui.core.system import files
from cfbatch_gui.core.system.files import listing
from cfbatch_gui.core.system.paths import Paths
from tests.prove import child


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs to export: one of each kind, and a second ranking to be compared with the first."""

    data: Path
    ids: Mapping[Kind, str]
    second: str

    def folder(self, kind: Kind) -> JobFolder:
        """The folder of the job of this kind."""
        return JobFolder(Paths(self.data).job(self.ids[kind]))


@dataclass(frozen=True, slots=True)
class Takeaway:
    """An export. `suffix` is "" for a folder. `command` makes the command that writes to a path.

    `writer` is the writing function, as an owner and an attribute name: a kill's time is counted from its call, and a
    full disk is simulated while it runs.
    """

    kind: Kind
    name: str
    suffix: str
    writer: tuple[Any, str]
    command: Callable[[Jobs, Path], child.Command]


def _exported(kind: Kind, target: Target) -> Takeaway:
    def command(jobs: Jobs, path: Path) -> child.Command:
        arguments = ("--format", target.name, "--out", path, "--data-dir", jobs.data)
        return child.cfbatch("export", jobs.ids[kind], *arguments)

    suffix = "" if target.is_folder else target.suffixes[0]
    return Takeaway(kind, target.name, suffix, (export_command, "export"), command)


def _compared(name: str, writer: str, option: str) -> Takeaway:
    def command(jobs: Jobs, path: Path) -> child.Command:
        return child.cfbatch("compare", jobs.ids[Kind.RANK], jobs.second, option, path, "--data-dir", jobs.data)

    return Takeaway(Kind.RANK, name, ".csv", (compare_command, writer), command)


def _called(kind: Kind, name: str, writer: tuple[Any, str], write: Callable[[JobFolder, Path], object]) -> Takeaway:
    """An export by a direct call as in the window: listed as unfinished meanwhile. A UserError means status FAILED."""

    def command(jobs: Jobs, path: Path) -> child.Command:
        def run() -> int:
            try:
                with listing(Paths(jobs.data).unfinished):
                    write(jobs.folder(kind), path)
            except UserError:
                return ExitStatus.FAILED
            return ExitStatus.DONE

        return run

    return Takeaway(kind, name, ".csv", writer, command)


def _write_keep_list(folder: JobFolder, path: Path) -> None:
    embeddings = Embeddings(folder)
    csv_tables.write_keep_list(path, embeddings, find_duplicates(embeddings, 0.5))


def _write_plot_data(folder: JobFolder, path: Path) -> None:
    # Imported here, so that the process that forks the children does not load Qt.
    from cfbatch_gui.ui.plots.plot import PlotData

    places = make_map(Embeddings(folder))
    files.write_atomically(path, PlotData(("x", "y"), places.points.tolist()).csv())


TAKEAWAYS = (
    *(_exported(target.kind, target) for target in TARGETS),
    _compared("compared-texts", "write_texts", "--out"),
    _compared("compared-queries", "write_queries", "--queries"),
    _called(
        Kind.RANK,
        "rejected",
        (row_problems, "save_problems"),
        lambda folder, path: row_problems.save_problems(folder, path),  # noqa: PLW0108  # looked up when called
    ),
    _called(Kind.EMBED, "keep-list", (csv_tables, "write_keep_list"), _write_keep_list),
    _called(Kind.EMBED, "plot-data", (files, "write_atomically"), _write_plot_data),
)
