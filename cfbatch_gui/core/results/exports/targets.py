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
_JUDGED = message("one_row_each_label_your_file")


def _about(target: Target, about: str) -> Target:
    return replace(target, about=about)


def _for_excel(csv: Target, about: str) -> Target:
    title = message("csv_excel")
    return replace(csv, name="csv-excel", title=title, about=about, preset=Preset.EXCEL, is_for_people=True)


def _of_vectors(scores: Target, about: str, bytes_per_number: int) -> Target:
    return replace(scores, kind=Kind.EMBED, about=about, has_limits=False, bytes_per_number=bytes_per_number)


_SCORES = _about(
    _scores("csv", message("csv_programs"), (".csv",), csv_tables.write_scores, preset=Preset.PROGRAMS),
    message("one_row_per_context_scripts_databases"),
)
_EXCEL = _about(
    _scores("xlsx", message("excel"), (".xlsx",), excel.write_rankings, is_for_people=True),
    message("your_own_columns_under_your_own"),
)
_PARQUET = _about(
    _scores("parquet", message("parquet"), (".parquet",), parquet.write),
    message("same_rows_types_compressed_duckdb_pandas"),
)
_JSON_LINES = _about(
    _scores("jsonl", message("json_lines"), (".jsonl", ".ndjson"), json_lines.write),
    message("one_object_per_line_all_fields"),
)
_write_beir_qrels = partial(retrieval.write_qrels, header=retrieval.BEIR_HEADER, form=retrieval.BEIR_LINE)
_RANKINGS = (
    _SCORES,
    _for_excel(_SCORES, message("opens_double_click_what_looks_like")),
    _EXCEL,
    replace(
        _EXCEL,
        name="xlsx-rows",
        title=message("excel_your_own_sheet"),
        write=excel.write_in_file_order,
        about=message("all_your_columns_rows_their_own"),
        measure=Measure.ALL_ROWS,
    ),
    _PARQUET,
    _JSON_LINES,
    _about(
        _limited("trec", message("trec_run"), (".run", ".trec"), retrieval.write_run, measure=Measure.SCORES),
        message("trec_eval_programs_like_ties_keep"),
    ),
    _about(
        _ranked("qrels", message("trec_qrels"), (".qrels",), retrieval.write_qrels, contents=_JUDGED),
        message("labels_your_file_judgements_trec_eval"),
    ),
    _about(
        _ranked("qrels-beir", message("beir_qrels"), (".qrels.tsv",), _write_beir_qrels, contents=_JUDGED),
        message("same_judgements_table_header_beir_reads"),
    ),
    replace(
        _limited("beir", message("beir_folder"), (), retrieval.write_beir_folder),
        about=message("folder_texts_queries_labels_rankings_beir"),
        contents=message("all_texts_queries_how_they_rank"),
    ),
)
_VECTORS = _about(
    _decimal("csv", message("csv_column_each_number"), (".csv",), csv_tables.write_vectors, has_columns=True),
    message("one_row_per_text_one_column"),
)
_EMBEDDINGS = (
    _VECTORS,
    _for_excel(_VECTORS, message("same_made_open_double_click_formulas")),
    _about(
        _embedded("xlsx", message("excel"), (".xlsx",), excel.write_vectors, is_for_people=True, has_columns=True),
        message("your_own_columns_under_your"),
    ),
    _of_vectors(_PARQUET, message("vectors_texts_columns_duckdb_lancedb_pandas"), 4),
    _about(
        _binary("npy", message("numpy_array"), (".npy",), vector_files.write_array),
        message("bare_numbers_float32_one_row_per"),
    ),
    _about(
        _binary("npz", message("numpy_archive_ids"), (".npz",), vector_files.write_archive),
        message("numbers_ids_one_file_python"),
    ),
    _of_vectors(_JSON_LINES, message("one_object_per_line_text_id"), 11),
    _about(
        _binary("atlas", message("embedding_atlas"), (".atlas.parquet",), parquet.write_with_map, has_columns=True),
        message("parquet_map_each_text_neighbours_command"),
    ),
    _about(
        _decimal("projector", message("embedding_projector"), (), vector_files.write_projector, has_columns=True),
        message("folder_tensorflow_embedding_projector_loads_vectors"),
    ),
    _about(
        _decimal("vectorize", message("cloudflare_vectorize"), (), vector_files.write_vectorize, has_columns=True),
        message("folder_files_cloudflare_takes_them_commands"),
    ),
    _about(
        _binary("llm", message("sqlite_llm"), (".db", ".sqlite"), vector_files.write_llm, has_columns=True),
        message("collection_command_line_program_llm_llm"),
    ),
    _about(
        _decimal("openai", message("openai_batch_answers"), (".openai.jsonl",), json_lines.write_openai),
        message("lines_openai_batch_embeddings_answers"),
    ),
)
# Failed rows are usually corrected in a spreadsheet; our CSV reader removes the marks of Preset.EXCEL again.
_FAILED = replace(
    _ranked("failed", message("failed_rows"), (".failed.csv",), csv_tables.write_failed_rows),
    about=message("your_own_rows_gave_no_score"),
    preset=Preset.EXCEL,
    measure=Measure.FAILED_ROWS,
    is_for_people=True,
)

TARGETS: tuple[Target, ...] = (
    *_RANKINGS,
    *_EMBEDDINGS,
    _FAILED,
    _of_vectors(_FAILED, message("your_own_rows_gave_no_vector"), 0),
)
_WHAT = {Kind.RANK: message("ranking_2"), Kind.EMBED: message("embeddings")}


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
            "name_is_no_form_results_choose", name=name or suffix or path.name, results=_WHAT[kind], choices=choices
        )
    )
