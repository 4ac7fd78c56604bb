"""Measures of rankings by labels and judgements, in the order of the exported run, each document once; and the pool.

Judgements of people overrule labels, those of other files do not; a judged document that no run has counts in the ideal
and recall.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation import joining
from cfbatch_gui.core.evaluation.joining import NOT_THERE, Documents, Joined, Run, has_label, join
from cfbatch_gui.core.evaluation.metrics import usual_metrics
from cfbatch_gui.core.evaluation.significance import Paired, compare_pairs
from cfbatch_gui.core.judgements.book import Book, Shelf, newest
from cfbatch_gui.core.judgements.session import Shown
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.results import score_table
from cfbatch_gui.core.results.labels import NO_LABEL
from cfbatch_gui.core.results.numbers import distinct

Numbers = NDArray[np.int64]
ENOUGH_JUDGED = 0.8  # of the first k texts; with fewer judged, the figures are not to be relied upon
_Row = tuple[int, int, int]  # a document, its query index, and a grade
_Key = tuple[int, bool, int]  # a query index, whether it is a text, and the hash of that or of an id
_Queries = dict[tuple[bool, int], set[int]]  # by whether it is a text, and the hash of that or of an id
_PAIRS_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True)
class BookGrades:
    """The judged pairs of a book, the most trusted first."""

    name: str
    verdicts: tuple[Judgement, ...]

    @classmethod
    def read(cls, book: Book | None) -> "BookGrades | None":
        """Blocking: a second for 100,000 judgements. Raises DataError."""
        return cls(book.name, tuple(book.verdicts())) if book is not None else None


@dataclass(frozen=True, slots=True)
class BookMatch:
    """How many judgements are about documents of the runs, about none of them, and about texts that have changed."""

    matched: int
    unmatched: int
    other_versions: int


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDocuments:
    """`grade_of` is NO_LABEL for what is not judged; `query` (ascending) and `grade` have all judged documents."""

    grade_of: Numbers
    query: Numbers
    grade: Numbers
    queries: Numbers
    conflicts: int
    book: BookMatch | None = None


def judge(
    runs: Sequence[Run], joined: Sequence[Joined], documents: Documents, book: BookGrades | None = None
) -> JudgedDocuments:
    """The grades of these documents, and of those that are judged and in no run. Blocking: seconds for a million pairs
    and a book. Raises DataError.
    """
    has_others = book is not None or any(run.outside for run in runs)
    queries = [_queries_of(*each, documents) for each in zip(runs, joined, strict=True)] if has_others else []
    entries = list(_entries(book.verdicts, queries)) if book is not None else []
    outside = [list(_outside(run, of_run)) for run, of_run in zip(runs, queries, strict=False)]
    wanted = {key for query, said in entries for key in _keys(query, said.document)}
    if len(runs) > 1:  # else they are in no pair
        wanted.update(key for of_run in outside for key, _ in of_run)
    found = _documents_by_key(wanted, runs, joined, documents)
    new: dict[_Key, int] = {}  # the documents that no run has

    def number(key: _Key) -> int:
        return found[key][0] if key in found else new.setdefault(key, documents.count + len(new))

    columns = []
    for run, each, numbers in zip(runs, joined, documents.of_run, strict=True):
        labelled = np.flatnonzero((run.labels != NO_LABEL) & (numbers != NOT_THERE))
        labelled = labelled[np.argsort(run.table.positions[labelled], kind="stable")]
        columns.append(np.stack((numbers[labelled], each.query_of[labelled], run.labels[labelled])))
    columns += [_columns([(number(key), key[0], grade) for key, grade in of_run]) for of_run in outside]
    labels = np.concatenate(columns, axis=1)
    _, first, same = np.unique(labels[0], return_index=True, return_inverse=True)
    conflicts = len(distinct(labels[0][labels[2] != labels[2][first][same]]))
    strong: list[_Row] = []  # which overrule the files' labels
    weak: list[_Row] = []
    matched = other_versions = 0
    for query, said in entries:
        keys = _keys(query, said.document)
        matched += keys[0] in found
        if keys[0] not in found and keys[-1] in found:
            other_versions += 1
            continue
        about = found[keys[0]] if keys[0] in found else [number(keys[-1])]
        rows = weak if said.source is Source.LABELS else strong
        rows += [(document, query, said.grade or 0) for document in about]
    document, of_query, grade = np.concatenate((_columns(strong), labels, _columns(weak)), axis=1)
    known, first = np.unique(document, return_index=True)
    grade_of = np.full(documents.count + len(new), NO_LABEL, dtype=np.int64)
    grade_of[known] = grade[first]
    order = first[np.argsort(of_query[first], kind="stable")]
    queries_judged = distinct(of_query[order])
    match = BookMatch(matched, len(entries) - matched - other_versions, other_versions) if book is not None else None
    return JudgedDocuments(grade_of, of_query[order], grade[order], queries_judged, conflicts, match)


def _columns(rows: list[_Row]) -> Numbers:
    """Of shape (3, rows)."""
    return np.array(rows, dtype=np.int64).reshape(-1, 3).T


def _keys(query: int, document: Subject) -> list[_Key]:
    """The key by which a judged document is known, and that of its id if it has a text, too."""
    by_text: list[_Key] = [(query, True, hash(document.text))] if document.text else []
    return [*by_text, (query, False, score_table.hashed_id(document.id))] if document.id else by_text


def _queries_of(run: Run, joined: Joined, documents: Documents) -> _Queries:
    """The queries of a run that all runs have, as indices in the first; one may be asked twice."""
    hashes = score_table.read_query_hashes(run.folder, run.table)
    in_first = np.full(len(run.table.asked), NOT_THERE, dtype=np.int64)
    in_first[run.table.query_indices()] = joined.query_of
    usable = set(documents.queries.tolist())
    found: _Queries = defaultdict(set)
    for index, text, identifier in zip(in_first.tolist(), hashes.texts.tolist(), hashes.ids.tolist(), strict=True):
        if index in usable:
            found[True, text].add(index)
            found[False, identifier].add(index)
    return found


def _entries(verdicts: Sequence[Judgement], queries: Sequence[_Queries]) -> Iterator[tuple[int, Judgement]]:
    """The judgements whose query all runs have, with the index of that query."""
    for each in verdicts:
        key = (True, hash(each.query.text)) if each.query.text else (False, score_table.hashed_id(each.query.id))
        for index in sorted(set[int]().union(*(of_run.get(key, ()) for of_run in queries))):
            yield index, each


def _outside(run: Run, queries: _Queries) -> Iterator[tuple[_Key, int]]:
    """The grades of documents in no pair of this run."""
    for each in run.outside:
        for index in queries.get((False, score_table.hashed_id(each.query_id)), ()):
            yield (index, False, score_table.hashed_id(each.document_id)), each.grade


def _documents_by_key(
    wanted: Collection[_Key], runs: Sequence[Run], joined: Sequence[Joined], documents: Documents
) -> dict[_Key, list[int]]:
    """The numbers of the documents that are known by these keys."""
    found: dict[_Key, list[int]] = {}
    texts, ids = (np.array([key for _, is_text, key in wanted if is_text is each], np.int64) for each in (True, False))
    for run, each, numbers in zip(runs, joined, documents.of_run, strict=True) if wanted else ():
        hashes = score_table.read_text_hashes(run.folder, run.table)
        has_key = np.isin(hashes.texts, texts) | np.isin(hashes.ids, ids)
        pairs = np.flatnonzero((numbers != NOT_THERE) & has_key)
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = pairs[start : start + _PAIRS_AT_ONCE]
            columns = (numbers, each.query_of, hashes.texts, hashes.ids)
            for document, query, text, identifier in zip(*(column[some].tolist() for column in columns), strict=True):
                for key in ((query, True, text), (query, False, identifier)):
                    if key in wanted:
                        found.setdefault(key, []).append(document)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class RunMeasures:
    """The measures of one run; arrays are in the order of the evaluation's queries, means are over these.

    `judged_top` of the `top` first documents are judged; `best_pair` is NOT_THERE and ranks are 0 where nothing
    relevant has a score. `repeated` counts pairs whose document stands above them.
    """

    means: dict[str, float]
    values: dict[str, NDArray[np.float64]]
    judged_top: Numbers
    top: Numbers
    best_pair: Numbers
    best_rank: Numbers
    first_relevant: Numbers
    without_answer: int
    repeated: int
    has_contrast: bool

    @property
    def judged_share(self) -> float:
        """The share of the documents among the first k of all queries that are judged; 1.0 if there are none."""
        return int(self.judged_top.sum()) / int(self.top.sum()) if self.top.any() else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """`queries` are the judged ones of all runs.

    `left_out` counts those without a label, `conflicts` documents whose labels differ.
    """

    k: int
    queries: tuple[score_table.QueryText, ...]
    left_out: int
    conflicts: int
    judged: int
    relevant: int
    runs: tuple[RunMeasures, ...]
    book: BookMatch | None = None

    @property
    def measures_nothing(self) -> bool:
        """Whether no query has two candidates of different grades, so that every order measures the same."""
        return not any(run.has_contrast for run in self.runs)


def measure(run: Run, *, k: int = 10, book: BookGrades | None = None) -> Evaluation | None:
    """As `evaluate` for one run."""
    return evaluate((run,), join((run,)), k=k, book=book)


def evaluate(
    runs: Sequence[Run], joined: Sequence[Joined], *, k: int = 10, book: BookGrades | None = None
) -> Evaluation | None:
    """The measures of each run at cut-off `k`, None if no query is judged. Blocking. Raises DataError."""
    documents = joining.documents_of(runs, joined)
    judged = judge(runs, joined, documents, book)
    if not len(judged.queries):
        return None
    return Evaluation(
        k,
        score_table.read_queries(runs[0].folder, runs[0].table.asked[judged.queries]),
        len(documents.queries) - len(judged.queries),
        judged.conflicts,
        len(judged.grade),
        int((judged.grade > 0).sum()),
        tuple(
            _measured(run, each, numbers, judged, k)
            for run, each, numbers in zip(runs, joined, documents.of_run, strict=True)
        ),
        judged.book,
    )


def answers(evaluation: Evaluation, metric: str = "") -> tuple[Paired, ...]:
    """Each further run compared with the first, by a measure, "" for the first one, nDCG@k.

    Up to seconds for many queries.
    """
    first, *others = (run.values[metric or next(iter(run.values))] for run in evaluation.runs)
    return compare_pairs(first, others)


def _measured(run: Run, joined: Joined, numbers: Numbers, judged: JudgedDocuments, k: int) -> RunMeasures:
    """The measures of all judged queries, by the documents that one run has scored, in its order, each once."""
    wanted = np.isin(joined.query_of, judged.queries) & run.table.has_score & (numbers != NOT_THERE)
    pairs = joining.ranked_documents(run, joined, numbers, wanted)
    grades, query = judged.grade_of[numbers[pairs]], joined.query_of[pairs]
    both = (judged.queries, judged.queries + 1)  # where those of a query begin, and where they end
    starts, ends = (np.searchsorted(query, each) for each in both)
    firsts, lasts = (np.searchsorted(judged.query, each) for each in both)
    count, metrics = len(judged.queries), usual_metrics(k)
    values = {name: np.zeros(count) for name in metrics}
    judged_top, top, best_pair, best_rank, first_relevant = (np.zeros(count, dtype=np.int64) for _ in range(5))
    best_pair[:] = NOT_THERE
    has_contrast = False
    for index in range(count):
        part = slice(starts[index], ends[index])
        found, ideal = grades[part], judged.grade[firsts[index] : lasts[index]]
        for name, metric in metrics.items():
            values[name][index] = metric(found, ideal)
        judged_top[index], top[index] = (found[:k] != NO_LABEL).sum(), len(found[:k])
        relevant = np.flatnonzero(found > 0)
        has_contrast |= bool(len(found)) and int(np.maximum(found, 0).min()) < int(found.max())
        if len(relevant):
            at = int(np.argmax(found))
            best_pair[index], best_rank[index] = pairs[part][at], at + 1
            first_relevant[index] = relevant[0] + 1
    return RunMeasures(
        {name: float(of_queries.mean()) for name, of_queries in values.items()},
        *(values, judged_top, top, best_pair, best_rank, first_relevant),
        without_answer=int((starts == ends).sum()),
        repeated=int(wanted.sum()) - len(pairs),
        has_contrast=has_contrast,
    )


SECOND_SHARE = 0.2  # of what another judge has judged
AGAIN_EACH = 10  # after so many texts one of them comes again
_LEAST_AGAIN = 20  # texts; in a smaller pool nothing comes again
_APART = 6  # texts between the first time and the second, at least


@dataclass(frozen=True, slots=True)
class Pool:
    """`items` in the order in which they are shown. `texts` are all texts of the pool, `judged` of them are already."""

    items: tuple[Shown, ...]
    queries: int
    texts: int
    judged: int

    @property
    def fresh(self) -> int:
        """How many texts are to be judged, those that come again counted once."""
        return sum(not item.again for item in self.items)


def make_pool(runs: Sequence[Run], book: Book | None, *, judge: str, k: int = 10, seed: int = 1) -> Pool:
    """What a judge has to judge of these runs, the same for one seed and book; None is an empty book. Blocking. Raises
    DataError.
    """
    joined = join(runs)
    documents = joining.documents_of(runs, joined)
    first: dict[int, tuple[int, int]] = {}  # the run and the pair that a document's text is read from
    labelled: set[int] = set()
    for number, (run, each, numbers) in enumerate(zip(runs, joined, documents.of_run, strict=True)):
        for pair in _top_pairs(run, each, numbers, k).tolist():
            first.setdefault(int(numbers[pair]), (number, pair))
        labelled.update(numbers[has_label(run) & (numbers != NOT_THERE)].tolist())
    draw = np.random.default_rng(seed)
    known = sorted(first)
    shuffled = [known[at] for at in draw.permutation(len(known)).tolist()]
    query_of = {document: int(joined[first[document][0]].query_of[first[document][1]]) for document in shuffled}
    turn = {query: at for at, query in enumerate(dict.fromkeys(query_of[document] for document in shuffled))}
    shuffled.sort(key=lambda document: turn[query_of[document]])  # stable: the texts of a query stay shuffled
    contents = [run.texts(pair for number, pair in first.values() if runs[number] is run) for run in runs]
    asked = score_table.read_queries(runs[0].folder, runs[0].table.asked)
    said = _said(book, judge) if book is not None else {}
    fresh: list[Shown] = []
    second: list[Shown] = []
    judged = 0
    texts: set[object] = set()
    for document in shuffled:
        number, pair = first[document]
        query, text = asked[query_of[document]], contents[number][pair]
        number = turn[query_of[document]] + 1
        item = Shown(Subject(query.id, query.text), Subject(text.id, text.text), query_number=number)
        key = (*item.query.key, *item.document.key)
        if key in texts:  # the same text under another id
            continue
        texts.add(key)
        by_judge, by_others = said.get(key, (False, False))
        judged += by_judge or by_others or document in labelled
        if not by_judge and by_others:
            second.append(item)
        elif not by_judge and document not in labelled:
            fresh.append(item)
    chosen = set(draw.choice(len(second), size=round(len(second) * SECOND_SHARE), replace=False).tolist())
    wanted = fresh + [item for at, item in enumerate(second) if at in chosen]
    return Pool(tuple(_with_some_again(wanted, draw)), len(turn), len(texts), judged)


def _top_pairs(run: Run, joined: Joined, numbers: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The indices of the first k pairs of each query that all runs have, a document listed twice counted once."""
    ordered = joining.ranked_documents(run, joined, numbers, run.table.has_score & (numbers != NOT_THERE))
    query = joined.query_of[ordered]
    place = np.arange(len(ordered)) - np.searchsorted(query, query)
    return ordered[place < k]


