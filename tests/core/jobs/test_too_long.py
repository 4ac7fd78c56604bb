"""The list of texts and queries of which the model reads only the beginning."""

from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Split
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.plan.preflight import examine
from cfbatch_gui.core.jobs.plan.too_long import too_long_texts
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL, find_model

METADATA = replace(find_model(DEFAULT_MODEL), max_tokens=512)
LONG, DOUBTFUL, SHORT = "word " * 600, "word " * 340, "word " * 200


DENSE = "長い質問です。" * 100  # 700 tokens at most; far fewer with a vocabulary for Japanese
RANKING = (
    f"query,text,label\n{LONG},one,1\n{DENSE},two,0\n{DENSE},three,1\n{'7' * 1400},four,0\n"
    f"short,{LONG}five,1\nshort,six,1\n"
)


def found(tmp_path: Path, *, split: Split | None = None, options: JobOptions | None = None) -> list[tuple[int, str]]:
    path = tmp_path / "texts.csv"
    path.write_text(f"sku,text\na,{SHORT}\nb,{LONG}\nc,{DOUBTFUL}\nd,{LONG}more\n")
    source = open_source(path)
    mapping = suggest_mapping(source, Kind.EMBED, preview(source))
    folder = JobFolder(tmp_path / "job")
    fill(folder, source, type(mapping)(mapping.kind, mapping.layout, mapping.roles, split=split))
    job = Job("job", "Texts", Kind.EMBED, METADATA.name, "practice", 1.0, options=options or JobOptions())
    preflight = examine(folder, job, METADATA)
    rows = list(too_long_texts(folder, METADATA))
    assert all(row.cells[0] in "bcd" for row in rows)
    assert len(rows) == preflight.too_long
    return [(row.row, row.reason) for row in rows]


def test_each_with_its_row_and_its_length(tmp_path: Path) -> None:
    rows = found(tmp_path)
    assert [row for row, _ in rows] == [3, 4, 5]
    assert rows[0][1] == "750 to 1,002 tokens; the model reads 512."
    assert rows[1][1] == "Up to 569 tokens; the model reads 512."


def test_not_those_that_are_left_out_or_go_in_parts(tmp_path: Path) -> None:
    assert [row for row, _ in found(tmp_path, options=JobOptions(truncate_inputs=False))] == [4]
    assert found(tmp_path, split=Split(200)) == []


def ranked(tmp_path: Path, *, truncate: bool) -> list[tuple[int, str]]:
    path = tmp_path / "pairs.csv"
    path.write_text(RANKING, encoding="utf-8")
    source = open_source(path)
    folder = JobFolder(tmp_path / "job")
    fill(folder, source, suggest_mapping(source, Kind.RANK, preview(source)))
    job = Job("job", "Pairs", Kind.RANK, METADATA.name, "practice", 1.0, options=JobOptions(truncate_inputs=truncate))
    preflight = examine(folder, job, METADATA)
    rows = list(too_long_texts(folder, METADATA))
    assert len(rows) == preflight.too_long
    assert len(list(too_long_texts(folder, METADATA, limit=1))) == 1
    assert all(row.cells == tuple(line.split(",")) for row in rows for line in [RANKING.split("\n")[row.row - 1]])
    return [(row.row, row.reason) for row in rows]


def test_queries_too_each_once_and_dense_ones_counted_closely(tmp_path: Path) -> None:
    assert ranked(tmp_path, truncate=True) == [
        (2, "The query: 750 to 1,002 tokens; the model reads 512."),
        (3, "The query: up to 702 tokens; the model reads 512."),
        (5, "The query: up to 702 tokens; the model reads 512."),
        (6, "751 to 1,004 tokens; the model reads 512."),
    ]


def test_queries_that_only_may_be_too_long_are_sent_and_named(tmp_path: Path) -> None:
    assert [row for row, _ in ranked(tmp_path, truncate=False)] == [3, 5]
