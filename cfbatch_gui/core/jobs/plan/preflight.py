"""What a draft comes to, before a byte leaves: counts, sizes, price, and what stands in the way. Estimates are put
right by what finished jobs took: for each model, kind and script, how the middle of the estimate compares with the
service's count (`usage`). Texts of several scripts are compared with such texts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Final

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind, Layout, ProblemKind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import metadata_value, put_metadata_value
from cfbatch_gui.core.jobs.plan.packing import Plan, ProblemCount, plan
from cfbatch_gui.core.jobs.plan.spending import LEARNED, TOKENS
from cfbatch_gui.core.jobs.reuse import NOTHING, Reusable
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.messages import Message, message
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.estimate import script_of, tokens_lower, tokens_upper

SYNCHRONOUS_REQUESTS = 60  # four at a time and a second each: about a quarter of a minute
SYNCHRONOUS_TOKENS = 300_000
SCRIPT = "script"  # the name of a fact: that of the job's texts, by which later estimates are put right
_SAMPLED: Final = 600  # texts of a job
_LOOKED_AT: Final = 30  # finished jobs
_MAIN: Final = 0.9  # of a job's tokens that are in one script, for it to speak for that script
_SPREAD_OF_ONE: Final = 0.10
_LEAST_SPREAD: Final = 0.03
_BELIEVED: Final = (0.1, 10.0)  # counted tokens by estimated ones; what is beyond is another kind of number


def examine(
    folder: JobFolder, job: Job, metadata: ModelMetadata | None = None, *, reusable: Reusable = NOTHING
) -> Plan:
    """Plan the job anew, as a trial, and say what it comes to; runs long. `metadata` and `reusable` as for `plan`."""
    planned = plan(folder, job, metadata, reusable=reusable, is_trial=True)
    return replace(
        planned,
        earlier=reusable,
        problems=_count(folder),
        blocker=_blocker(job, planned),
        synchronous_sentence=_synchronous_sentence(job, planned),
        notices=tuple(_notices(folder, planned)),
    )


def calibrated(
    found: Plan, job: Job, folder: JobFolder, metadata: ModelMetadata, past: Iterable[tuple[Job, JobFolder]]
) -> Plan:
    """The same with tokens and prices as `past` jobs took them, newest first, whose tokens the service has counted;
    noted in the job's data. Limits stay with the cautious estimate. Raises DiskFull, DataError.
    """
    script = _script(folder, metadata)
    alike = ((other, data) for other, data in past if (other.model, other.kind) == (job.model, job.kind))
    ratios = list(islice(_ratios(alike, script), _LOOKED_AT)) if script is not None else []
    low, high = _put_right(ratios, found.tokens_low, found.tokens_high)
    with folder.open() as database:
        put_metadata_value(database, SCRIPT, script)
        put_metadata_value(database, LEARNED, (found.tokens_low, found.tokens_high, low, high))
    reused_low, reused_high = _put_right(ratios, found.reused_low, found.reused_high)
    return replace(
        found,
        tokens_low=low,
        tokens_high=high,
        reused_low=reused_low,
        reused_high=reused_high,
        learned_from=len(ratios),
    )


def _ratios(past: Iterable[tuple[Job, JobFolder]], script: str) -> Iterator[tuple[float, float]]:
    """Of finished jobs in this script: the middle of the estimate, and the counted tokens by it."""
    for job, folder in past:
        if job.state is not JobState.DONE or not job.tokens or job.attached or job.has_named_texts:
            continue
        try:
            with folder.open(read_only=True) as database:
                theirs, tokens = metadata_value(database, SCRIPT), metadata_value(database, TOKENS)
        except DataError:
            continue
        middle = sum(tokens) / 2 if isinstance(tokens, list) else 0.0
        if theirs == script and middle and _BELIEVED[0] < job.tokens / middle < _BELIEVED[1]:
            yield middle, job.tokens / middle


def _put_right(ratios: Sequence[tuple[float, float]], low: int, high: int) -> tuple[int, int]:
    if not ratios or not high:
        return low, high
    weight = sum(middle for middle, _ in ratios)
    mean = sum(ratio * middle for middle, ratio in ratios) / weight
    spread = _SPREAD_OF_ONE
    if len(ratios) > 1:
        variance = sum((ratio - mean) ** 2 * middle for middle, ratio in ratios) / weight
        spread = max(_LEAST_SPREAD, 2 * variance**0.5 / mean)
    middle = (low + high) / 2 * mean
    return round(middle * max(0.0, 1 - spread)), max(1, round(middle * (1 + spread)))


def _script(folder: JobFolder, metadata: ModelMetadata) -> str | None:
    """The script of nearly all tokens of a job, by texts taken evenly from all of it; "" for several, None for none."""
    weights: Counter[str] = Counter()
    with folder.open(read_only=True) as database:
        (count,) = database.execute("SELECT coalesce(max(text_no), 0) FROM texts").fetchone()
        numbers = sorted({1 + sample * count // _SAMPLED for sample in range(_SAMPLED)}) if count else []
        texts = database.execute("SELECT text FROM texts JOIN json_each(?) ON text_no = value", (str(numbers),))
        for (text,) in texts:
            weights[script_of(text)] += min(tokens_lower(text) + tokens_upper(text), 2 * metadata.max_tokens)
    if not weights.total():
        return None
    script, weight = weights.most_common(1)[0]
    return script if weight >= _MAIN * weights.total() else ""


def without_queue(found: Plan, job: Job, checked_at: float) -> Plan:
    """The same for a model that took no batches at `checked_at`, in seconds since 1970: it offers to send without the
    queue, however large the job is.
    """
    notice = message(
        "when_connection_was_checked_on_day", day=f"{datetime.fromtimestamp(checked_at).astimezone():%Y-%m-%d}"
    )
    return replace(
        found,
        synchronous_sentence=found.synchronous_sentence or message("without_queue_four_requests_time"),
        notices=found.notices if job.options.at_once else (*found.notices, notice),
    )


def _notices(folder: JobFolder, planned: Plan) -> Iterator[str]:
    with folder.open(read_only=True) as database:
        is_lists = metadata_value(database, "layout") == Layout.LISTS  # whose sentences say so anyway
        repeated_ids = metadata_value(database, "repeated_ids", 0)
        parts = database.execute("SELECT count(DISTINCT item_no) FROM parts").fetchone()[0]
        queries, pairs = database.execute(
            "SELECT count(DISTINCT query_no), count(*) FROM items WHERE query_no IS NOT NULL"
        ).fetchone()
    if planned.repeated and not is_lists:
        yield message("n_texts_come_more_than_once", n=planned.repeated)
    if queries > 1 and pairs == queries:
        yield message("each_query_one_context_each_pair")
    if isinstance(repeated_ids, int) and repeated_ids:
        again = message("n_rows_id_another_row_too", n=repeated_ids)
        yield message("rows_all_are_sent_their_results", rows=again)
    if parts:
        yield (message("long_texts_go_parts") if planned.queries == 0 else message("long_texts_go_parts_count_their"))


def _synchronous_sentence(job: Job, planned: Plan) -> Message | str:
    requests = sum(batch.requests for batch in planned.batches)
    if not 0 < requests <= SYNCHRONOUS_REQUESTS or planned.tokens_high > SYNCHRONOUS_TOKENS:
        return ""
    counted = message("n_texts", n=planned.sent_texts)
    if job.kind is Kind.RANK:
        counted = message("n_queries_texts", n=planned.sent_queries, texts=counted)
    return message("texts_answer_seconds_without_queue", texts=counted)


def _blocker(job: Job, planned: Plan) -> str:
    if planned.batches or planned.reused:
        return ""
    if job.kind is Kind.RANK:
        return message("no_row_both_query_context_choose")
    return message("no_row_text_choose_column_holds")


_LEFT_OUT: Final = {
    ProblemKind.EMPTY_TEXT: message("n_rows_no_text", n=1),
    ProblemKind.EMPTY_QUERY: message("n_rows_no_query", n=1),
    ProblemKind.EMPTY_CONTEXT: message("n_rows_no_context", n=1),
    ProblemKind.UNREADABLE_ROW: message("n_rows_could_not_be_read", n=1),
    ProblemKind.TOO_LONG: message("n_texts_are_too_long_model", n=1),
    ProblemKind.FORMULA_WITHOUT_VALUE: message("n_rows_formulas_without_stored_value", n=1),
    ProblemKind.HIDDEN_ROW: message("n_rows_are_hidden_file", n=1),
    ProblemKind.DOUBTFUL_ROW: message("n_rows_may_been_misread", n=1),
}


def _sentence(kind: ProblemKind, count: int) -> Message:
    if kind is ProblemKind.DOUBTFUL_SENT:
        return message("n_rows_may_been_misread_will", n=count)
    found = _LEFT_OUT[kind].filled(n=count)
    return message("rows_will_be_left_out", n=count, rows=found)


def _count(folder: JobFolder) -> tuple[ProblemCount, ...]:
    with folder.open(read_only=True) as database:
        counts = Counter(dict(database.execute("SELECT kind, count(*) FROM problems GROUP BY kind")))
    kinds = ((ProblemKind(kind), count) for kind, count in counts.most_common())
    return tuple(ProblemCount(kind, count, _sentence(kind, count)) for kind, count in kinds)


def reuse_sentence(found: Plan, kind: Kind) -> Message | str:
    """How many of the texts have results, where, and how many are new; "" when there is nothing to say."""
    if not found.reused:
        return ""
    if kind is Kind.RANK:
        many = message("done_n_texts_were_ranked_before", n=found.texts, done=found.reused, where=_where(found.earlier))
    else:
        many = message("done_n_texts_were_turned_into", n=found.texts, done=found.reused, where=_where(found.earlier))
    if not found.sent_texts:
        return message("sentence_nothing_is_sent_nothing_is", sentence=many)
    new = message("n_are_new_will_be_sent", n=found.sent_texts)
    return message("sentence_next", sentence=many, next=new)


def _where(earlier: Reusable) -> Message:
    first = message("name_2", name=earlier.jobs[0].job.name)
    others = len(earlier.jobs) - 1
    if not others:
        return first
    return message("first_n_other_jobs", n=others, first=first)
