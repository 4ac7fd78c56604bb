"""The grades of documents by a book and by the labels of all runs.

Judgements of people overrule labels, those of other files do not; a judged document that no run has counts in the ideal
and recall.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.joining import NOT_THERE, Documents, Joined, Run
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.results.labels import NO_LABEL
from cfbatch_gui.core.results.numbers import distinct
from cfbatch_gui.core.results.score_table import hashed_id, read_query_hashes, read_text_hashes

Numbers = NDArray[np.int64]
_Row = tuple[int, int, int]  # a document, its query index, and a grade
_Key = tuple[int, bool, int]  # a query index, whether it is a text, and the hash of that or of an id
_Queries = dict[tuple[bool, int], set[int]]  # by whether it is a text, and the hash of that or of an id
_PAIRS_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True)
class BookGrades:
    """The judged pairs of a book, the most trusted first."""

    name: str
    verdicts: tuple[Judgement, ...]


def read_book_grades(book: Book) -> BookGrades:
    """The judged pairs of a book. Blocking: a second for 100,000. Raises DataError."""
    return BookGrades(book.name, tuple(book.verdicts()))


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
    return [*by_text, (query, False, hashed_id(document.id))] if document.id else by_text


def _queries_of(run: Run, joined: Joined, documents: Documents) -> _Queries:
    """The queries of a run that all runs have, as indices in the first; one may be asked twice."""
    hashes = read_query_hashes(run.folder, run.table)
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
        key = (True, hash(each.query.text)) if each.query.text else (False, hashed_id(each.query.id))
        for index in sorted(set[int]().union(*(of_run.get(key, ()) for of_run in queries))):
            yield index, each


def _outside(run: Run, queries: _Queries) -> Iterator[tuple[_Key, int]]:
    """The grades of documents in no pair of this run."""
    for each in run.outside:
        for index in queries.get((False, hashed_id(each.query_id)), ()):
            yield (index, False, hashed_id(each.document_id)), each.grade


def _documents_by_key(
    wanted: Collection[_Key], runs: Sequence[Run], joined: Sequence[Joined], documents: Documents
) -> dict[_Key, list[int]]:
    """The numbers of the documents that are known by these keys."""
    found: dict[_Key, list[int]] = {}
    texts, ids = (np.array([key for _, is_text, key in wanted if is_text is each], np.int64) for each in (True, False))
    for run, each, numbers in zip(runs, joined, documents.of_run, strict=True) if wanted else ():
        hashes = read_text_hashes(run.folder, run.table)
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
