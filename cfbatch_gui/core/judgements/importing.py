"""Taking a file of judgements into a book, alone or beside a job whose texts its ids name."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.judgements.book import Book
from cfbatch_gui.core.judgements.forms import made_id
from cfbatch_gui.core.judgements.values import Judgement, Subject
from cfbatch_gui.core.results.retrieval_ids import RetrievalIds

_PAIRS = """
SELECT i.query_no, q.query_id, q.text, t.text_id, t.text, t.row, i.position
FROM items i JOIN queries q USING(query_no) JOIN texts t USING(text_no)
WHERE i.query_no IS NOT NULL ORDER BY i.query_no, i.position
"""


@dataclass(frozen=True, slots=True)
class Imported:
    """`added` of the lines `read` are new in the book; the rest it had already. `matched` are about texts of the job,
    `unmatched` are kept all the same, since they count in ideal and recall. `conflicting` lines gave a pair another
    grade than an earlier line or another judge.
    """

    read: int
    added: int
    matched: int
    unmatched: int
    conflicting: int


class JobSubjects:
    """The queries and documents of a job by their ids, in the file and in its exports, and by their texts. Blocking."""

    def __init__(self, folder: JobFolder) -> None:
        ids = RetrievalIds(folder)
        self._queries: dict[int, tuple[Subject, str]] = {}
        self._by_query_id: dict[str, int] = {}
        self._by_query_text: dict[str, int] = {}
        self._by_id: dict[int, dict[str, Subject]] = defaultdict(dict)
        self._ids_of_text: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        with folder.open(read_only=True) as database:
            for number, query_id, query, text_id, text, row, position in database.execute(_PAIRS):
                if number not in self._queries:
                    self._add_query(number, Subject(query_id, query), ids)
                document = Subject(text_id, text)
                exported = ids.document(text_id, row, position)
                for name in filter(None, (text_id, exported, made_id(document, "text"))):
                    self._by_id[number].setdefault(name, document)
                if exported not in self._ids_of_text[number][text]:
                    self._ids_of_text[number][text].append(exported)

    def _add_query(self, number: int, query: Subject, ids: RetrievalIds) -> None:
        exported = ids.query(number, query.id)
        self._queries[number] = (query, exported)
        self._by_query_text.setdefault(query.text, number)
        for name in filter(None, (query.id, exported, made_id(query, "query"))):
            self._by_query_id.setdefault(name, number)

    def query_of(self, query: Subject) -> int | None:
        """The number of a query, by its text if it has one, else by its id; None if the job does not have it."""
        return self._by_query_text.get(query.text) if query.text else self._by_query_id.get(query.id)

    def query_id(self, number: int) -> str:
        """The id of a query in the run that the job exports."""
        return self._queries[number][1]

    def query_text(self, number: int) -> str:
        """The text of a query."""
        return self._queries[number][0].text

    def document_ids(self, number: int, document: Subject) -> tuple[str, ...]:
        """The ids that a document has in the exported run of this query, none if the query does not have it."""
        if document.text:
            return tuple(self._ids_of_text[number].get(document.text, ()))
        found = self._by_id[number].get(document.id)
        return tuple(self._ids_of_text[number][found.text]) if found is not None else ()

    def with_texts(self, judgement: Judgement) -> tuple[Judgement, bool]:
        """The judgement with the job's texts in place of its ids, and whether the job has this pair."""
        number = self.query_of(judgement.query)
        if number is None:
            return judgement, False
        query, document = self._queries[number][0], judgement.document
        if document.text:
            return replace(judgement, query=query), document.text in self._ids_of_text[number]
        found = self._by_id[number].get(document.id)
        return replace(judgement, query=query, document=found or document), found is not None


def import_judgements(
    book: Book, judgements: Sequence[Judgement], *, judge: str, time: float, job: JobSubjects | None = None
) -> Imported:
    """Add what is new. `judge` and `time` are for lines that say none. Raises DataError, DiskFull, UsageError."""
    matched = conflicting = 0
    added: list[Judgement] = []
    said: dict[tuple[Subject, Subject], set[int | None]] = defaultdict(set)
    for each in judgements:
        found = replace(each, judge=each.judge or judge, time=each.time or time)
        if job is not None:
            found, is_there = job.with_texts(found)
            matched += is_there
        added.append(found)
    for known in (*book.judgements(), *added):
        if not known.taken_back:
            grades = said[_bare(known.query), _bare(known.document)]
            grades.add(known.grade)
    conflicting = sum(len(said[_bare(each.query), _bare(each.document)]) > 1 for each in added)
    # A copy of a book has a time in each line; what no longer counts belongs to it.
    is_copy = all(each.time for each in judgements) and any(each.again or each.taken_back for each in judgements)
    count = _add_history(book, added) if is_copy else book.add_new(added)
    unmatched = len(added) - matched if job is not None else 0
    return Imported(len(added), count, matched, unmatched, conflicting)


def _add_history(book: Book, judgements: Sequence[Judgement]) -> int:
    """Add every line that the book does not have, also those that no longer count, in their order."""
    known = set(book.judgements())
    new = [each for each in judgements if each not in known]
    if new:
        book.add(new)
    return len(new)


def _bare(subject: Subject) -> Subject:
    """The subject as it is known: by its text whatever its id."""
    return Subject("", subject.text) if subject.text else subject
