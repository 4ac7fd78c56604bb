"""No file is renamed or removed while this process has it open or mapped, which Windows refuses and Linux allows.

The hook sees every rename and every removal by Python, and looks into the process's own list of open files.
"""

import gc
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.jobs.verifying import verify_job
from cfbatch_gui.core.results.embeddings import Embeddings
from cfbatch_gui.core.results.exports import export, targets_for
from cfbatch_gui.core.results.text_map import tsne_map
from tests.core.jobs.conftest import Bench
from tests.support.sentences import codes_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the list of open files in /proc")

PAIRS = "id,question,answer\n" + "".join(f"a{n},q{n // 5},answer {n}\n" for n in range(20))
TEXTS = "id,text\n" + "".join(f"t{n},text {n}\n" for n in range(60))


class _Watch:
    """What was renamed or removed while it was open; the hook stays in the process and does nothing between uses."""

    def __init__(self) -> None:
        self.is_on = False
        self.acts = 0
        self.refused: list[str] = []

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on or event not in ("os.rename", "os.remove"):
            return
        self.is_on = False  # looking removes nothing, but nothing of it is to be seen
        try:
            self.acts += 1
            folders = arguments[2:] if event == "os.rename" else arguments[1:]
            names = arguments[:2] if event == "os.rename" else arguments[:1]
            for name, folder in zip(names, folders, strict=True):
                path = Path(os.fsdecode(name))
                within = Path(f"/proc/self/fd/{folder}").readlink() if folder >= 0 else Path()
                self.refused += [f"{event} {path.name}: {each}" for each in _uses(within / path)]
        finally:
            self.is_on = True


def _uses(path: Path) -> Iterator[str]:
    """How this process has a file open, or a file in a folder."""
    try:
        status = path.stat()
    except OSError:
        return
    real = f"{path.resolve()}{'/' if stat.S_ISDIR(status.st_mode) else ''}"
    for each in Path("/proc/self/fd").iterdir():
        if each.is_symlink() and _is_in(str(each.readlink()), real) and each.is_file():
            yield f"open as {each.name}"
    for line in Path("/proc/self/maps").read_text(errors="replace").splitlines():
        if _is_in(line.partition("/")[1] + line.partition("/")[2], real):
            yield "mapped"


def _is_in(found: str, path: str) -> bool:
    return found.startswith(path) if path.endswith("/") else found == path


_watch = _Watch()
if sys.platform == "linux":
    sys.addaudithook(_watch.audit)


@contextmanager
def as_on_windows() -> Iterator[None]:
    """Fail at the end of the block when a file was renamed or removed in it that this process had open."""
    _watch.acts, _watch.refused, _watch.is_on = 0, [], True
    try:
        yield
    finally:
        _watch.is_on = False
    assert _watch.acts, "nothing was renamed or removed, so nothing was seen"
    assert _watch.refused == []


def test_the_hook_sees_what_it_is_to_see(tmp_path: Path) -> None:
    path = tmp_path / "größe 1"
    for act in (path.unlink, lambda: path.rename(tmp_path / "b")):
        path.write_bytes(b"x")
        with pytest.raises(AssertionError, match="open as"), as_on_windows(), path.open("rb"):
            act()
    path.write_bytes(b"x")
    with as_on_windows():
        path.unlink()


@pytest.mark.parametrize("kind", list(Kind))
async def test_a_job_from_its_draft_to_its_end(bench: Bench, tmp_path: Path, kind: Kind) -> None:
    given = bench.write("given.csv", PAIRS if kind is Kind.RANK else TEXTS)
    with as_on_windows():
        bench.draft(given, kind)
        job = await bench.run(bench.draft(given, kind))
        folder = bench.store.folder(job.id)
        if kind is Kind.EMBED:
            tsne_map(folder, Embeddings(folder))
            gc.collect()  # a map of vectors goes with the objects that read them
            folder.vectors.write_bytes(folder.vectors.read_bytes()[:-8])
        assert verify_job(folder, job, mend=True).is_mended or kind is Kind.RANK
        for _ in range(2):  # the second replaces the first
            for target in targets_for(kind):
                path = tmp_path / f"{target.name}{''.join(target.suffixes[:1])}"
                try:
                    export(folder, job, path, target)
                except UserError as error:
                    assert codes_of(error) & {"reason_nothing_was_written", "no_row_failed_there_is_nothing"}
        await bench.actions.forget_texts(job.id)
        bench.drafts.delete(job.id)
        gc.collect()  # folders are removed at the next start, which has no maps of this one
        bench.drafts.clear_deleted()
    assert job.state is JobState.DONE and not folder.path.exists()


async def test_a_damaged_ledger_is_put_aside(bench: Bench) -> None:
    job = await bench.run(bench.draft(bench.write("pairs.csv", PAIRS), Kind.RANK))
    await bench.stop()
    bench.paths.ledger.write_bytes(b"\0garbage\xff" * 2_000)
    with as_on_windows():
        bench.start()
    assert [each.id for each in bench.opened.recovered] == [job.id]
