"""The table of export targets, in the order in which they are offered."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports import csv_tables, excel, json_lines, parquet, retrieval, vector_files
from cfbatch_gui.core.results.exports.base import Measure, Preset, Target

_ranked, _embedded = partial(Target, Kind.RANK), partial(Target, Kind.EMBED)
_limited = partial(_ranked, has_limits=True)
_scores = partial(_limited, has_columns=True)
_binary, _decimal = partial(_embedded, bytes_per_number=4), partial(_embedded, bytes_per_number=11)
_JUDGED = message("one row for each label of your file")


def _about(target: Target, about: str) -> Target:
    return replace(target, about=about)


def _for_excel(csv: Target, about: str) -> Target:
    title = message("CSV for Excel")
    return replace(csv, name="csv-excel", title=title, about=about, preset=Preset.EXCEL, is_for_people=True)


def _of_vectors(scores: Target, about: str, bytes_per_number: int) -> Target:
    return replace(scores, kind=Kind.EMBED, about=about, has_limits=False, bytes_per_number=bytes_per_number)


_SCORES = _about(
    _scores("csv", message("CSV for programs"), (".csv",), csv_tables.write_scores, preset=Preset.PROGRAMS),
    message("One row per context, for scripts, databases and other programs."),
)
_EXCEL = _about(
    _scores("xlsx", message("Excel"), (".xlsx",), excel.write_rankings, is_for_people=True),
    message("Your own columns under your own headers, with rank and score; with a filter."),
)
_PARQUET = _about(
    _scores("parquet", message("Parquet"), (".parquet",), parquet.write),
    message("The same rows with types, compressed; for DuckDB, pandas and Polars."),
)
_JSON_LINES = _about(
    _scores("jsonl", message("JSON Lines"), (".jsonl", ".ndjson"), json_lines.write),
    message("One object per line, with all fields by name."),
)
_write_beir_qrels = partial(retrieval.write_qrels, header=retrieval.BEIR_HEADER, form=retrieval.BEIR_LINE)
_RANKINGS = (
    _SCORES,
    _for_excel(_SCORES, message("Opens with a double click; what looks like a formula is made harmless.")),
    _EXCEL,
    replace(
        _EXCEL,
        name="xlsx-rows",
        title=message("Excel, your own sheet"),
        write=excel.write_in_file_order,
        about=message("All your columns and rows in their own order, with rank and score added at the end."),
        measure=Measure.ALL_ROWS,
    ),
    _PARQUET,
    _JSON_LINES,
    _about(
        _limited("trec", message("TREC run"), (".run", ".trec"), retrieval.write_run, measure=Measure.SCORES),
        message("For trec_eval and programs like it; ties keep their order."),
    ),
    _about(
        _ranked("qrels", message("TREC qrels"), (".qrels",), retrieval.write_qrels, contents=_JUDGED),
        message("The labels of your file as judgements, as trec_eval reads them."),
    ),
    _about(
        _ranked("qrels-beir", message("BEIR qrels"), (".qrels.tsv",), _write_beir_qrels, contents=_JUDGED),
        message("The same judgements as a table with a header, as BEIR reads them."),
    ),
    replace(
        _limited("beir", message("BEIR folder"), (), retrieval.write_beir_folder),
        about=message("A folder of texts, queries, labels and rankings, for BEIR and MTEB."),
        contents=message("all texts and queries, and how they rank"),
    ),
)
_VECTORS = _about(
    _decimal("csv", message("CSV, a column for each number"), (".csv",), csv_tables.write_vectors, has_columns=True),
    message("One row per text, one column for each number of its vector."),
)
_EMBEDDINGS = (
    _VECTORS,
    _for_excel(_VECTORS, message("The same, made to open with a double click; formulas are made harmless.")),
    _about(
        _embedded("xlsx", message("Excel"), (".xlsx",), excel.write_vectors, is_for_people=True, has_columns=True),
        message("Your own columns under your own headers, in the order of your file; with a filter."),
    ),
    _of_vectors(_PARQUET, message("Vectors, texts and columns; for DuckDB, LanceDB, pandas and Polars."), 4),
    _about(
        _binary("npy", message("NumPy array"), (".npy",), vector_files.write_array),
        message("The bare numbers, float32, one row per text; for Python."),
    ),
    _about(
        _binary("npz", message("NumPy archive with ids"), (".npz",), vector_files.write_archive),
        message("Numbers and ids in one file; for Python."),
    ),
    _of_vectors(_JSON_LINES, message("One object per line: text, id and vector."), 11),
    _about(
        _binary("atlas", message("Embedding Atlas"), (".atlas.parquet",), parquet.write_with_map, has_columns=True),
        message("Parquet with the map, each text's neighbours, and the command to open it."),
    ),
    _about(
        _decimal("projector", message("Embedding Projector"), (), vector_files.write_projector, has_columns=True),
        message("A folder that TensorFlow's Embedding Projector loads: vectors and metadata."),
    ),
    _about(
        _decimal("vectorize", message("Cloudflare Vectorize"), (), vector_files.write_vectorize, has_columns=True),
        message("A folder of files as Cloudflare takes them, and the commands to load them."),
    ),
    _about(
        _binary("llm", message("SQLite for llm"), (".db", ".sqlite"), vector_files.write_llm, has_columns=True),
        message("A collection for the command-line program llm: “llm similar” works at once."),
    ),
    _about(
        _decimal("openai", message("OpenAI batch answers"), (".openai.jsonl",), json_lines.write_openai),
        message("The lines that an OpenAI batch of embeddings answers with."),
    ),
)
# Failed rows are usually corrected in a spreadsheet; our CSV reader removes the marks of Preset.EXCEL again.
_FAILED = replace(
    _ranked("failed", message("Failed rows"), (".failed.csv",), csv_tables.write_failed_rows),
    about=message("Your own rows that gave no score, with the reason, to mend and load again."),
    preset=Preset.EXCEL,
    measure=Measure.FAILED_ROWS,
    is_for_people=True,
)

TARGETS: tuple[Target, ...] = (
    *_RANKINGS,
    *_EMBEDDINGS,
    _FAILED,
    _of_vectors(_FAILED, message("Your own rows that gave no vector, with the reason, to mend and load again."), 0),
)
_WHAT = {Kind.RANK: message("a ranking"), Kind.EMBED: message("embeddings")}


def targets_for(kind: Kind) -> tuple[Target, ...]:
    """All targets for jobs of this kind, in the order of the table: the commonest first."""
    return tuple(target for target in TARGETS if target.kind is kind)


def target_for(path: Path, kind: Kind, name: str = "") -> Target:
    """The target called `name`, or the first one for the file's suffix. Raises UsageError, which lists the choices."""
    known, suffix = targets_for(kind), path.suffix.lower()
    for target in known:
        if target.name == name.lower() if name else suffix in target.suffixes:
            return target
    by_suffix = (target.suffixes[0] for target in known if target.suffixes and target.suffixes[0].count(".") == 1)
    choices = ", ".join(dict.fromkeys((target.name for target in known) if name else by_suffix))
    raise UsageError(
        message(
            "“{name}” is no form of {results}. Choose one of: {choices}.",
            name=name or suffix or path.name,
            results=_WHAT[kind],
            choices=choices,
        )
    )
