"""After any failure of an export, one error is raised, the old file is intact, and no further file remains."""

import subprocess
import sys
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import ExportError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import TARGETS, Target, export, target_for, targets_for
from tests.core.results.folders import WAITING, Pair, Table, unit_vectors

# The targets that write one file of results; test_exports_folders.py has the others.
CASES = [
    (kind, target) for kind in Kind for target in targets_for(kind) if not target.is_folder and target.needs_results
]
NAMES = [f"{kind.value}-{target.name}" for kind, target in CASES]


def filled(path: Path, kind: Kind, count: int = 3000) -> Table:
    table = Table(path)
    if kind is Kind.RANK:
        return table.rank(
            [Pair(f"query {row % 50}", f"text {row}", row / count, label=str(row % 3)) for row in range(count)]
        )
    return table.embed([("", f"text {row}", 1.0) for row in range(count)], unit_vectors(count, 8))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[Kind, Table]:
    """A job of each kind with 3,000 results; an export only reads it."""
    return {kind: filled(tmp_path_factory.mktemp("jobs") / "job", kind) for kind in Kind}


@pytest.mark.parametrize(("kind", "target"), CASES, ids=NAMES)
def test_progress_goes_up_to_the_end(tmp_path: Path, tables: dict[Kind, Table], kind: Kind, target: Target) -> None:
    table = tables[kind]
    steps: list[tuple[int, int]] = []
    export(
        table.folder, table.metadata(kind), tmp_path / f"out{target.suffixes[0]}", target,
        progress=lambda done, total: steps.append((done, total)),
    )  # fmt: skip
    assert steps == sorted(steps)
    assert steps[-1] == (6000, 6000)
    assert {total for _, total in steps} == {6000}
    assert any(0 < done < 6000 for done, _ in steps)


