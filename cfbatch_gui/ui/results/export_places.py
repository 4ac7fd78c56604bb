"""Where exports go: a name for each file that nothing stands under yet."""

from collections.abc import Collection, Sequence
from pathlib import Path

from PySide6.QtCore import QStandardPaths

from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.exports import Target
from cfbatch_gui.ui.results.export_words import file_name

_Output = tuple[Path, Target]


def usual_folder(last: str) -> Path:
    """The folder that was used last, else that for documents, else the user's own."""
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    for name in (last, documents):
        if name and Path(name).is_dir():
            return Path(name)
    return Path.home()


def places_for(folder: Path, job: Job, targets: Sequence[Target]) -> tuple[_Output, ...]:
    """A path for each form, called after the job; no two are the same, and none is there yet."""
    wanted: set[Path] = set()
    found: dict[Path, Target] = {}
    for target in targets:
        path = folder / file_name(job, target)
        if path in wanted:  # two forms with one suffix
            path = _called(path, target, f" ({target.name})")
        wanted.add(path)
        found[_free(path, target, found)] = target
    return tuple(found.items())


def _free(path: Path, target: Target, taken: Collection[Path]) -> Path:
    number, candidate = 1, path
    while candidate in taken or candidate.exists():
        number += 1
        candidate = _called(path, target, f" {number}")
    return candidate


def _called(path: Path, target: Target, addition: str) -> Path:
    """With something more in its name, before a suffix that may have several parts."""
    suffix = "" if target.is_folder else target.suffixes[0]
    return path.with_name(f"{path.name.removesuffix(suffix)}{addition}{suffix}")
