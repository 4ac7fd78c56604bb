"""The table of export targets, in the order in which they are offered."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Purpose
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports import csv_tables, excel, json_lines, parquet, retrieval, vector_files
from cfbatch_gui.core.results.exports.base import Measure, RowsOfTable, Target, Work, Written
from cfbatch_gui.core.results.exports.category_rows import CategoryRows
from cfbatch_gui.core.results.exports.group_rows import duplicate_rows, group_rows
from cfbatch_gui.core.results.exports.match_rows import MatchRows, PairRows, RedirectRows
from cfbatch_gui.core.results.exports.screening_rows import screening_rows, write_records
from cfbatch_gui.core.results.exports.search_rows import SearchRows

_ranked, _embedded = partial(Target, Kind.RANK), partial(Target, Kind.EMBED, has_columns=True)
_scores = partial(_ranked, has_columns=True, has_limits=True)
_binary, _decimal = partial(_embedded, bytes_per_number=4), partial(_embedded, bytes_per_number=11)
_JUDGED = message("row_each_label")
_EXCEL = message("your_own_columns")
# Failed rows are usually corrected in a spreadsheet; our CSV reader removes the marks of formulas again.
_failed = partial(
    Target,
    name="failed",
    title=message("failed_rows"),
    about=message("rows_to_mend"),
    suffixes=(".failed.csv",),
    write=csv_tables.write_failed_rows,
    has_separator=True,
    is_for_people=True,
    measure=Measure.FAILED_ROWS,
)


def _csv(table_of: Callable[[Work], RowsOfTable], *, for_excel: bool = False) -> Callable[[Work], Written]:
    return lambda work: csv_tables.write_rows(work, table_of(work), for_excel=for_excel)


def _own_sheet(
    name: str,
    what: str,
    about: str,
    table_of: Callable[..., RowsOfTable],
    workbook: Callable[[Work], Written],
    *purposes: Purpose,
    mark: str = "",
    **more: Any,
) -> tuple[Target, ...]:
    """The own sheet with what `table_of` adds, in each form; `what` is that in a word, for titles, and
    `mark` stands before the suffix of a file that is not the usual own sheet of its job.
    """
    form: Callable[..., Target] = partial(Target, Kind.EMBED, purposes=purposes, **more)
    for_excel = partial(table_of, for_people=True)
    as_parquet, as_json = (partial(write, table_of=table_of) for write in (parquet.write_rows, json_lines.write_rows))
    return (
        form(name, message("what_in_excel", what=what), about, (f"{mark}.xlsx",), workbook, is_for_people=True),
        form(f"{name}-csv", message("what_as_csv", what=what), about, (f"{mark}.csv",), _csv(table_of)),
        form(
            f"{name}-csv-excel", message("what_as_csv_excel", what=what), message("csv_opens"), (f"{mark}.csv",),
            _csv(for_excel, for_excel=True), is_for_people=True, has_separator=True,
        ),
        form(f"{name}-parquet", message("what_as_parquet", what=what), about, (f"{mark}.parquet",), as_parquet),
        form(f"{name}-jsonl", message("what_as_json", what=what), about, (f"{mark}.jsonl", f"{mark}.ndjson"), as_json),
    )  # fmt: skip


_pairs = partial(Target, Kind.EMBED, purposes=(Purpose.MATCH,), has_limits=True, contents=message("row_each_match"))
TARGETS: tuple[Target, ...] = (
    _scores("xlsx", message("excel"), _EXCEL, (".xlsx",), excel.write_rankings, is_for_people=True),
    _scores("csv", message("csv_programs"), message("csv_of_scores"), (".csv",), csv_tables.write_scores),
    _scores(
        "csv-excel", message("csv_excel"), message("csv_opens"), (".csv",),
        partial(csv_tables.write_scores, for_excel=True), has_separator=True, is_for_people=True,
    ),
    _scores("parquet", message("parquet"), message("parquet_of_scores"), (".parquet",), parquet.write_rankings),
    _scores(
        "jsonl", message("json_lines"), message("json_of_scores"), (".jsonl", ".ndjson"), json_lines.write_rankings,
    ),
    _ranked(
        "trec", message("trec_run"), message("for_trec_eval"), (".run", ".trec"), retrieval.write_run, has_limits=True,
        measure=Measure.SCORES,
    ),
    _ranked(
        "qrels", message("trec_qrels"), message("labels_as_qrels"), (".qrels",), retrieval.write_qrels,
        contents=_JUDGED,
    ),
    _ranked(
        "qrels-beir", message("beir_qrels"), message("qrels_as_table"), (".qrels.tsv",),
        partial(retrieval.write_qrels, header=retrieval.BEIR_HEADER, form=retrieval.BEIR_LINE), contents=_JUDGED,
    ),
    _ranked(
        "beir", message("beir_folder"), message("beir_has"), (), retrieval.write_beir_folder, has_limits=True,
        contents=message("all_beir_has"),
    ),
    _failed(Kind.RANK),
    *_own_sheet(
        "matches", message("matches_sheet"), message("own_sheet_and_rest"), MatchRows, excel.write_matches,
        Purpose.MATCH, has_columns=True, has_limits=True,
    ),
    _pairs("redirects", message("redirects"), message("redirects_are"), (".redirects.csv",), _csv(RedirectRows)),
    _pairs("pairs", message("match_pairs"), message("match_pairs_are"), (".pairs.csv",), _csv(PairRows)),
    *_own_sheet(
        "sorted", message("categories_sheet"), message("categories_are"), CategoryRows, excel.write_categories,
        Purpose.CATEGORIES,
    ),
    *_own_sheet(
        "search", message("search_sheet"), message("search_found"), SearchRows, excel.write_search, Purpose.SEARCH,
        has_limits=True, contents=message("row_each_found"),
    ),
    *_own_sheet(
        "groups", message("groups_sheet"), message("groups_are"), group_rows, excel.write_groups, Purpose.GROUPS
    ),
    *_own_sheet(
        "duplicates", message("duplicates_sheet"), message("duplicates_are"), duplicate_rows, excel.write_duplicates,
        Purpose.GROUPS, mark=".duplicates",
    )[:2],
    *_own_sheet(
        "screening", message("screening_sheet"), message("screening_are"), screening_rows, excel.write_screening,
        Purpose.SEARCH, mark=".screening", is_of_screening=True,
    )[:3],
    Target(
        Kind.EMBED, "ris", message("screening_as_ris"), message("ris_is"), (".ris",), write_records,
        purposes=(Purpose.SEARCH,), is_for_people=True, is_of_screening=True,
    ),
    _embedded("xlsx", message("excel"), _EXCEL, (".xlsx",), excel.write_vectors, is_for_people=True),
    _decimal("csv", message("csv_word"), message("csv_of_vectors"), (".csv",), csv_tables.write_vectors),
    _binary("parquet", message("parquet"), message("parquet_of_vectors"), (".parquet",), parquet.write_vectors),
    _binary(
        "npy", message("numpy_array"), message("bare_numbers"), (".npy",), vector_files.write_array, has_columns=False,
    ),
    _binary(
        "npz", message("numpy_archive_ids"), message("numbers_and_ids"), (".npz",), vector_files.write_archive,
        has_columns=False,
    ),
    _decimal(
        "jsonl", message("json_lines"), message("json_of_vectors"), (".jsonl", ".ndjson"), json_lines.write_vectors,
    ),
    _binary(
        "atlas", message("embedding_atlas"), message("atlas_has"), (".atlas.parquet",),
        partial(parquet.write_vectors, for_atlas=True),
    ),
    _decimal("projector", message("embedding_projector"), message("projector_has"), (), vector_files.write_projector),
    _decimal("vectorize", message("cloudflare_vectorize"), message("vectorize_has"), (), vector_files.write_vectorize),
    _binary("llm", message("sqlite_llm"), message("llm_has"), (".db", ".sqlite"), vector_files.write_llm),
    _decimal(
        "openai", message("openai_batch_answers"), message("openai_has"), (".openai.jsonl",), json_lines.write_openai,
        has_columns=False,
    ),
    _failed(Kind.EMBED),
)  # fmt: skip
_WHAT = {Kind.RANK: message("ranking_2"), Kind.EMBED: message("embeddings")}


def targets_for(kind: Kind, purpose: Purpose | None = None, *, is_screened: bool = True) -> tuple[Target, ...]:
    """All targets for jobs of this kind, in the order of the table: the commonest first. Own sheets are only for jobs
    of their purpose, where they take the place of a workbook of texts.
    """
    forms = [each for each in TARGETS if each.kind is kind and (purpose in each.purposes or not each.purposes)]
    forms = [each for each in forms if is_screened or not each.is_of_screening]
    has_own = any(each.is_own_sheet for each in forms)
    return tuple(each for each in forms if each.is_own_sheet or not (has_own and each.is_workbook))


def target_for(path: Path, kind: Kind, name: str = "", purpose: Purpose | None = None) -> Target:
    """The target called `name`, whatever the purpose, or the first one for the file's suffix. Raises UsageError, which
    lists the choices.
    """
    known = [each for each in TARGETS if each.kind is kind] if name else targets_for(kind, purpose)
    fitting = [target for target in known if (target.name == name.lower() if name else target.fit_of(path))]
    if fitting:
        return max(fitting, key=lambda target: target.fit_of(path))
    by_suffix = (target.suffixes[0] for target in known if target.suffixes and target.suffixes[0].count(".") == 1)
    choices = ", ".join(dict.fromkeys((target.name for target in known) if name else by_suffix))
    raise UsageError(
        message(
            "name_is_no_form_results_choose",
            name=name or path.suffix.lower() or path.name,
            results=_WHAT[kind],
            choices=choices,
        )
    )
