"""`--out`: the files to write when a job is done.

They are stored in the job's folder until they are written, so that `cfbatch resume` can write those of an interrupted
run.
"""

import argparse
import os
import sys
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from cfbatch_gui.cli.language import tr
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports import Exported, export, target_for
from cfbatch_gui.core.system.files import write_own_file


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--out` and `--json`."""
    parser.add_argument(
        "--out",
        metavar=tr("PATH"),
        type=Path,
        action="append",
        default=[],
        help=tr("write the result to a file, in the format of its suffix"),
    )
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object instead of the result"))


def check_outputs(
    paths: Sequence[Path],
    kind: Kind,
    inputs: Sequence[Path],
    *,
    format_name: str = "",
    platform: str = sys.platform,
) -> tuple[Path, ...]:
    """The paths made absolute. `format_name` overrides the format that a path's suffix stands for.

    Names that `platform` takes for one count as one.

    Raises UsageError for a path that could not be written later, before anything is sent and paid for.
    """
    checked: list[Path] = []
    for path in paths:
        target = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link that must be kept
        form = target_for(target, kind, format_name)
        if any(is_one_file(target, each, platform) for each in checked):
            raise UsageError(message("“{path}” is given twice. Each --out needs a name of its own.", path=path))
        if any(target.exists() and each.exists() and target.samefile(each) for each in inputs):
            raise UsageError(message("“{path}” is the file that is read. Choose another name for --out.", path=path))
        if target.is_dir() and not form.is_folder:
            raise UsageError(message("“{path}” is a folder. Give --out the name of a file.", path=path))
        if not target.parent.is_dir():
            raise UsageError(
                message(
                    "There is no folder “{path}”. Make it first, or choose another name for --out.", path=path.parent
                )
            )
        if not os.access(target.parent, os.W_OK):
            raise UsageError(
                message("You may not write in the folder “{path}”. Choose another name for --out.", path=path.parent)
            )
        checked.append(target)
    return tuple(checked)


def is_one_file(one: Path, other: Path, platform: str = sys.platform) -> bool:
    """Whether two absolute paths are of one file on the usual disks of a system, which may ignore case."""
    if platform not in ("win32", "darwin"):
        return one == other
    names = (unicodedata.normalize("NFC", str(path)).casefold() for path in (one, other))
    return next(names) == next(names)


def remember(folder: JobFolder, paths: Sequence[Path]) -> None:
    """Store the files to write in the job's folder. Raises DiskFull and DataError."""
    if paths:
        write_own_file(_outputs_file(folder), msgspec.json.encode([str(path) for path in paths]))


def owed(folder: JobFolder) -> tuple[Path, ...]:
    """The files that were asked for and have not been written yet."""
    try:
        return tuple(map(Path, msgspec.json.decode(_outputs_file(folder).read_bytes(), type=list[str])))
    except (FileNotFoundError, msgspec.MsgspecError):
        return ()


def write_owed(folder: JobFolder, job: Job, title: str, wrote: Callable[[Exported], object]) -> None:
    """Write the stored files, in order. A file that fails and those after it stay stored. Raises UserError."""
    paths = owed(folder)
    for number, path in enumerate(paths, start=1):
        wrote(export(folder, metadata_of(job, title), path))
        if paths[number:]:
            remember(folder, paths[number:])
        else:
            _outputs_file(folder).unlink(missing_ok=True)


def _outputs_file(folder: JobFolder) -> Path:
    return folder.path / "outputs.json"
