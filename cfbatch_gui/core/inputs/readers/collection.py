"""Corpus, queries and candidates in files of their own, joined to pairs: BEIR and MTEB folders, TREC runs."""

import math
import random
import re
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.input_values import Candidate, CandidatePool, CandidateRule, FileFormat, Row, Source
from cfbatch_gui.core.inputs.open_file import is_folder, looking_at, open_bytes, regular_file_size
from cfbatch_gui.core.inputs.readers.decoded_text import text_lines
from cfbatch_gui.core.inputs.readers.json_shapes import cell_text, parse_line
from cfbatch_gui.core.messages import message


class TextStore:
    """Texts by id in a temporary database, until `close`; the first text of an id is kept."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cfbatch-")
        self._database = sqlite3.connect(Path(self._folder.name) / "texts.db")
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            " CREATE TABLE texts(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL);"
        )

    def add(self, texts: Iterable[tuple[str, str]]) -> None:
        self._database.executemany("INSERT OR IGNORE INTO texts(id, text) VALUES(?, ?)", texts)

    def get(self, name: str) -> str | None:
        found = self._database.execute("SELECT text FROM texts WHERE id = ?", (name,)).fetchone()
        return str(found[0]) if found else None

    def number_ids(self) -> int:
        """Number the ids from 1 in their own order, once, after the last `add`; return how many there are."""
        self._database.execute("CREATE TABLE numbered AS SELECT id FROM texts ORDER BY id")
        return int(self._database.execute("SELECT count(*) FROM numbered").fetchone()[0])

    def numbered_id(self, number: int) -> str:
        return str(self._database.execute("SELECT id FROM numbered WHERE rowid = ?", (number,)).fetchone()[0])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        yield from self._database.execute("SELECT id, text FROM texts ORDER BY number")

    def close(self) -> None:
        self._database.close()
        self._folder.cleanup()


Labels = Mapping[str, Mapping[str, str]]  # by the ids of query and document
_SEED = "candidates 1"  # another one would draw other texts for jobs that are read again


def usual_rule(labels: Labels) -> CandidateRule:
    """The judged texts where a query has two of different grades, so that one order is better than another; otherwise
    the usual sample.
    """
    tells_apart = any(len({_grade(label) for label in each.values()}) > 1 for each in labels.values())
    return CandidateRule(CandidatePool.JUDGED) if tells_apart else CandidateRule()


def candidate_texts(
    store: TextStore, named: Mapping[str, Collection[str]], rule: CandidateRule
) -> Iterator[tuple[str, Iterable[tuple[str, str | None]]]]:
    """Yield the id of each query and its candidates, as ids and texts (None: missing); a sample comes by ids.

    `named` are the documents of a run, or those that are judged.

    Take a query's candidates before the next query.
    """
    count = store.number_ids() if rule.pool is CandidatePool.SAMPLE else 0
    for query_id, judged in named.items():
        if rule.pool is CandidatePool.CORPUS:
            yield query_id, store
        elif rule.pool is CandidatePool.SAMPLE:
            yield query_id, ((each, store.get(each)) for each in sorted(_sample(store, count, query_id, judged, rule)))
        else:
            yield query_id, ((each, store.get(each)) for each in judged)


def _sample(store: TextStore, count: int, query_id: str, judged: Collection[str], rule: CandidateRule) -> Iterator[str]:
    yield from judged
    missing = rule.size - sum(store.get(each) is not None for each in judged)
    seed = f"{_SEED}\0{query_id}".encode("utf-8", "surrogatepass")
    draw = random.Random(seed).random  # noqa: S311 - alone of its functions it gives the same in every Python
    taken: set[int] = set()
    while missing > 0 and len(taken) < count:
        number = 1 + int(draw() * count)
        drawn = store.numbered_id(number) if number not in taken else ""
        taken.add(number)
        if drawn and drawn not in judged:
            missing -= 1
            yield drawn


def _grade(label: str) -> float:
    try:
        return max(0.0, float(label))
    except ValueError:
        return 0.0


_PAIR_COLUMNS = ("query_id", "query", "doc_id", "text", "initial_rank", "label")
_SUFFIXES = (".jsonl", ".ndjson", ".json", ".tsv", ".csv", ".parquet", ".txt", ".gz")
_CORPUS = ("corpus", "documents", "docs", "collection")
_QUERIES = ("queries", "topics", "questions")
_RUNS = ("top_ranked", "bm25", "run", "candidates")
_SPLITS = ("test", "dev", "validation", "val", "train")
_QUERY_IDS = ("query-id", "query_id", "qid", "_id", "id")
_DOC_IDS = ("corpus-ids", "corpus-id", "corpus_id", "doc_id", "docid", "docno", "pid", "_id", "id")
_TEXTS = ("text", "contents", "content", "passage", "body", "query", "question", "segment")
_SCORES = ("score", "rel", "relevance", "label", "rating", "sim")
_RUN_LINE = re.compile(r"\s*\S+\s+Q0\s+\S+\s+\d+\s+\S+(?:\s+\S.*)?", re.IGNORECASE)
_RANKED_LINE = re.compile(r"\S+\t\S+\t[1-9]\d*")  # MS MARCO: query, passage, rank
_JUDGEMENT_LINE = re.compile(r"\S+[ \t]+(?:0|Q0)[ \t]+\S+[ \t]+[-+]?\d+(?:\.\d*)?")


@dataclass(frozen=True, slots=True)
class _Parts:
    """The files of a collection; None for those that it does not have."""

    corpus: Path
    queries: Path
    run: Path | None
    judgements: Path | None


def recognise_collection(candidate: Candidate) -> Source | None:
    """The source of a folder with a corpus and queries. Raises InputError without a run and qrels."""
    parts = _parts_of(candidate.path) if is_folder(candidate.path) else None
    if parts is None:
        return None
    if parts.run is None and parts.judgements is None:
        names = {"queries": parts.queries.name, "corpus": parts.corpus.name}
        raise InputError(message("name_corpus_queries_but_no_file", name=candidate.path.name, **names))
    return _source(candidate, parts, sum(map(regular_file_size, (parts.corpus, parts.queries))))


def recognise_run(candidate: Candidate) -> Source | None:
    """The source of a TREC run beside a corpus and queries. Raises InputError for a run alone and for qrels."""
    is_run = _has_lines(candidate.text, _RUN_LINE)
    if (is_run or _has_lines(candidate.text, _RANKED_LINE)) and (parts := _parts_of(candidate.path)):
        return _source(candidate, parts, candidate.size)
    if is_run:
        raise InputError(message("name_is_trec_run_names_queries", name=candidate.path.name))
    if _has_lines(candidate.text, _JUDGEMENT_LINE, least=3):
        raise InputError(message("file_holds_judgements_trec_qrels_ids"))
    return None


def _source(candidate: Candidate, parts: _Parts, size: int) -> Source:
    return Source(
        *(candidate.path, FileFormat.COLLECTION, _PAIR_COLUMNS, size, candidate.encoding),
        has_header=True,
        notices=_notices(parts),
    )


def _has_lines(sample: str, form: re.Pattern[str], *, least: int = 1) -> bool:
    """Whether the first lines, at least so many, have the form; the last may be cut off by the end of the sample."""
    lines = [line.rstrip("\r") for line in sample.split("\n")[:40] if line.strip()][:20]
    return len(lines) >= least and all(map(form.fullmatch, lines[:-1] or lines))


def _parts_of(path: Path) -> _Parts | None:
    """The parts of a collection in a folder or beside a run; None without corpus and queries. Raises InputError."""
    folder = path if is_folder(path) else path.parent
    with looking_at(folder):
        corpus, queries = _part(folder, _CORPUS), _part(folder, _QUERIES)
        if corpus is None or queries is None:
            return None
        run = _part(folder, _RUNS) or _any_run(folder) if folder == path else path
        return _Parts(corpus, queries, run, _part(folder, ("qrels", "judgements", "judgments")))


def settle_candidates(source: Source, rule: CandidateRule | None) -> Source:
    """The source with the rule that chooses its candidates, by default the usual one; unchanged with a run.

    Raises InputError.
    """
    parts = _parts_of(source.path)
    if parts is None or parts.run is not None or parts.judgements is None:
        return source
    rule = rule or usual_rule(_labels(parts.judgements))
    return replace(source, candidates=rule, notices=_notices(parts, rule))


def _notices(parts: _Parts, rule: CandidateRule | None = None) -> tuple[str, ...]:
    said: list[str] = [message("corpus_corpus_queries_queries", corpus=parts.corpus.name, queries=parts.queries.name)]
    if parts.run:
        said.append(message("candidates_each_query_come_from_name", name=parts.run.name))
    elif parts.judgements:
        pool = _POOLS[rule.pool if rule else CandidatePool.JUDGED]
        said.append(pool.filled(judgements=parts.judgements.name, size=rule.size if rule else 0))
    if parts.judgements:
        said.append(message("labels_come_from_name", name=parts.judgements.name))
    return tuple(said)


_POOLS = {
    CandidatePool.JUDGED: message("no_file_names_candidates_judged_documents"),
    CandidatePool.SAMPLE: message("no_file_names_candidates_judged"),
    CandidatePool.CORPUS: message("no_file_names_candidates_whole_corpus"),
}


def _part(folder: Path, names: tuple[str, ...]) -> Path | None:
    """A file of one of these names, or the best split in a folder of such a name."""
    for name in names:
        files = (folder / f"{name}{suffix}{packed}" for suffix in _SUFFIXES for packed in ("", ".gz"))
        if found := next(filter(Path.is_file, files), None):
            return found
        if (folder / name).is_dir():
            splits = [path for path in sorted((folder / name).iterdir()) if path.suffix in _SUFFIXES]
            named = (path for split in _SPLITS for path in splits if path.name.startswith(split))
            return next(named, splits[0] if splits else None)
    return None


def _any_run(folder: Path) -> Path | None:
    for path in sorted(folder.iterdir()):
        is_named = path.suffix.lower() in (".trec", ".run", ".txt", ".res") and path.is_file()
        if is_named and _has_lines(_beginning(path), _RUN_LINE):
            return path
    return None


def _beginning(path: Path) -> str:
    with open_bytes(path) as file:
        return file.read(8192).decode("utf-8", "ignore")


def read_collection(source: Source, progress: Callable[[int], None] | None) -> Generator[Row, None, None]:
    """Yield the pairs of query and candidate, numbered from 1; one without a document or query is a problem."""
    parts = _parts_of(source.path)
    if parts is None:
        raise InputError(message("name_lost_corpus_or_queries_choose", name=source.path.name))
    rule = (source.candidates if not parts.run else None) or CandidateRule(CandidatePool.JUDGED)
    labels = _labels(parts.judgements) if parts.judgements else {}
    named = _candidates(parts.run) if parts.run else labels
    queries = {row_id: text for row_id, _, text in _texts(parts.queries, _QUERY_IDS)}
    with closing(TextStore()) as store:
        wanted = {doc for docs in named.values() for doc in docs}
        store.add(_documents(parts.corpus, wanted, with_others=rule.pool is not CandidatePool.JUDGED))
        yield from _pairs(
            candidate_texts(store, named, rule), queries, labels, progress, is_ranked=rule.pool is CandidatePool.JUDGED
        )


def _documents(corpus: Path, wanted: set[str], *, with_others: bool) -> Iterator[tuple[str, str]]:
    for doc_id, title, text in _texts(corpus, _DOC_IDS):
        if doc_id in wanted or (with_others and (title + text).strip()):
            yield doc_id, f"{title} {text}" if title else text


def read_collection_judgements(source: Source) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the ids of query and document and their label, in file order, also of documents that are no candidates.

    Of a file that is no collection there are none. Raises InputError.
    """
    parts = _parts_of(source.path) if source.format == FileFormat.COLLECTION else None
    return _judgements(parts.judgements) if parts and parts.judgements else iter(())


