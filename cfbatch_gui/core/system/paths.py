"""The files and folders of the program's own data folder."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from cfbatch_gui.core.errors import DataError

OVERRIDE = "CFBATCH_DATA_DIR"


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths below the data folder `root`. Creating an instance does not access the disk."""

    root: Path

    @property
    def ledger(self) -> Path:
        """The SQLite database of jobs, batches and their states."""
        return self.root / "ledger.db"

    @property
    def lock(self) -> Path:
        """The lock file, locked by the one process that may write the ledger."""
        return self.root / "ledger.lock"

    @property
    def reserve_file(self) -> Path:
        """The reserve file, deleted when the disk is full to free space for the ledger."""
        return self.root / "ballast"

    @property
    def unfinished(self) -> Path:
        """The folder with one list for each process of the files it is writing; see unfinished.py."""
        return self.root / "unfinished"

    @property
    def submissions(self) -> Path:
        """One JSON line for each batch that the service has accepted; kept separately in case the ledger is lost."""
        return self.root / "submissions.jsonl"

    @property
    def jobs(self) -> Path:
        """One folder for each job."""
        return self.root / "jobs"

    def job(self, job_id: str) -> Path:
        """The folder of one job."""
        return self.jobs / job_id

    @property
    def practice(self) -> Path:
        """The folder of the practice service's queue, which the client does not read."""
        return self.root / "practice"

    @property
    def settings(self) -> Path:
        """See settings.py."""
        return self.root / "settings.json"

    @property
    def recipes(self) -> Path:
        """See inputs/columns/recipes.py."""
        return self.root / "recipes.json"

    @property
    def calibration(self) -> Path:
        """The measured and the estimated sizes of finished jobs; see jobs/plan/calibration.py."""
        return self.root / "calibration.json"

    @property
    def traffic(self) -> Path:
        """One JSON line for each exchange with a host; see workers_ai/traffic.py."""
        return self.root / "traffic.jsonl"

    def catalogue(self, connection_id: str) -> Path:
        """The list of models that a connection returned last."""
        return self.root / "catalogues" / f"{connection_id}.json"

    def learned(self, connection_id: str) -> Path:
        """What checks of the service have found out about a connection; see workers_ai/probe/learned.py."""
        return self.root / "learned" / f"{connection_id}.json"

    @property
    def logs(self) -> Path:
        """The folder of the log files."""
        return self.root / "logs"

    @property
    def log(self) -> Path:
        """The current log file; older ones in the same folder have a number appended."""
        return self.logs / "cfbatch.log"

    def create(self) -> None:
        """Create the folders, accessible to this user only. Raises DataError."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in (self.jobs, self.practice, self.logs):
                folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise DataError(
                f"The folder for the program's data, “{self.root}”, cannot be made or written. Choose another one with"
                f" --data-dir or {OVERRIDE}.",
                detail=f"{self.root}: {error.strerror}",
            ) from error


def default_root(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The data folder: `CFBATCH_DATA_DIR` if set, else the platform's folder for application data."""
    if environ.get(OVERRIDE):
        return Path(environ[OVERRIDE]).expanduser().absolute()
    return Path(_platform_root(environ, platform))


def _platform_root(environ: Mapping[str, str], platform: str) -> PurePath:
    if platform == "win32":
        local = environ.get("LOCALAPPDATA")
        return PureWindowsPath(local or Path.home() / "AppData" / "Local") / "CF Batch"
    home = PurePosixPath(environ.get("HOME") or Path.home().as_posix())
    if platform == "darwin":
        return home / "Library" / "Application Support" / "CF Batch"
    share = environ.get("XDG_DATA_HOME", "")
    # The XDG Base Directory Specification requires relative paths to be ignored.
    return (PurePosixPath(share) if share.startswith("/") else home / ".local" / "share") / "cfbatch"
