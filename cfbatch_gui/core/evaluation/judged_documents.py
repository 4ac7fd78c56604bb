"""The grades of documents by a book and by the labels of all runs.

Judgements of people overrule labels, those of other files do not; a judged document that no run has counts in the ideal
and recall.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.joining import NOT_THERE, Documents, Joined, Run
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.values import Judgement, Source, Subject
from cfbatch_gui.core.results.labels import NO_LABEL
from cfbatch_gui.core.results.numbers import distinct
from cfbatch_gui.core.results.score_table import (
    hashed_id,
    read_id_hashes,
    read_queries,
    read_query_hashes,
    read_text_hashes,
)

Numbers = NDArray[np.int64]
_Row = tuple[int, int, int]
_Key = tuple[int, bool, int]  # a query index, whether it is a text, and the hash of that or of an id
_PAIRS_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True)
class BookGrades:
    """The judged pairs of a book, the most trusted first."""

    name: str
    verdicts: tuple[Judgement, ...]


def read_book_grades(book: Book) -> BookGrades:
    """The judged pairs of a book. Blocking: a second for 100,000. Raises DataError."""
    return BookGrades(book.name, tuple(book.verdicts()))


@dataclass(frozen=True, slots=True, eq=False)
class BookMatch:
    """Rows (document, query index, grade): `strong` ones overrule the files' labels, `weak` ones do not.

    Those of documents that no run has are (query index, hash, grade).
    """

    strong: list[_Row]
    weak: list[_Row]
    outside: list[_Row]
    weak_outside: list[_Row]
    matched: int
    unmatched: int
    other_versions: int


def match_book(book: BookGrades, runs: Sequence[Run], joined: Sequence[Joined], documents: Documents) -> BookMatch:
    """Find the documents of the runs that the book is about. Blocking: seconds for a million. Raises DataError."""
    entries = list(_with_queries(book, runs, joined, documents))
    ranks: dict[_Key, int] = {}  # by the key that counts; the most trusted entry of each
    known: set[_Key] = set()  # also the ids of texts
    for rank, (query, each) in enumerate(entries):
        keys = _keys(query, each.document)
        ranks.setdefault(keys[0], rank)
        known.update(keys)
    best: dict[int, tuple[int, int]] = {}  # rank and query by document
    seen: set[_Key] = set()
    asked = list({query for query, _ in entries})
    for run, each_joined, numbers in zip(runs, joined, documents.of_run, strict=True):
        pairs = np.flatnonzero((numbers != NOT_THERE) & np.isin(each_joined.query_of, asked))
        hashes = read_text_hashes(run.folder, run.table)
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = pairs[start : start + _PAIRS_AT_ONCE]
            columns = (numbers, each_joined.query_of, hashes.texts, hashes.ids)
            for document, query, text, identifier in zip(*(column[some].tolist() for column in columns), strict=True):
                for key in ((query, True, text), (query, False, identifier)):
                    if key in known:
                        seen.add(key)
                        if key in ranks:
                            best[document] = min(best.get(document, (ranks[key], query)), (ranks[key], query))
    found: tuple[list[_Row], list[_Row]] = [], []
    for document, (rank, query) in sorted(best.items()):
        judgement = entries[rank][1]
        found[judgement.source is Source.LABELS].append((document, query, judgement.grade or 0))
    outside: tuple[list[_Row], list[_Row]] = [], []
    matched = other_versions = 0
    for query, each in entries:
        keys = _keys(query, each.document)
        if keys[0] in seen:
            matched += 1
        elif keys[-1] in seen:
            other_versions += 1
        else:
            outside[each.source is Source.LABELS].append((query, keys[-1][2], each.grade or 0))
    return BookMatch(*found, *outside, matched, sum(map(len, outside)), other_versions)


def _keys(query: int, document: Subject) -> list[_Key]:
    """The key by which a judged document is known, and that of its id if it has a text, too."""
    by_text: list[_Key] = [(query, True, hash(document.text))] if document.text else []
    return [*by_text, (query, False, hashed_id(document.id))] if document.id else by_text


def _with_queries(
    book: BookGrades, runs: Sequence[Run], joined: Sequence[Joined], documents: Documents
) -> Iterator[tuple[int, Judgement]]:
    """The entries of the book whose query all runs have, with the index of that query; one may be asked twice."""
    indices: dict[tuple[bool, int], set[int]] = defaultdict(set)
    usable = set(documents.queries.tolist())
    for run, each in zip(runs, joined, strict=True):
        hashes = read_query_hashes(run.folder, run.table)
        in_first = np.full(len(run.table.asked), NOT_THERE, dtype=np.int64)
        in_first[run.table.query_indices()] = each.query_of
        for index, text, identifier in zip(in_first.tolist(), hashes.texts.tolist(), hashes.ids.tolist(), strict=True):
            if index in usable:
                indices[True, text].add(index)
                indices[False, identifier].add(index)
    for entry in book.verdicts:
        key = (True, hash(entry.query.text)) if entry.query.text else (False, hashed_id(entry.query.id))
        for index in sorted(indices.get(key, ())):
            yield index, entry


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
    """The grades of these documents, and of those that are judged and in no run. Raises DataError."""
    columns = []
    said = match_book(book, runs, joined, documents) if book is not None else None
    outside = _Outside(runs, joined, documents, said)
    for run, each, numbers in zip(runs, joined, documents.of_run, strict=True):
        labelled = np.flatnonzero((run.labels != NO_LABEL) & (numbers != NOT_THERE))
        labelled = labelled[np.argsort(run.table.positions[labelled], kind="stable")]
        columns.append(np.stack((numbers[labelled], each.query_of[labelled], run.labels[labelled])))
        columns.append(outside.of_run(run, each))
    labels = np.concatenate(columns, axis=1)
    known, first, same = np.unique(labels[0], return_index=True, return_inverse=True)
    conflicts = len(distinct(labels[0][labels[2] != labels[2][first][same]]))
    if said is not None:
        strong, weak = outside.of_book(said.outside), outside.of_book(said.weak_outside)
        labels = np.concatenate((_columns(said.strong), strong, labels, _columns(said.weak), weak), axis=1)
    document, query, grade = labels
    known, first = np.unique(document, return_index=True)
    grade_of = np.full(outside.count, NO_LABEL, dtype=np.int64)
    grade_of[known] = grade[first]
    order = np.argsort(query[first], kind="stable")
    queries = query[first][order]
    return JudgedDocuments(grade_of, queries, grade[first][order], distinct(queries), conflicts, said)


def _columns(rows: list[_Row]) -> Numbers:
    """Of shape (3, rows)."""
    return np.array(rows, dtype=np.int64).reshape(-1, 3).T


class _Outside:
    """The judgements of documents in no pair of their own run; `count` is of all documents so far."""

    def __init__(
        self, runs: Sequence[Run], joined: Sequence[Joined], documents: Documents, book: BookMatch | None
    ) -> None:
        self.count = documents.count
        self._queries = frozenset(documents.queries.tolist())
        self._known: dict[tuple[int, int], int] = {}
        wanted = [hashed_id(each.document_id) for run in runs for each in run.outside]
        if book is not None:
            wanted += [known_by for _, known_by, _ in (*book.outside, *book.weak_outside)]
        if not wanted or len(runs) == 1:
            return
        for run, each, numbers in zip(runs, joined, documents.of_run, strict=True):
            ids = read_id_hashes(run.folder, run.table)
            found = np.flatnonzero(np.isin(ids, wanted) & (numbers != NOT_THERE))
            columns = (each.query_of[found].tolist(), ids[found].tolist(), numbers[found].tolist())
            for query, identifier, number in zip(*columns, strict=True):
                self._known.setdefault((query, identifier), number)

    def of_run(self, run: Run, joined: Joined) -> Numbers:
        """Document, query and grade of each judgement of this run, of shape (3, judgements)."""
        found: list[tuple[int, int, int]] = []
        if run.outside:
            asked = run.table.query_indices()
            in_first = np.full(len(run.table.asked), NOT_THERE, dtype=np.int64)
            in_first[asked] = joined.query_of
            queries = {each.id: in_first[at] for at, each in enumerate(read_queries(run.folder, run.table.asked))}
            for each in run.outside:
                query = int(queries.get(each.query_id, NOT_THERE))
                if query in self._queries:
                    found.append((self._number(query, hashed_id(each.document_id)), query, each.grade))
        return _columns(found)

    def of_book(self, rows: list[_Row]) -> Numbers:
        """Document, query and grade of rows of query, hash of id or text, and grade: (3, rows)."""
        return _columns([(self._number(query, known_by), query, grade) for query, known_by, grade in rows])

    def _number(self, query: int, identifier: int) -> int:
        number = self._known.setdefault((query, identifier), self.count)
        self.count += number == self.count
        return number