@pytest.mark.parametrize("at", [1, 3001])
@pytest.mark.parametrize(("kind", "target"), CASES, ids=NAMES)
def test_a_cancel_leaves_everything_as_it_was(
    tmp_path: Path, tables: dict[Kind, Table], kind: Kind, target: Target, at: int
) -> None:
    table = tables[kind]
    path = tmp_path / f"out{target.suffixes[0]}"
    path.write_bytes(b"old")

    class Cancelled(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done >= at:
            raise Cancelled

    with pytest.raises(Cancelled):
        export(table.folder, table.metadata(kind), path, target, progress=stop)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


FULL_DISK = """
import gc, resource, signal, sys
from pathlib import Path
from cfbatch_gui.core.errors import DiskFull
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.exports import export, target_for
from cfbatch_gui.core.results.outcomes import JobMetadata
job, kind = Path(sys.argv[1]), Kind(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for name, path in zip(sys.argv[3::2], map(Path, sys.argv[4::2])):
    try:
        export(JobFolder(job), JobMetadata("id", "name", kind, "model", "Practice"), path, target_for(path, kind, name))
    except DiskFull as error:
        print(name, error.message, sep=": ")
    gc.collect()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
@pytest.mark.parametrize("kind", Kind)
def test_a_full_disk(tmp_path: Path, tables: dict[Kind, Table], kind: Kind) -> None:
    """In a process of its own, which reports on its standard error what is only noticed when objects are deleted."""
    targets = [target for of, target in CASES if of is kind]
    paths = {target.name: tmp_path / f"out of {target.name}{target.suffixes[0]}" for target in targets}
    for path in paths.values():
        path.write_bytes(b"old")
    arguments = [str(each) for pair in paths.items() for each in pair]
    command = [sys.executable, "-W", "error", "-c", FULL_DISK, str(tables[kind].path), kind.value, *arguments]
    found = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert found.stderr == ""
    for line, (name, path) in zip(found.stdout.splitlines(), paths.items(), strict=True):
        assert line.startswith(f"{name}: The disk is full: “{path.stem}.")
        assert path.read_bytes() == b"old"
    assert sorted(tmp_path.iterdir()) == sorted(paths.values())


@pytest.mark.parametrize("mask", [0x01, 0x80])
@pytest.mark.parametrize(("kind", "target"), CASES, ids=NAMES)
def test_a_disk_that_flips_a_bit_is_noticed(
    tmp_path: Path, tables: dict[Kind, Table], kind: Kind, target: Target, mask: int
) -> None:
    table = tables[kind]
    path = tmp_path / f"out{target.suffixes[0]}"
    path.write_bytes(b"old")
    flipped: list[int] = []

    def flip(done: int, total: int) -> None:
        size, part = max(((found.stat().st_size, found) for found in tmp_path.glob("*.part")), default=(0, path))
        # A workbook is written to the disk when it is closed, the other formats block by block.
        if done >= total // 2 and size > 20_000 and not flipped:
            flipped.append(size)
            with part.open("r+b") as file:
                file.seek(size // 2)
                (byte,) = file.read(1)
                file.seek(size // 2)
                file.write(bytes([byte ^ mask]))

    with pytest.raises(ExportError, match="did not read back") as caught:
        export(table.folder, table.metadata(kind), path, target, progress=flip)
    assert caught.value.detail
    assert flipped
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_nothing_back_yet_is_said(tmp_path: Path) -> None:
    table = Table(tmp_path / "job").rank([Pair("q", "a", WAITING)])
    with pytest.raises(ExportError, match="no result has come back"):
        export(table.folder, table.metadata(), tmp_path / "out.csv")
    assert [entry.name for entry in tmp_path.iterdir()] == ["job"]


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    table = filled(tmp_path / "job", Kind.RANK, 3)
    with pytest.raises(ExportError, match="folder does not exist"):
        export(table.folder, table.metadata(), tmp_path / "nowhere" / "out.csv")


@pytest.mark.parametrize(
    ("name", "kind", "form", "expected"),
    [
        ("a.csv", Kind.RANK, "", "csv"),
        ("a.CSV", Kind.EMBED, "", "csv"),
        ("a.xlsx", Kind.RANK, "", "xlsx"),
        ("a.txt", Kind.RANK, "csv-excel", "csv-excel"),
        ("a.csv", Kind.EMBED, "csv-cell", "csv-cell"),
        ("a.ndjson", Kind.EMBED, "", "jsonl"),
        ("a.npy", Kind.EMBED, "NPY", "npy"),
    ],
)
def test_the_form_follows_the_suffix_or_the_name(name: str, kind: Kind, form: str, expected: str) -> None:
    assert target_for(Path(name), kind, form).name == expected


@pytest.mark.parametrize(
    ("name", "kind", "form", "sentence"),
    [
        (
            "a.npy",
            Kind.RANK,
            "",
            "A file named “*.npy” cannot hold a ranking. Choose one of: .csv, .xlsx, .parquet, .jsonl,",
        ),
        (
            "a.qrels",
            Kind.EMBED,
            "",
            "A file named “*.qrels” cannot hold embeddings. Choose one of: .csv, .xlsx, .parquet, .npy,",
        ),
        (
            "a.doc",
            Kind.RANK,
            "",
            "Nothing is known about a file named “*.doc”. Choose one of: .csv, .xlsx, .parquet, .jsonl,",
        ),
        ("a", Kind.RANK, "", "Nothing is known about “a”, a name without a suffix. Choose one of: .csv, .xlsx,"),
        ("a.csv", Kind.RANK, "npz", "The format “npz” cannot hold a ranking. Choose one of: csv, csv-excel, xlsx,"),
        ("a.csv", Kind.RANK, "parket", "Nothing is known about the format “parket”. Choose one of: csv, csv-excel,"),
    ],
)
def test_what_cannot_be_is_said(name: str, kind: Kind, form: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        target_for(Path(name), kind, form)
    assert caught.value.message.startswith(sentence)


def test_a_target_of_the_other_kind_is_refused(tmp_path: Path) -> None:
    table = filled(tmp_path / "job", Kind.RANK, 3)
    npy = next(target for target in TARGETS if target.name == "npy")
    with pytest.raises(UsageError, match="is for embeddings"):
        export(table.folder, table.metadata(), tmp_path / "out.npy", npy)


def test_names_are_unique_for_each_kind() -> None:
    for kind in Kind:
        names = [target.name for target in targets_for(kind)]
        assert len(names) == len(set(names))
