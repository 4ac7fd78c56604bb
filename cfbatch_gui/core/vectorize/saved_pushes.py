"""The last push of a job into each index, kept in the job's folder: `vectorize.json`."""

import threading
from pathlib import Path

import msgspec

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.vectorize.push_values import Push

_VERSION = 1
_SAVING = threading.Lock()  # a job may go into two indexes at the same time


class _Saved(msgspec.Struct, frozen=True):
    version: int = _VERSION
    pushes: tuple[Push, ...] = ()


def saved_pushes(folder: JobFolder) -> tuple[Push, ...]:
    """The pushes of a job, the newest first; none where the file is damaged or of a newer version.

    Nothing depends on it but what is shown: what an index holds is in the index's own record.
    """
    try:
        found = msgspec.json.decode(_path(folder).read_bytes(), type=_Saved)
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
        return ()
    return found.pushes if found.version == _VERSION else ()


def saved_push(folder: JobFolder, account_mark: str, index: str) -> Push | None:
    """The last push into one index of one account, None before the first."""
    pushes = saved_pushes(folder)
    return next((each for each in pushes if (each.account_mark, each.index) == (account_mark, index)), None)


def save_push(folder: JobFolder, push: Push) -> None:
    """Keep a push in place of the earlier one into the same index. Raises DiskFull and DataError."""
    key = (push.account_mark, push.index)
    with _SAVING:
        others = (each for each in saved_pushes(folder) if (each.account_mark, each.index) != key)
        write_own_file(_path(folder), msgspec.json.encode(_Saved(pushes=(push, *others)), enc_hook=str))


def _path(folder: JobFolder) -> Path:
    return folder.path / "vectorize.json"