def _pairs(
    candidates: Iterable[tuple[str, Iterable[tuple[str, str | None]]]],
    queries: dict[str, str],
    labels: dict[str, dict[str, str]],
    progress: Callable[[int], None] | None,
    *,
    is_ranked: bool,
) -> Iterator[Row]:
    number = 0
    for query_id, documents in candidates:
        query, judged = queries.get(query_id), labels.get(query_id, {})
        for rank, (document, found) in enumerate(documents, 1):
            number += 1
            label = judged.get(document, "")
            cells = (query_id, query or "", document, found or "", str(rank) if is_ranked else "", label)
            problem = ""
            if query is None:
                problem = message("queries_none_id_query_id", query_id=query_id)
            elif found is None:
                problem = message("corpus_no_document_id_document", document=document)
            yield Row(number, cells, problem)
            if progress is not None and number % 1000 == 0:
                progress(number)


def _table(path: Path) -> Iterator[dict[str, str]]:
    # A part may be of any format, and what recognises those knows this one.
    from cfbatch_gui.core.inputs.recognise.recogniser import read_part

    source, rows = read_part(path)
    if not source.has_header and source.separator and len(source.columns) == 2:
        names = ["_id", "text"]  # MS MARCO's collection.tsv and queries.tsv
    else:
        names = [name.casefold() for name in source.columns]
    for row in rows:
        if not row.problem:
            yield dict(zip(names, row.cells, strict=True))


