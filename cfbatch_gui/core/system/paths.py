"""Where the program's files are: its data folder, the folder for its state, and the files that ship with it."""

import errno
import hashlib
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.system.files import OWN_FOLDER, flush_folder

OVERRIDE = "CFBATCH_DATA_DIR"
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class _Below:
    """An attribute: what has this name in the data folder."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, paths: "Paths", _: type["Paths"] | None = None) -> Path:
        return paths.root / self.name


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths below the data folder `root`; `state` is outside of it, None where there is none."""

    root: Path
    state: Path | None = None

    ledger = _Below("ledger.db")
    lock = _Below("ledger.lock")
    reserve_file = _Below("ballast")  # deleted when the disk is full, to free space for the ledger
    unfinished = _Below("unfinished")  # a list for each process of the files that it is writing; see files.py
    submissions = _Below("submissions.jsonl")  # a line for each attempt, in case the ledger is lost
    identity = _Below("folder.json")  # the data folder's own id and place
    jobs = _Below("jobs")
    judgements = _Below("judgements.db")  # all books
    vectorize = _Below("vectorize")  # what was put into each index of Vectorize
    practice = _Below("practice")  # the practice service's queue, which the client does not read
    settings = _Below("settings.json")
    traffic = _Below("traffic.db")  # sums of the exchanges with each host
    catalogues = _Below("catalogues")
    window_socket = _Below("window")  # that the open window listens on; see ui/window/app.py
    logs = _Below("logs")

    @property
    def log(self) -> Path:
        """The current log file; older ones in the same folder have a number appended."""
        return self.logs / "cfbatch.log"

    def job(self, job_id: str) -> Path:
        return self.jobs / job_id

    def vectorize_record(self, account_mark: str, index: str) -> Path:
        """What was put into one index. On some disks names that differ in case only are one."""
        told_apart = "" if index == index.lower() else f"-{hashlib.sha256(index.encode()).hexdigest()[:8]}"
        return self.vectorize / f"{account_mark}-{index}{told_apart}.db"

    def catalogue(self, connection_id: str) -> Path:
        return self.catalogues / f"{connection_id}.json"

    def has_ledger(self) -> bool:
        """Whether there is one, and it is not empty."""
        return self.ledger.exists() and self.ledger.stat().st_size > 0

    def create(self) -> None:
        """Create the folders, accessible to this user only; a power failure does not remove them.

        Raises DataError.
        """
        try:
            missing = [folder for folder in (self.root, *self.root.parents) if not folder.exists()]
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in (self.jobs, self.practice, self.logs):
                folder.mkdir(mode=0o700, exist_ok=True)
            for folder in missing:
                flush_folder(folder.parent)
            for folder in (self.root, self.jobs):  # what is in them may be writable, and get the start half-way
                if not os.access(folder, os.W_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        except OSError as error:
            raise self.failure(error) from error
        self._tighten()

    def failure(self, error: OSError) -> DataError:
        """The sentence for what the system said when something was to be made or written in the data folder."""
        detail = f"{error.filename or self.root}: {error.strerror}"
        if error.errno in _READ_ONLY and self.root.is_dir():
            return DataError(read_only_sentence(self.root), detail=detail)
        return DataError(
            message("folder_program_data_folder_cannot_be", folder=self.root, variable=OVERRIDE), detail=detail
        )

    def _tighten(self) -> None:
        """Take other users' rights from what is ours; errors are ignored."""
        for member in vars(Paths).values():
            path = self.root / member.name if isinstance(member, _Below) else None
            with suppress(OSError):
                if path is not None and not path.is_symlink():
                    path.chmod(path.stat().st_mode & OWN_FOLDER)


def read_only_sentence(folder: Path) -> Message:
    """What to say of a data folder in which nothing can be written."""
    return message("folder_program_data_folder_is_read", folder=folder, variable=OVERRIDE)


def default_root(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The data folder: `CFBATCH_DATA_DIR` if set, else the platform's folder for application data."""
    if environ.get(OVERRIDE):
        return Path(environ[OVERRIDE]).expanduser().absolute()
    if platform == "win32":
        return Path(PureWindowsPath(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "CF Batch")
    home = environ.get("HOME") or Path.home().as_posix()
    if platform == "darwin":
        return Path(home, "Library", "Application Support", "CF Batch")
    return Path(_xdg(environ, "XDG_DATA_HOME") or f"{home}/.local/share", "cfbatch")


def state_root(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """The user's own folder for the state of this program, apart from its data; None when the system names none."""
    if platform == "win32":
        roaming = environ.get("APPDATA", "")
        return Path(roaming) / "CF Batch" if roaming else None
    home = environ.get("HOME", "")
    if platform == "darwin":
        return Path(home, "Library", "Preferences", "CF Batch") if home else None
    state = _xdg(environ, "XDG_STATE_HOME") or (f"{home}/.local/state" if home else "")
    return Path(state, "cfbatch") if state else None


def _xdg(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "") if environ.get(name, "").startswith("/") else ""
