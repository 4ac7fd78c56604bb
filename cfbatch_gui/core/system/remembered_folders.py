"""The folder that was used last for each kind of file, so that a dialog begins where the user last was."""

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from cfbatch_gui.core.system.settings import SettingsStore


class FolderUse(StrEnum):
    """The kinds of file that are kept in a folder of their own."""

    INPUTS = "inputs"  # files that are opened
    EXPORTS = "exports"
    PICTURES = "pictures"
    COMPARISONS = "comparisons"
    JUDGEMENTS = "judgements"  # in and out
    KEEP_LISTS = "keep-lists"
    PROBLEM_ROWS = "problem-rows"
    REQUESTS = "requests"  # of a job, beside its code
    WORKERS = "workers"
    REPORTS = "reports"
    BACKUPS = "backups"


@dataclass(frozen=True, slots=True)
class RememberedFolder:
    """The folder of one kind of file, read from the settings each time it is asked for."""

    settings: SettingsStore
    use: FolderUse

    @property
    def path(self) -> Path | None:
        """The folder that was used last for this kind, else for any; None if neither exists any more."""
        kept = self.settings.current
        names = (kept.folders.get(self.use, ""), kept.last_folder)
        # os.path's, which never raises: a share of a server that is off is neither there nor gone on Windows.
        return next((Path(name) for name in names if name and os.path.isdir(name)), None)  # noqa: PTH112

    def keep(self, folder: Path) -> None:
        """Remember a folder; saved a little later."""
        kept, name = self.settings.current, str(folder)
        if kept.folders.get(self.use) != name or kept.last_folder != name:
            self.settings.change(folders={**kept.folders, self.use.value: name}, last_folder=name)