def _said(book: Book, judge: str) -> dict[object, tuple[bool, bool]]:
    """Whether this judge and whether others have judged a pair, by `Judgement.pair`."""
    said: dict[object, tuple[bool, bool]] = {}
    for each in newest(book.judgements()):
        by_judge, by_others = said.get(each.pair, (False, False))
        is_own = each.judge == judge and each.source >= Source.PERSON
        said[each.pair] = by_judge or is_own, by_others or not is_own
    return said


def _with_some_again(items: list[Shown], draw: np.random.Generator) -> list[Shown]:
    if len(items) < _LEAST_AGAIN:
        return items
    shown: list[Shown] = []
    for end in range(AGAIN_EACH, len(items) + AGAIN_EACH, AGAIN_EACH):
        block = items[end - AGAIN_EACH : end]
        shown += block
        before = items[max(0, end - 2 * AGAIN_EACH) : max(0, end - _APART)]
        if len(block) == AGAIN_EACH and before:
            shown.append(replace(before[int(draw.integers(len(before)))], again=True))
    return shown


def keep_labels(shelf: Shelf, run: Run, *, time: float) -> int:
    """Put the labels of a job into the book in use; how many were new. Raises DataError, DiskFull."""
    if not has_label(run).any() and not run.outside:
        return 0
    return shelf.book_or_new().add_new(joining.label_judgements(run, time=time))
