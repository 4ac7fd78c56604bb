"""The table of export targets, in the order in which they are offered."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Purpose
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports import csv_tables, excel, json_lines, parquet, retrieval, vector_files
from cfbatch_gui.core.results.exports.base import Measure, RowsOfTable, Target, Work, Written
from cfbatch_gui.core.results.exports.match_rows import MatchRows, PairRows, RedirectRows
from cfbatch_gui.core.results.exports.search_rows import SearchRows

_ranked, _embedded = partial(Target, Kind.RANK), partial(Target, Kind.EMBED, has_columns=True)
_matches = partial(_embedded, purposes=(Purpose.MATCH, Purpose.CATEGORIES), has_limits=True)
_pairs = partial(_matches, has_columns=False, contents=message("row_each_match"))
_search = partial(Target, Kind.EMBED, purposes=(Purpose.SEARCH,), has_limits=True, contents=message("row_each_found"))
_scores = partial(_ranked, has_columns=True, has_limits=True)
_binary, _decimal = partial(_embedded, bytes_per_number=4), partial(_embedded, bytes_per_number=11)
_OWN_SHEET = message("own_sheet_has")
_PARQUET, _JSON = (partial(write, table_of=MatchRows) for write in (parquet.write_rows, json_lines.write_rows))
_FOUND = message("search_found")
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
    _matches(
        "matches", message("own_sheet_excel"), message("own_sheet_and_rest"), (".xlsx",), excel.write_matches,
        is_for_people=True,
    ),
    _matches("matches-csv", message("own_sheet_csv"), _OWN_SHEET, (".csv",), _csv(MatchRows)),
    _matches(
        *("matches-csv-excel", message("own_sheet_csv_excel"), message("csv_opens"), (".csv",)),
        _csv(partial(MatchRows, for_people=True), for_excel=True), **{"has_separator": True, "is_for_people": True},
    ),
    _matches("matches-parquet", message("own_sheet_parquet"), _OWN_SHEET, (".parquet",), _PARQUET),
    _matches("matches-jsonl", message("own_sheet_json"), _OWN_SHEET, (".jsonl", ".ndjson"), _JSON),
    _pairs("redirects", message("redirects"), message("redirects_are"), (".redirects.csv",), _csv(RedirectRows)),
    _pairs("pairs", message("match_pairs"), message("match_pairs_are"), (".pairs.csv",), _csv(PairRows)),
    _search(
        *("search", message("search_excel"), message("search_as_sheet"), (".xlsx",), excel.write_search),
        is_for_people=True,
    ),
    _search("search-csv", message("search_csv"), _FOUND, (".csv",), _csv(SearchRows)),
    _search(
        *("search-csv-excel", message("search_csv_excel"), message("csv_opens"), (".csv",)),
        _csv(partial(SearchRows, for_people=True), for_excel=True), has_separator=True, is_for_people=True,
    ),
    _search(
        *("search-parquet", message("search_parquet"), _FOUND, (".parquet",)),
        partial(parquet.write_rows, table_of=SearchRows),
    ),
    _search(
        *("search-jsonl", message("search_json"), _FOUND, (".jsonl", ".ndjson")),
        partial(json_lines.write_rows, table_of=SearchRows),
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


def targets_for(kind: Kind, purpose: Purpose | None = None) -> tuple[Target, ...]:
    """All targets for jobs of this kind, in the order of the table: the commonest first. Own sheets are only for jobs
    of their purpose, where they take the place of a workbook of texts.
    """
    forms = [each for each in TARGETS if each.kind is kind and (purpose in each.purposes or not each.purposes)]
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
