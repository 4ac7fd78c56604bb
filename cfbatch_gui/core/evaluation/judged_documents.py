"""The grades of documents by a book and by the labels of all runs.

Judgements of people overrule labels, those of other files do not; a judged document that no run has counts in the ideal
and recall.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.evaluation.joining import NOT_THERE, Documents, Joined, Run, mixed_hash
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.values import Source, Subject
from cfbatch_gui.core.results.labels import NO_LABEL
from cfbatch_gui.core.results.numbers import distinct
from cfbatch_gui.core.results.score_table import (
    NO_ID,
    hashed_id,
    read_id_hashes,
    read_queries,
    read_query_hashes,
    read_text_hashes,
)

Numbers = NDArray[np.int64]
_NO_RANK = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class BookGrades:
    """The judged pairs of a book, the most trusted first; (pairs,). Hashes are of this process, NO_ID for no id."""

    name: str
    query_texts: Numbers
    query_ids: Numbers
    query_is_text: NDArray[np.bool_]
    document_texts: Numbers
    document_ids: Numbers
    document_is_text: NDArray[np.bool_]
    grades: Numbers
    is_label: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.grades)


@dataclass(frozen=True, slots=True, eq=False)
class BookMatch:
    """Rows (document, query index, grade): `strong` ones overrule the files' labels, `weak` ones do not.

    Those of documents that no run has are (query index, hash, grade).
    """

    strong: Numbers
    weak: Numbers
    outside: Numbers
    weak_outside: Numbers
    matched: int
    unmatched: int
    other_versions: int


def read_book_grades(book: Book) -> BookGrades:
    """The judged pairs of a book. Blocking: a second for 100,000. Raises DataError."""
    found = book.verdicts()
    return BookGrades(
        book.name,
        *_hashes([each.query for each in found]),
        *_hashes([each.document for each in found]),
        np.array([each.grade for each in found], dtype=np.int64),
        np.array([each.source is Source.LABELS for each in found], dtype=np.bool_),
    )


def _hashes(subjects: Sequence[Subject]) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
    count = len(subjects)
    return (
        np.fromiter((hash(each.text) for each in subjects), np.int64, count),
        np.fromiter((hashed_id(each.id) for each in subjects), np.int64, count),
        np.fromiter((bool(each.text) for each in subjects), np.bool_, count),
    )


def match_book(book: BookGrades, runs: Sequence[Run], joined: Sequence[Joined], documents: Documents) -> BookMatch:
    """Find the documents of the runs that the book is about. Blocking: seconds for a million. Raises DataError."""
    entry, query = _queries_of_entries(book, runs, joined, documents)
    texts = _Lookup(_keys(query, book.document_texts[entry]), entry, book.document_is_text[entry])
    ids = _Lookup(_keys(query, book.document_ids[entry]), entry, ~book.document_is_text[entry])
    best = np.full(documents.count, _NO_RANK, dtype=np.int64)
    query_of = np.full(documents.count, NOT_THERE, dtype=np.int64)
    there = np.zeros(0, dtype=np.int64)  # the keys of texts that the runs have
    there_by_id = np.zeros(0, dtype=np.int64)
    asked = distinct(query)
    for run, each, numbers in zip(runs, joined, documents.of_run, strict=True):
        pairs = np.flatnonzero((numbers != NOT_THERE) & np.isin(each.query_of, asked))
        hashes = read_text_hashes(run.folder, run.table)
        of_pair = each.query_of[pairs].astype(np.int64)
        by_text = _keys(of_pair, hashes.texts[pairs])
        with_id = hashes.ids[pairs] != NO_ID
        by_id = _keys(of_pair, hashes.ids[pairs])
        found = np.minimum(texts.find(by_text), np.where(with_id, ids.find(by_id), _NO_RANK))
        np.minimum.at(best, numbers[pairs], found)
        query_of[numbers[pairs]] = of_pair
        there = np.concatenate((there, distinct(by_text)))
        there_by_id = np.concatenate((there_by_id, distinct(by_id[with_id])))
    judged = np.flatnonzero(best != _NO_RANK)
    rows = np.stack((judged, query_of[judged], book.grades[best[judged]]), axis=1)
    weak = book.is_label[best[judged]]
    is_text = book.document_is_text[entry]
    key_of_text, key_of_id = _keys(query, book.document_texts[entry]), _keys(query, book.document_ids[entry])
    has_id = book.document_ids[entry] != NO_ID
    matched = np.where(is_text, np.isin(key_of_text, there), np.isin(key_of_id, there_by_id))
    other_version = ~matched & is_text & has_id & np.isin(key_of_id, there_by_id)
    missing = np.flatnonzero(~matched & ~other_version)
    known_by = np.where(has_id, book.document_ids[entry], book.document_texts[entry])
    outside = np.stack((query, known_by, book.grades[entry]), axis=1)
    from_label = book.is_label[entry]
    return BookMatch(
        rows[~weak],
        rows[weak],
        outside[missing[~from_label[missing]]],
        outside[missing[from_label[missing]]],
        int(matched.sum()),
        len(missing),
        int(other_version.sum()),
    )


def _queries_of_entries(
    book: BookGrades, runs: Sequence[Run], joined: Sequence[Joined], documents: Documents
) -> tuple[Numbers, Numbers]:
    """The entries of the book whose query all runs have, with the index of that query; one may be asked twice."""
    by_text: dict[int, set[int]] = defaultdict(set)
    by_id: dict[int, set[int]] = defaultdict(set)
    usable = np.zeros(len(runs[0].table.asked), dtype=np.bool_)
    usable[documents.queries] = True
    for run, each in zip(runs, joined, strict=True):
        hashes = read_query_hashes(run.folder, run.table)
        in_first = np.full(len(run.table.asked), NOT_THERE, dtype=np.int64)
        in_first[run.table.query_indices()] = each.query_of
        for index, text, identifier in zip(in_first.tolist(), hashes.texts.tolist(), hashes.ids.tolist(), strict=True):
            if index != NOT_THERE and usable[index]:
                by_text[text].add(index)
                if identifier != NO_ID:
                    by_id[identifier].add(index)
    entries: list[int] = []
    queries: list[int] = []
    columns = (book.query_is_text.tolist(), book.query_texts.tolist(), book.query_ids.tolist())
    for entry, (is_text, text, identifier) in enumerate(zip(*columns, strict=True)):
        for index in sorted(by_text.get(text, ()) if is_text else by_id.get(identifier, ())):
            entries.append(entry)
            queries.append(index)
    return np.array(entries, dtype=np.int64), np.array(queries, dtype=np.int64)


class _Lookup:
    """The most trusted entry by key; entries are in the order of trust, so that it is the one with the lowest index."""

    def __init__(self, keys: Numbers, entries: Numbers, usable: NDArray[np.bool_]) -> None:
        keys, entries = keys[usable], entries[usable]
        self._keys, first = np.unique(keys[np.argsort(entries, kind="stable")], return_index=True)
        self._entries = np.sort(entries, kind="stable")[first]

    def find(self, keys: Numbers) -> Numbers:
        """The entry of each key, _NO_RANK for none; (n,)."""
        if not len(self._keys):
            return np.full(len(keys), _NO_RANK, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._entries[at], _NO_RANK)


def _keys(queries: Numbers, hashes: Numbers) -> Numbers:
    return mixed_hash(queries.astype(np.uint64), hashes.view(np.uint64)).view(np.int64)


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
    conflicts = _differing(labels)
    if said is not None:
        strong, weak = outside.of_book(said.outside), outside.of_book(said.weak_outside)
        labels = np.concatenate((said.strong.T, strong, labels, said.weak.T, weak), axis=1)
    document, query, grade = labels
    known, first = np.unique(document, return_index=True)
    grade_of = np.full(outside.count, NO_LABEL, dtype=np.int64)
    grade_of[known] = grade[first]
    order = np.argsort(query[first], kind="stable")
    queries = query[first][order]
    return JudgedDocuments(grade_of, queries, grade[first][order], distinct(queries), conflicts, said)


def _differing(labels: Numbers) -> int:
    """The number of documents whose labels differ, of document, query and grade: (3, labels)."""
    document, _, grade = labels
    _, first, of = np.unique(document, return_index=True, return_inverse=True)
    return len(distinct(document[grade != grade[first][of]]))


class _Outside:
    """The judgements of documents in no pair of their own run; `count` is of all documents so far."""

    def __init__(
        self, runs: Sequence[Run], joined: Sequence[Joined], documents: Documents, book: BookMatch | None
    ) -> None:
        self.count = documents.count
        self._queries = frozenset(documents.queries.tolist())
        self._known: dict[tuple[int, int], int] = {}
        wanted = np.array([hashed_id(each.document_id) for run in runs for each in run.outside], dtype=np.int64)
        if book is not None:
            wanted = np.concatenate((wanted, book.outside[:, 1], book.weak_outside[:, 1]))
        if not len(wanted) or len(runs) == 1:
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
        return np.array(found, dtype=np.int64).reshape(-1, 3).T

    def of_book(self, rows: Numbers) -> Numbers:
        """Document, query and grade of rows of query, hash of id or text, and grade: (3, rows)."""
        found = [(self._number(query, known_by), query, grade) for query, known_by, grade in rows.tolist()]
        return np.array(found, dtype=np.int64).reshape(-1, 3).T

    def _number(self, query: int, identifier: int) -> int:
        number = self._known.setdefault((query, identifier), self.count)
        self.count += number == self.count
        return number
