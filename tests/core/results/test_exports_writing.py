"""After any failure of an export, one error is raised, the old file is intact, and no further file remains."""

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


ROWS = 1_000


def filled(path: Path, kind: Kind, count: int = ROWS) -> Table:
    table = Table(path)
    if kind is Kind.RANK:
        return table.rank(
            [Pair(f"query {row % 50}", f"text {row}", row / count, label=str(row % 3)) for row in range(count)]
        )
    return table.embed([("", f"text {row}", 1.0) for row in range(count)], unit_vectors(count, 8))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[Kind, Table]:
    """A job of each kind with many results; an export only reads it."""
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
    assert steps[-1] == (2 * ROWS, 2 * ROWS)
    assert {total for _, total in steps} == {2 * ROWS}
    assert any(0 < done < 2 * ROWS for done, _ in steps)


@pytest.mark.parametrize(("kind", "target"), CASES, ids=NAMES)
def test_a_cancel_leaves_everything_as_it_was(
    tmp_path: Path, tables: dict[Kind, Table], kind: Kind, target: Target
) -> None:
    table = tables[kind]
    path = tmp_path / f"out{target.suffixes[0]}"
    path.write_bytes(b"old")

    class Cancelled(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > ROWS:
            raise Cancelled

    with pytest.raises(Cancelled):
        export(table.folder, table.metadata(kind), path, target, progress=stop)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(("kind", "target"), CASES, ids=NAMES)
def test_a_disk_that_flips_a_bit_is_noticed(
    tmp_path: Path, tables: dict[Kind, Table], kind: Kind, target: Target
) -> None:
    table = tables[kind]
    path = tmp_path / f"out{target.suffixes[0]}"
    path.write_bytes(b"old")
    flipped: list[int] = []

    def flip(done: int, total: int) -> None:
        size, part = max(((found.stat().st_size, found) for found in tmp_path.glob("*.part")), default=(0, path))
        # A workbook is written to the disk when it is closed, the other formats block by block.
        if done >= total // 2 and size > 4_000 and not flipped:
            flipped.append(size)
            with part.open("r+b") as file:
                file.seek(size // 2)
                (byte,) = file.read(1)
                file.seek(size // 2)
                file.write(bytes([byte ^ 0x80]))

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