def _texts(path: Path, ids: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    for fields in _table(path):
        yield _first(fields, ids), fields.get("title", ""), _first(fields, _TEXTS)


_NOT_OF_RUN = message("line_line_run_name_not_query")


def _candidates(path: Path) -> dict[str, list[str]]:
    """The documents by query, best first: by rank in MS MARCO's runs, by score in TREC's. Raises InputError."""
    sample = _beginning(path)
    is_ranked = _has_lines(sample, _RANKED_LINE)
    if not is_ranked and not _has_lines(sample, _RUN_LINE):
        return _listed_candidates(path)
    scored: dict[str, list[tuple[float, int, str]]] = {}
    with open_bytes(path) as file:
        for number, line in enumerate(text_lines(file, Source(path, FileFormat.LINES, (), 0, "utf-8")), 1):
            fields = line.split()
            if not fields:
                continue
            try:
                query, document, figure = itemgetter(*((0, 1, 2) if is_ranked else (0, 2, 4)))(fields)
                place = float(figure) if is_ranked else -float(figure)
            except (ValueError, IndexError):
                place = math.nan
            if not math.isfinite(place) or len(fields) != (3 if is_ranked else 6):
                raise InputError(_NOT_OF_RUN.filled(line=number, name=path.name, text=line.strip()[:80]))
            scored.setdefault(query, []).append((place, number, document))
    return {query: [doc for _, _, doc in sorted(found)] for query, found in scored.items()}


def _listed_candidates(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for fields in _table(path):
        documents = _first(fields, _DOC_IDS[:-2])
        query = _first(fields, _QUERY_IDS)
        value = parse_line(documents) if documents.startswith("[") else documents
        found.setdefault(query, []).extend(map(cell_text, value) if isinstance(value, list) else [documents])
    return found


def _judgements(path: Path) -> Iterator[tuple[tuple[str, str], str]]:
    head = _beginning(path).split("\n")[0].split()
    if len(head) == 4 and _JUDGEMENT_LINE.fullmatch(" ".join((head[0], "0", *head[2:]))):  # TREC: qid iter docno rel
        with open_bytes(path) as file:
            for line in text_lines(file, Source(path, FileFormat.LINES, (), 0, "utf-8")):
                fields = line.split()
                if len(fields) >= 4:
                    yield (fields[0], fields[2]), fields[3]
        return
    for named in _table(path):
        yield (_first(named, _QUERY_IDS), _first(named, _DOC_IDS)), _first(named, _SCORES)


def _labels(path: Path) -> dict[str, dict[str, str]]:
    """The labels by the ids of query and document, in file order; of several the last counts."""
    found: dict[str, dict[str, str]] = {}
    for (query, document), label in _judgements(path):
        found.setdefault(query, {})[document] = label
    return found


def _first(fields: dict[str, str], names: tuple[str, ...]) -> str:
    return next((fields[name] for name in names if name in fields), "")
