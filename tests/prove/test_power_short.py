"""A short form of the part "power" of `make prove`, and the model of a disk by itself."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.prove.power_disk import ROOT, Disk, Flush, Move, Name, Operation, Tree, Write
from tests.prove.power_mutants import LEDGER_OFF, REPEATED, SUBMISSIONS, mutants, places
from tests.prove.power_record import CannotBeRecorded, Recorder
from tests.prove.power_scene import is_left_out
from tests.prove.power_states import Model, States
from tests.prove.power_trace import TRACE, calls, why_not
from tests.prove.report import Report

SHORT = ("--only", "power", "--every-place", "60", "--mutants", "2", "--workers", "2", "--seed", "5")


@pytest.mark.timeout(300)  # takes a few seconds on an idle machine
def test_a_power_cut_loses_nothing_and_a_missing_flush_is_caught(tmp_path: Path) -> None:
    reason = why_not()
    if reason:
        pytest.skip(reason)
    found = tmp_path / "report.json"
    command = (sys.executable, "-m", "tests.prove", *SHORT, "--json", str(found))
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = Report.load(found)
    assert report.is_clean
    assert report.tried > 500
    assert [catch.how for catch in report.catches] == ["lost", "lost"]


def trees(operations: Sequence[Operation], model: Model) -> list[Tree]:
    """Every state behind the last operation."""
    states = States(operations, Disk(), seed=1, draws=200, places={len(operations) - 1})
    return [state.tree for state in states if state.model is model]


def test_every_flush_is_left_out_once_or_named_with_its_reason() -> None:
    found = {place.name for place in places()}
    names = {mutant.name for mutant in mutants()}
    assert {SUBMISSIONS, LEDGER_OFF} <= names
    assert {f"without {name}" for name in found - REPEATED.keys()} < names


FILE, OTHER = 1, 2
WRITTEN = (Name(ROOT, "new.part", FILE), Write(FILE, 0, b"a" * 1500))
RENAMED = Move(ROOT, "new.part", ROOT, "new", FILE, replaced=False)


def test_what_was_not_flushed_is_there_or_not_in_any_combination() -> None:
    found = trees((*WRITTEN, RENAMED), Model.STRICT)
    contents = [tree["new"] for tree in found if "new" in tree]
    assert {} in found
    assert {b"", b"a" * 1500, bytes(1500)} <= set(contents)
    assert any(content and len(content) == 1500 and 0 < content.count(b"a") < 1500 for content in contents)
    assert {len(tree) for tree in found} == {0, 1}  # never under both names


def test_a_flushed_file_has_no_name_before_its_folder_is_flushed() -> None:
    flushed = (*WRITTEN, Flush(FILE, since=2), RENAMED)
    assert {} in trees(flushed, Model.STRICT)
    assert {tree["new"] for tree in trees(flushed, Model.STRICT) if "new" in tree} == {b"a" * 1500}
    assert trees((*flushed, Flush(ROOT, since=4)), Model.STRICT) == [{"new": b"a" * 1500}]


def test_a_flush_covers_nothing_that_was_written_after_it_began() -> None:
    late = (*WRITTEN, Flush(FILE, since=1), Flush(ROOT, since=3))
    assert {tree["new.part"] for tree in trees(late, Model.STRICT)} >= {b"", b"a" * 1500}


def test_a_journal_keeps_the_order_of_names_and_shows_no_bytes_that_were_not_written() -> None:
    both = (*WRITTEN, Name(ROOT, "later", OTHER), Write(OTHER, 0, b"b" * 100))
    found = trees(both, Model.JOURNALLED)
    assert {tuple(sorted(tree)) for tree in found} == {(), ("new.part",), ("later", "new.part")}
    assert {content for tree in found for content in tree.values()} <= {b"", b"a" * 1500, b"b" * 100}
    assert {} not in trees((*both, Flush(OTHER, since=4)), Model.JOURNALLED)
    assert {} in trees((*both, Flush(OTHER, since=4)), Model.STRICT)


def test_a_write_to_a_memory_map_is_an_error_and_not_left_out(tmp_path: Path) -> None:
    reason = why_not()
    if reason:
        pytest.skip(reason)
    script = f"""
import mmap
with open({str(tmp_path / "mapped")!r}, "w+b") as stream:
    stream.truncate(100)
    mmap.mmap(stream.fileno(), 100)[:] = bytes(100)
"""
    log = tmp_path.with_name("trace")
    subprocess.run([*TRACE, "-o", log, sys.executable, "-c", script], check=True)
    with pytest.raises(CannotBeRecorded, match="memory map"):
        Recorder(tmp_path, {}, is_left_out).read(calls(log))
