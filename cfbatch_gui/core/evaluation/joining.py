"""Runs as they are read from jobs, and which of their queries and texts are the same."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError, UserError
from cfbatch_gui.core.inputs.input_values import Kind, Layout
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.judgements.values import FROM_LABELS, Judgement, Source, Subject
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results import labels as of_labels
from cfbatch_gui.core.results import score_table
from cfbatch_gui.core.results.embeddings import Embeddings, unit_vectors
from cfbatch_gui.core.results.numbers import occurrences, starts
from cfbatch_gui.core.results.rankings import RetrievalIds, ranked_order
from cfbatch_gui.core.system.threads import check_stopped

NOT_THERE = -1
_BLOCK = 10_000  # texts or pairs in memory at a time
_TEXTS = """
SELECT i.item_no, t.text, t.text_id, t.label FROM json_each(?) wanted
CROSS JOIN items i ON i.item_no = wanted.value JOIN texts t USING(text_no)
"""


class RunText(msgspec.Struct, frozen=True, gc=False):
    """The text of one pair, its id and its label; "" for none."""

    text: str
    id: str
    label: str


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A job's scores; `labels` has one for each pair, NO_LABEL for none; `outside` are of documents in no pair."""

    job: Job
    folder: JobFolder
    table: score_table.ScoreTable
    labels: NDArray[np.int64]
    outside: tuple[of_labels.OutsideGrade, ...] = ()
    unusable: of_labels.UnusableLabels | None = None

    @property
    def scored(self) -> int:
        return int(self.table.has_score.sum())

    @property
    def is_partial(self) -> bool:
        return self.scored < len(self.table)

    def texts(self, indices: Iterable[int]) -> dict[int, RunText]:
        """The texts of the pairs at these indices of the table, by index. Raises DataError."""
        items = {int(self.table.items[index]): int(index) for index in indices}
        with self.folder.open(read_only=True) as database:
            rows = database.execute(_TEXTS, (json.dumps(sorted(items)),))
            return {items[item]: RunText(*rest) for item, *rest in rows}


def read_run(folder: JobFolder, job: Job) -> Run:
    """Read a job's run. Blocking. Raises UsageError for embeddings and without scores, DataError."""
    if job.kind is not Kind.RANK:
        raise UsageError(message("name_made_vectors_no_scores_compare", name=job.name))
    table = score_table.read_score_table(folder)
    if not table.has_score.any():
        raise UsageError(message("name_no_scores_yet_compare_when", name=job.name))
    with folder.open(read_only=True) as database:
        labels, outside = of_labels.read_labels(database, table.texts), of_labels.read_outside_grades(database)
        is_shared = schema.metadata_value(database, "layout") == Layout.SHARED
        unusable = None if is_shared else of_labels.read_unusable_labels(database)
    return Run(job, folder, table, labels, outside, unusable)


def read_runs(folder_of: Callable[[str], JobFolder], jobs: Sequence[Job]) -> list[Run]:
    """The runs of jobs in their order; one with vectors orders the pairs of the first ranking. Raises as `read_run`."""
    rankings = {job.id: read_run(folder_of(job.id), job) for job in jobs if job.kind is Kind.RANK}
    first = next(iter(rankings.values()), None)
    if first is None:
        raise UsageError(message("vectors_can_be_compared_ranking_choose"))
    return [rankings.get(job.id) or similarity_run(folder_of(job.id), job, first) for job in jobs]


