"""The list of forms that results can be taken home in. A new one is a file of its own and an entry here."""

from dataclasses import replace
from pathlib import Path

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.results.exports import (
    beir_folder,
    embeddings_cell_csv,
    embeddings_csv,
    excel,
    excel_vectors,
    failed_rows,
    json_lines,
    llm_sqlite,
    numpy_archive,
    numpy_file,
    openai_lines,
    parquet,
    projector,
    qrels,
    scores_csv,
    trec_run,
    vectorize,
)
from cfbatch_gui.core.results.exports.base import Preset, Target

_RANK, _EMBED, _BOTH = (Kind.RANK,), (Kind.EMBED,), (Kind.RANK, Kind.EMBED)
_SCORES = Target(
    "csv", "CSV for programs", (".csv",), _RANK, scores_csv.write, Preset.PROGRAMS, has_columns=True, has_limits=True
)
_VECTORS = Target("csv", "CSV, a column for each number", (".csv",), _EMBED, embeddings_csv.write, has_columns=True)
_CELLS = Target("csv-cell", "CSV, each vector in one cell", (".csv",), _EMBED, embeddings_cell_csv.write)

TARGETS: tuple[Target, ...] = (
    _SCORES,
    replace(_SCORES, name="csv-excel", title="CSV for Excel", preset=Preset.EXCEL),
    Target("xlsx", "Excel", (".xlsx",), _RANK, excel.write, has_columns=True, has_limits=True),
    _VECTORS,
    replace(_VECTORS, name="csv-excel", title="CSV for Excel, a column for each number", preset=Preset.EXCEL),
    Target("xlsx", "Excel", (".xlsx",), _EMBED, excel_vectors.write, has_columns=True),
    Target("parquet", "Parquet", (".parquet",), _BOTH, parquet.write, has_columns=True, has_limits=True),
    _CELLS,
    replace(_CELLS, name="csv-cell-excel", title="CSV for Excel, each vector in one cell", preset=Preset.EXCEL),
    Target("npy", "NumPy array", (".npy",), _EMBED, numpy_file.write),
    Target("npz", "NumPy archive with ids", (".npz",), _EMBED, numpy_archive.write),
    Target("jsonl", "JSON Lines", (".jsonl", ".ndjson"), _BOTH, json_lines.write, has_columns=True, has_limits=True),
    Target("trec", "TREC run", (".run", ".trec"), _RANK, trec_run.write, has_limits=True),
    Target("qrels", "TREC qrels", (".qrels",), _RANK, qrels.write_trec),
    Target("qrels-beir", "BEIR qrels", (".qrels.tsv",), _RANK, qrels.write_beir),
    Target("beir", "BEIR folder", (), _RANK, beir_folder.write, is_folder=True, has_limits=True),
    Target("atlas", "Embedding Atlas", (".atlas.parquet",), _EMBED, parquet.write_with_map, has_columns=True),
    Target("projector", "Embedding Projector", (), _EMBED, projector.write, is_folder=True, has_columns=True),
    Target("vectorize", "Cloudflare Vectorize", (), _EMBED, vectorize.write, is_folder=True, has_columns=True),
    Target("llm", "SQLite for llm", (".db", ".sqlite"), _EMBED, llm_sqlite.write, has_columns=True),
    Target("openai", "OpenAI batch answers", (".openai.jsonl",), _EMBED, openai_lines.write),
    # They are mended in a spreadsheet; our own reading takes the marks away again.
    Target("failed", "Failed rows", (".failed.csv",), _BOTH, failed_rows.write, Preset.EXCEL, needs_results=False),
)
_WHAT = {Kind.RANK: "a ranking", Kind.EMBED: "embeddings"}


def targets_for(kind: Kind) -> tuple[Target, ...]:
    """What can be made of a job of this kind, the usual ones first."""
    return tuple(target for target in TARGETS if kind in target.kinds)


def target_for(path: Path, kind: Kind, name: str = "") -> Target:
    """The target called `name`, or the first one for the file's suffix. Raises UsageError that names what there is."""
    if name:
        found = [target for target in TARGETS if target.name == name.lower()]
        what = f"the format “{name}”"
    else:
        suffix = path.suffix.lower()
        found = [target for target in TARGETS if suffix in target.suffixes]
        what = f"a file named “*{suffix}”" if suffix else f"“{path.name}”, a name without a suffix"
    fitting = [target for target in found if kind in target.kinds]
    if fitting:
        return fitting[0]
    known = targets_for(kind)
    by_suffix = (target.suffixes[0] for target in known if target.suffixes and target.suffixes[0].count(".") == 1)
    choices = ", ".join(dict.fromkeys((target.name for target in known) if name else by_suffix))
    if found:
        raise UsageError(f"{_capital(what)} cannot hold {_WHAT[kind]}. Choose one of: {choices}.")
    raise UsageError(f"Nothing is known about {what}. Choose one of: {choices}.")


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
