"""Take away other users' rights to the data folder, also to one that was there with wider ones.

What the program makes it makes with mode 0600 and 0700 from the start. This is for a folder that was made by hand,
copied without its permissions, or written by an older version.
"""

import os
import stat
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from cfbatch_gui.core.system.files import OWN_FILE, OWN_FOLDER

_OTHERS = 0o077
# Also a database's journal, the copies of upgrades, and damaged files that were put aside.
_BEGINNINGS = ("ledger.db", "submissions.jsonl", "settings.", "recipes.", "calibration.")


def tighten(root: Path, names: Collection[str], jobs: Path) -> None:
    """Make the files below `root` 0600 and the folders 0700, as far as they belong to this user.

    Only what has one of the program's own `names` is touched: the user may have named a folder in which there are
    other things, and then `root` itself stays as it is too. Of `jobs` only folders that others can enter are entered:
    their content is tightened before they are, so an interrupted pass goes on at the next start, and a pass over
    10,000 jobs is one `lstat` for each. Symbolic links are not followed, except `root` itself. Errors are ignored: a
    file system without permissions has none to take away, and one that is read-only is reported by whoever writes.
    """
    if sys.platform == "win32":
        return  # the folder inherits the rights of the user's profile
    with suppress(OSError):
        user, found = os.geteuid(), list(os.scandir(root))
        ours = [entry for entry in found if entry.name in names or entry.name.startswith(_BEGINNINGS)]
        status = root.stat()
        if len(ours) == len(found) and not status.st_mode & stat.S_ISVTX:
            _take_rights(root, status, user)
        for entry in ours:
            if entry.name != jobs.name:
                _tighten(entry, user)
        for entry in os.scandir(jobs):
            if entry.stat(follow_symlinks=False).st_mode & _OTHERS:
                _tighten(entry, user)
        _take_rights(jobs, jobs.lstat(), user)


def _tighten(entry: "os.DirEntry[str]", user: int) -> None:
    with suppress(OSError):
        if entry.is_dir(follow_symlinks=False):
            for below in os.scandir(entry.path):
                _tighten(below, user)
        _take_rights(Path(entry.path), entry.stat(follow_symlinks=False), user)


def _take_rights(path: Path, status: os.stat_result, user: int) -> None:
    """Leave a file or a folder of this user what its owner may do with it, at most 0600 and 0700."""
    if status.st_uid != user or not status.st_mode & _OTHERS:
        return
    if stat.S_ISDIR(status.st_mode):
        path.chmod(status.st_mode & OWN_FOLDER)
    elif stat.S_ISREG(status.st_mode):
        path.chmod(status.st_mode & OWN_FILE)
