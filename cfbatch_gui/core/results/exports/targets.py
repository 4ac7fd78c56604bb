"""The table of export targets, in the order in which they are offered."""

from functools import partial
from pathlib import Path

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports import csv_tables, excel, json_lines, parquet, retrieval, vector_files
from cfbatch_gui.core.results.exports.base import Measure, Target

_ranked, _embedded = partial(Target, Kind.RANK), partial(Target, Kind.EMBED)
_scores = partial(_ranked, has_columns=True, has_limits=True)
_binary, _decimal = partial(_embedded, bytes_per_number=4), partial(_embedded, bytes_per_number=11)
_JUDGED = message("one row for each label of your file")
_EXCEL = message("Your own columns under your own headers; with a filter.")
# Failed rows are usually corrected in a spreadsheet; our CSV reader removes the marks of formulas again.
_failed = partial(
    Target,
    name="failed",
    title=message("Failed rows"),
    about=message("Your own rows that gave no result, with the reason, to mend and load again."),
    suffixes=(".failed.csv",),
    write=csv_tables.write_failed_rows,
    has_separator=True,
    is_for_people=True,
    measure=Measure.FAILED_ROWS,
)

TARGETS: tuple[Target, ...] = (
    _scores("xlsx", message("Excel"), _EXCEL, (".xlsx",), excel.write_rankings, is_for_people=True),
    _scores(
        "csv",
        message("CSV for programs"),
        message("One row per candidate, for scripts, databases and other programs."),
        (".csv",),
        csv_tables.write_scores,
    ),
    _scores(
        "csv-excel",
        message("CSV for Excel"),
        message("Opens with a double click; what looks like a formula is made harmless."),
        (".csv",),
        partial(csv_tables.write_scores, for_excel=True),
        has_separator=True,
        is_for_people=True,
    ),
    _scores(
        "parquet",
        message("Parquet"),
        message("The same rows with types, compressed; for DuckDB, pandas and Polars."),
        (".parquet",),
        parquet.write_rankings,
    ),
    _scores(
        "jsonl",
        message("JSON Lines"),
        message("One object per line, with all fields by name."),
        (".jsonl", ".ndjson"),
        json_lines.write_rankings,
    ),
    _ranked(
        "trec",
        message("TREC run"),
        message("For trec_eval and programs like it; ties keep their order."),
        (".run", ".trec"),
        retrieval.write_run,
        has_limits=True,
        measure=Measure.SCORES,
    ),
    _ranked(
        "qrels",
        message("TREC qrels"),
        message("The labels of your file as judgements, as trec_eval reads them."),
        (".qrels",),
        retrieval.write_qrels,
        contents=_JUDGED,
    ),
    _ranked(
        "qrels-beir",
        message("BEIR qrels"),
        message("The same judgements as a table with a header, as BEIR reads them."),
        (".qrels.tsv",),
        partial(retrieval.write_qrels, header=retrieval.BEIR_HEADER, form=retrieval.BEIR_LINE),
        contents=_JUDGED,
    ),
    _ranked(
        "beir",
        message("BEIR folder"),
        message("A folder of texts, queries, labels and rankings, for BEIR and MTEB."),
        (),
        retrieval.write_beir_folder,
        has_limits=True,
        contents=message("all texts and queries, and how they rank"),
    ),
    _failed(Kind.RANK),
    _embedded("xlsx", message("Excel"), _EXCEL, (".xlsx",), excel.write_vectors, has_columns=True, is_for_people=True),
    _decimal(
        "csv",
        message("CSV"),
        message("One row per text, one column for each number of its vector."),
        (".csv",),
        csv_tables.write_vectors,
        has_columns=True,
    ),
    _binary(
        "parquet",
        message("Parquet"),
        message("Vectors, texts and columns; for DuckDB, LanceDB, pandas and Polars."),
        (".parquet",),
        parquet.write_vectors,
        has_columns=True,
    ),
    _binary(
        "npy",
        message("NumPy array"),
        message("The bare numbers, float32, one row per text; for Python."),
        (".npy",),
        vector_files.write_array,
    ),
    _binary(
        "npz",
        message("NumPy archive with ids"),
        message("Numbers and ids in one file; for Python."),
        (".npz",),
        vector_files.write_archive,
    ),
    _decimal(
        "jsonl",
        message("JSON Lines"),
        message("One object per line: text, id and vector."),
        (".jsonl", ".ndjson"),
        json_lines.write_vectors,
        has_columns=True,
    ),
    _binary(
        "atlas",
        message("Embedding Atlas"),
        message("Parquet with the map, each text's neighbours, and the command to open it."),
        (".atlas.parquet",),
        partial(parquet.write_vectors, for_atlas=True),
        has_columns=True,
    ),
    _decimal(
        "projector",
        message("Embedding Projector"),
        message("A folder that TensorFlow's Embedding Projector loads: vectors and metadata."),
        (),
        vector_files.write_projector,
        has_columns=True,
    ),
    _decimal(
        "vectorize",
        message("Cloudflare Vectorize"),
        message("A folder of files as Cloudflare takes them, and the commands to load them."),
        (),
        vector_files.write_vectorize,
        has_columns=True,
    ),
    _binary(
        "llm",
        message("SQLite for llm"),
        message("A collection for the command-line program llm: “llm similar” works at once."),
        (".db", ".sqlite"),
        vector_files.write_llm,
        has_columns=True,
    ),
    _decimal(
        "openai",
        message("OpenAI batch answers"),
        message("The lines that an OpenAI batch of embeddings answers with."),
        (".openai.jsonl",),
        json_lines.write_openai,
    ),
    _failed(Kind.EMBED),
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
