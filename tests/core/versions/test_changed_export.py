"""What changed since an earlier version is exported for every target, with a list of what is gone beside it."""

from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder, forget_texts
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.versions import (
    ChangedSince,
    changed_since,
    changed_since_predecessor,
    choose_predecessor,
    removed_list,
    removed_path,
)
from tests.core.versions.test_differences import filled, table
from tests.support.sentences import refuses


def job(name: str, created_at: float) -> Job:
    return Job(name, name, Kind.EMBED, "@cf/baai/bge-m3", "practice", created_at, is_sent=True)


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, JobFolder]:
    return {
        "old": filled(tmp_path, "old", table("A,red", 'B,"two, ""quoted"""', "=C,blue", "D,grey")),
        "new": filled(tmp_path, "new", table("A,red and new", "D,grey", "E,white")),
        "same": filled(tmp_path, "same", table("A,red and new", "D,grey", "E,white")),
    }


def compared(folders: dict[str, JobFolder], newer: str = "new", earlier: str = "old") -> ChangedSince:
    return changed_since(job(newer, 2.0), job(earlier, 1.0), folders.__getitem__)


def test_there_is_no_list_without_its_export(folders: dict[str, JobFolder], tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    with pytest.raises(RuntimeError, match="stopped"), removed_list(compared(folders), out):
        raise RuntimeError("stopped")
    assert not list(tmp_path.glob("out.csv*"))


def test_an_older_list_goes_when_nothing_is_gone_any_more(folders: dict[str, JobFolder], tmp_path: Path) -> None:
    found, out = compared(folders), tmp_path / "out.csv"
    with removed_list(found, out):
        pass
    nothing = ChangedSince(found.earlier, found.folder, found.items, np.zeros(0, np.int64))
    with removed_list(nothing, out) as removed:
        assert removed is None and removed_path(out).exists()
    assert not removed_path(out).exists()


def test_a_file_of_somebody_elses_is_not_replaced(folders: dict[str, JobFolder], tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    removed_path(out).write_text("id,mine\n1,2\n", encoding="utf-8")
    with refuses(UsageError, "name_is_way_what_is_gone"), removed_list(compared(folders), out):
        pass
    assert removed_path(out).read_text(encoding="utf-8") == "id,mine\n1,2\n"


@pytest.mark.parametrize("forgotten", ["new", "old"])
def test_texts_that_were_removed_do_not_count_as_changed(folders: dict[str, JobFolder], forgotten: str) -> None:
    choose_predecessor(folders["new"], "old")
    jobs = (job("new", 2.0), job("old", 1.0))
    found = changed_since_predecessor(jobs[0], jobs, folders.__getitem__)
    assert found is not None and found.items == frozenset({1, 3})
    forget_texts(folders[forgotten], 3.0)
    assert changed_since_predecessor(jobs[0], jobs, folders.__getitem__) is None
    with refuses(UsageError, "texts_one_both_jobs_were_removed"):
        compared(folders)