def similarity_run(folder: JobFolder, job: Job, ranking: Run) -> Run:
    """The pairs of a ranking, scored by how similar a job's vectors of query and text are. Blocking: reads all texts.

    Raises UsageError without a pair of which the job has both vectors, DataError.
    """
    embeddings, table = Embeddings(folder, job.failed_batches), ranking.table
    unit = unit_vectors(embeddings)
    known: dict[str, int] = {}
    for start in range(0, unit.count, _BLOCK):
        check_stopped()
        items = unit.item_numbers[start : start + _BLOCK].tolist()
        for index, text in enumerate(embeddings.texts(items), start):
            known.setdefault(text.text, index)

    def vectors_of(statement: str, numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        found = np.full(int(numbers.max(initial=0)) + 1, NOT_THERE, dtype=np.int64)
        for number, text in database.execute(statement, (len(found),)):
            found[number] = known.get(text, NOT_THERE)
        return found[numbers]

    with ranking.folder.open(read_only=True) as database:
        queries = vectors_of("SELECT query_no, text FROM queries WHERE query_no < ?", table.queries)
        texts = vectors_of("SELECT text_no, text FROM texts WHERE text_no < ?", table.texts)
    pairs = np.flatnonzero((queries != NOT_THERE) & (texts != NOT_THERE))
    if not len(pairs):
        raise UsageError(message("name_no_vectors_query_text_other", name=job.name, other=ranking.job.name))
    scores = np.full(len(table), np.nan)
    for start in range(0, len(pairs), _BLOCK):
        check_stopped()
        some = pairs[start : start + _BLOCK]
        scores[some] = np.einsum("ij,ij->i", unit.rows(queries[some]), unit.rows(texts[some]))
    return replace(ranking, job=job, table=replace(table, scores=scores), unusable=None)


def comparable_jobs(folder_of: Callable[[str], JobFolder], base: Job, jobs: Sequence[Job]) -> Iterator[Job]:
    """Other jobs with results that have a query and a text in common with this one, of which one ranks; those of the
    same file first, then those of as many queries, the newest first. Blocking. A job that cannot be read is left out.
    """
    ours = [set(_names(folder_of(base.id), base, statement)) for statement in _SUBJECTS]

    def has_both(job: Job) -> bool:
        check_stopped()
        if job.id == base.id or not job.has_results or Kind.RANK not in (job.kind, base.kind):
            return False
        with suppress(UserError):
            folder = folder_of(job.id)
            pairs = zip(ours, _SUBJECTS, strict=True)
            return all(any(name in known for name in _names(folder, job, each)) for known, each in pairs)
        return False

    def nearness(job: Job) -> tuple[bool, bool, float]:
        return job.source_name != base.source_name, job.queries != base.queries, -job.created_at

    return filter(has_both, sorted(jobs, key=nearness))


_SUBJECTS = ("SELECT text, query_id FROM queries", "SELECT text, text_id FROM texts")


def _names(folder: JobFolder, job: Job, statement: str) -> Iterator[int]:
    """Hashes of the texts and the ids; those of vectors may be either, and are known by their texts alone."""
    is_vectors = job.kind is Kind.EMBED
    with folder.open(read_only=True) as database:
        for text, identifier in database.execute(_SUBJECTS[1] if is_vectors else statement):
            if text:
                yield hash(text)
            if identifier and not is_vectors:
                yield hash((identifier,))


def has_label(run: Run) -> NDArray[np.bool_]:
    return np.asarray(run.labels != of_labels.NO_LABEL)


def label_judgements(run: Run, *, time: float) -> Iterator[Judgement]:
    """The labels of this run with its texts, those of documents outside it with bare ids. Raises DataError."""
    queries = [Subject(each.id, each.text) for each in score_table.read_queries(run.folder, run.table.asked)]
    query_of = run.table.query_indices()
    labelled = np.flatnonzero(has_label(run))
    for start in range(0, len(labelled), _BLOCK):
        block = labelled[start : start + _BLOCK]
        texts = run.texts(block)
        for pair in block.tolist():
            document = Subject(texts[pair].id, texts[pair].text)
            grade = int(run.labels[pair])
            yield Judgement(queries[query_of[pair]], document, grade, FROM_LABELS, Source.LABELS, time)
    by_id = {query.id: query for query in queries if query.id}
    for each in run.outside:
        if each.query_id in by_id:
            document = Subject(each.document_id)
            yield Judgement(by_id[each.query_id], document, each.grade, FROM_LABELS, Source.LABELS, time)


Numbers = NDArray[np.int64]
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no two of some millions of groups come near each other


class MatchedBy(StrEnum):
    """What two matched entries have in common; the passes, in their order."""

    ID_AND_TEXT = "id and text"
    TEXT = "text"
    ID = "id"


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Hashes of ids and texts, shape (n,), id 0 for none. Only entries with the same number in `groups` can match."""

    groups: NDArray[np.int32]
    ids: Numbers
    texts: Numbers

    def part(self, indices: Numbers) -> "Keys":
        """The entries at these indices, in their order."""
        return Keys(self.groups[indices], self.ids[indices], self.texts[indices])


def match(ours: Keys, theirs: Keys) -> tuple[Numbers, Numbers, dict[MatchedBy, int]]:
    """The indices of what matches in the one list, ascending, and in the other; and how much each pass has found."""
    left, right = np.arange(len(ours.ids)), np.arange(len(theirs.ids))
    found: list[tuple[Numbers, Numbers]] = []
    by: dict[MatchedBy, int] = {}
    for each in MatchedBy:
        (here, our_hashes), (there, their_hashes) = _usable(ours.part(left), each), _usable(theirs.part(right), each)
        _, first, second = np.intersect1d(our_hashes, their_hashes, assume_unique=True, return_indices=True)
        one, other = here[first], there[second]
        found.append((left[one], right[other]))
        by[each] = len(one)
        left, right = np.delete(left, one), np.delete(right, other)
    one, other = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(one, kind="stable")
    return one[order], other[order], by


def _usable(keys: Keys, by: MatchedBy) -> tuple[Numbers, NDArray[np.uint64]]:
    """The entries that a pass looks at, and of each the hash of what it compares, which no other one of them has.

    Hashes of texts and ids are random, so that two different ones collide with a probability of about 2^-64.
    """
    parts = {MatchedBy.ID_AND_TEXT: (keys.ids, keys.texts), MatchedBy.TEXT: (keys.texts,), MatchedBy.ID: (keys.ids,)}
    mixed = keys.groups.astype(np.uint64)
    for part in parts[by]:
        mixed = mixed * _MULTIPLIER + part.astype(np.uint64)
    if by is MatchedBy.ID:  # one that comes twice names nothing
        _, index, count = np.unique(mixed, return_inverse=True, return_counts=True)
        usable = (keys.ids != 0) & (count[index] == 1)
    else:
        mixed = mixed * _MULTIPLIER + occurrences(mixed)
        usable = (keys.ids != 0) | (by is MatchedBy.TEXT)
    found = np.flatnonzero(usable)
    return found, mixed[found]


Indices = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Matches by their kind; `query_of` is by this job's pairs, `pair_of` by the first job's; NOT_THERE for none."""

    queries: dict[MatchedBy, int]
    texts: dict[MatchedBy, int]
    query_of: Indices
    pair_of: Indices


def join(runs: Sequence[Run]) -> tuple[Joined, ...]:
    """How each run matches the first, which matches itself. Blocking: seconds for a million pairs. Raises DataError."""
    first = runs[0]
    query_of = first.table.query_indices()
    itself = Joined({}, {}, query_of, np.arange(len(first.table), dtype=np.int32))
    if len(runs) == 1:
        return (itself,)
    queries, texts = _query_keys(first), score_table.read_text_hashes(first.folder, first.table)
    return (itself, *(_joined(run, query_of, queries, texts) for run in runs[1:]))


def _joined(run: Run, query_of: Indices, queries_of_first: Keys, texts_of_first: score_table.Hashes) -> Joined:
    ours, theirs, by = match(queries_of_first, _query_keys(run))
    in_first = np.full(len(run.table.asked), NOT_THERE, dtype=np.int32)
    in_first[theirs] = ours
    asked = in_first[run.table.query_indices()]
    here, there = np.flatnonzero(np.isin(query_of, ours)), np.flatnonzero(asked != NOT_THERE)
    of_run = score_table.read_text_hashes(run.folder, run.table)
    ours, theirs, texts_by = match(_text_keys(texts_of_first, query_of, here), _text_keys(of_run, asked, there))
    pair_of = np.full(len(query_of), NOT_THERE, dtype=np.int32)
    pair_of[here[ours]] = there[theirs]
    return Joined(by, texts_by, asked, pair_of)


def _query_keys(run: Run) -> Keys:
    hashes = score_table.read_query_hashes(run.folder, run.table)
    return Keys(np.zeros(len(hashes.ids), dtype=np.int32), hashes.ids, hashes.texts)


def _text_keys(hashes: score_table.Hashes, query_of: Indices, pairs: NDArray[np.int64]) -> Keys:
    return Keys(query_of[pairs], hashes.ids[pairs], hashes.texts[pairs])


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """`of_run[r]` numbers the documents of run r's pairs below `count`.

    `queries` are those that all runs have, as indices in `asked` of the first.
    """

    of_run: tuple[Numbers, ...]
    queries: Numbers
    count: int


def documents_of(runs: Sequence[Run], joined: Sequence[Joined]) -> Documents:
    """The documents of these runs. Blocking: half a second for a million pairs with ids. Raises DataError."""
    in_all = np.ones(len(runs[0].table.asked), dtype=np.bool_)
    for each in joined:
        asked = np.zeros(len(in_all), dtype=np.bool_)
        asked[each.query_of[each.query_of != NOT_THERE]] = True
        in_all &= asked
    numbers: list[Numbers] = []
    before = 0
    for run, each in zip(runs, joined, strict=True):
        found = before + np.arange(len(run.table), dtype=np.int64)
        if before:
            shared = np.flatnonzero(each.pair_of != NOT_THERE)
            found[each.pair_of[shared]] = numbers[0][shared]
        found = found[_first_of_id(run)]
        found[(each.query_of == NOT_THERE) | ~in_all[each.query_of]] = NOT_THERE
        numbers.append(found)
        before += len(run.table)
    return Documents(tuple(numbers), np.flatnonzero(in_all), before)


def ranked_documents(run: Run, joined: Joined, numbers: Numbers, wanted: NDArray[np.bool_]) -> Numbers:
    """The indices of the wanted pairs by query of the first run and by rank, a document listed twice counted once.

    Raises DataError.
    """
    pairs = np.flatnonzero(wanted)
    with run.folder.open(read_only=True) as database:
        pairs = pairs[ranked_order(database, run.table.part(pairs), RetrievalIds(run.folder))]
    pairs = pairs[np.sort(np.unique(numbers[pairs], return_index=True)[1])]
    return pairs[np.argsort(joined.query_of[pairs], kind="stable")]


def _first_of_id(run: Run) -> Numbers:
    """For each pair the index of the first pair of its query that has its id, which mostly is its own; (pairs,)."""
    own = np.arange(len(run.table), dtype=np.int64)
    ids = score_table.read_id_hashes(run.folder, run.table)
    named = np.flatnonzero(ids != score_table.NO_ID)
    order = named[np.lexsort((run.table.positions[named], ids[named], run.table.queries[named]))]
    is_first = starts(run.table.queries[order], ids[order])
    own[order] = order[is_first][np.cumsum(is_first) - 1]
    return own
