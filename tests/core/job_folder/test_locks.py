"""What is done with a database while SQLite has locks on it in this process leaves these locks alone.

POSIX ends all locks that a process has on a file when the process closes any descriptor of it.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import data_version, opened, transaction
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.store.data_folder import back_up
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.system.files import create_own_file
from cfbatch_gui.core.system.paths import Paths
from tests.support.inputs import as_suggested

OTHER = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
"""


def is_locked_for_others(path: Path) -> bool:
    ended = subprocess.run([sys.executable, "-c", OTHER, path], capture_output=True, text=True, check=True)
    return "locked" in ended.stdout


@pytest.fixture
def drafts(tmp_path: Path) -> Drafts:
    paths = Paths(tmp_path / "data")
    paths.create()
    return Drafts(Ledger.open(paths), paths)


def duplicate(drafts: Drafts, folder: JobFolder) -> None:
    drafts.duplicate(folder.path.name, "copy")


def make_own(drafts: Drafts, folder: JobFolder) -> None:
    create_own_file(folder.data)


def look_at_version(drafts: Drafts, folder: JobFolder) -> None:
    data_version(folder.data)


def copy_all(drafts: Drafts, folder: JobFolder) -> None:
    back_up(drafts._paths, folder.path.parent.parent.parent / "backup.zip")


@pytest.mark.skipif(sys.platform == "win32", reason="locks belong to handles there")
@pytest.mark.parametrize("act", [duplicate, make_own, look_at_version, copy_all])
def test_a_lock_stays(drafts: Drafts, tmp_path: Path, act: Callable[[Drafts, JobFolder], None]) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("text\none\ntwo\n")
    job = drafts.create(Kind.EMBED, "texts", "@cf/baai/bge-m3", "practice")
    drafts.load(job.id, *as_suggested(path, Kind.EMBED))
    folder = drafts.folder(job.id)
    with opened(folder.data) as database, transaction(database):
        assert is_locked_for_others(folder.data)
        act(drafts, folder)
        assert is_locked_for_others(folder.data)
