"""Rankings for programs that evaluate retrieval: TREC runs, qrels, BEIR folders.

trec_eval reads scores as float32, so those of a query are written strictly decreasing as float32, too.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import msgspec
import numpy as np

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Work, Written, export_file, file_in, slug
from cfbatch_gui.core.results.exports.rows import by_query, keeps
from cfbatch_gui.core.results.labels import NO_LABEL, label_grades, read_outside_grades, read_unusable_labels
from cfbatch_gui.core.results.rankings import RankedContext, Rankings, RetrievalIds
from cfbatch_gui.core.system.files import atomic_folder

_LOWEST = np.float32(-np.inf)


def _queries(work: Work, ids: RetrievalIds) -> Iterator[tuple[str, list[RankedContext]]]:
    """Each query's id, and its contexts by rank."""
    for contexts in by_query(Rankings(work.folder, work.job.failed_batches)):
        yield ids.query(contexts[0].query_no, contexts[0].query_id), contexts
        work.steps.wrote(len(contexts))


def _document(ids: RetrievalIds, context: RankedContext) -> str:
    return ids.document(context.id, context.row, context.initial_rank)


def write_run(work: Work) -> Written:
    """A document stands once a query, by its better rank. Raises ExportError if nothing is left."""
    ids = RetrievalIds(work.folder)
    tag = f"cfbatch-{slug(work.job.model.rsplit('/')[-1], 'run')}"
    rows = dropped = repeated = lowered = 0
    with export_file(work) as stream:
        for query, contexts in _queries(work, ids):
            scored = [context for context in contexts if context.score is not None]
            kept = [context for context in scored if keeps(context, work.options)]
            ranked: dict[str, RankedContext] = {}
            for context in kept:
                ranked.setdefault(_document(ids, context), context)
            lines, changed = _lines(query, ranked, tag) if ranked else ("", 0)
            stream.write(lines.encode())
            rows, lowered = rows + len(ranked), lowered + changed
            dropped, repeated = dropped + len(scored) - len(kept), repeated + len(kept) - len(ranked)
        if not rows:
            raise ExportError(message("top_k_threshold_leave_nothing_write"))
    notes = {
        **ids.notes,
        "tag": tag,
        "scores_lowered_so_that_they_fall_strictly": lowered,
        "repeated_documents_left_out": repeated,
        "dropped_by_top_k_or_threshold": dropped,
    }
    return Written(rows, (work.path,), notes)


def _lines(query: str, ranked: dict[str, RankedContext], tag: str) -> tuple[str, int]:
    lines: list[str] = []
    lowered = 0
    last = np.float32(np.inf)
    for rank, (document, context) in enumerate(ranked.items(), 1):
        score = context.score if context.score is not None else 0.0
        single = np.float32(score)
        if not single < last:
            single = np.nextafter(last, _LOWEST)
            score = float(single)
            lowered += 1
        last = single
        lines.append(f"{query} Q0 {document} {rank} {score!r} {tag}\n")
    return "".join(lines), lowered


_HAS_ANY = """
SELECT EXISTS(SELECT 1 FROM texts WHERE trim(label) <> '') OR EXISTS(SELECT 1 FROM outside_judgements)
"""
BEIR_HEADER, BEIR_LINE = "query-id\tcorpus-id\tscore\n", "{}\t{}\t{}\n"


class _Judged:
    """The labels of a job as judgements, and those of documents that were not ranked, which a selection has none of."""

    def __init__(self, work: Work, ids: RetrievalIds) -> None:
        self._ids = ids
        self.outside: dict[str, dict[str, int]] = defaultdict(dict)
        with work.folder.open(read_only=True) as database:
            self._grade_of = label_grades(database)
            for each in read_outside_grades(database) if work.options.items is None else ():
                self.outside[ids.query(0, each.query_id)][ids.document(each.document_id, 0, 0)] = each.grade

    def of(self, query: str, contexts: Sequence[RankedContext]) -> tuple[dict[str, int], int]:
        """Document → label for one query, and how often one came again: of these the first row's label counts."""
        judged: dict[str, int] = {}
        labelled = 0
        for context in sorted(contexts, key=lambda context: context.initial_rank):
            label = self._grade_of(context.label)
            if label != NO_LABEL:
                labelled += 1
                judged.setdefault(_document(self._ids, context), label)
        return judged | self.outside.get(query, {}), labelled - len(judged)


def check_labels(work: Work) -> str:
    """The reason, as a sentence, why the labels cannot be used as judgements; "" if they can."""
    with work.folder.open(read_only=True) as database:
        if schema.metadata_value(database, "layout") == Layout.SHARED:
            return message("labels_job_belong_texts_alone_not")
        unusable = read_unusable_labels(database)
        (has_any,) = database.execute(_HAS_ANY).fetchone()
    if unusable is not None:
        return message("label_row_row_is_label_judgements", row=unusable.row, label=unusable.label[:40])
    if not has_any:
        return message("job_no_labels_judgements_are_made")
    return ""


def write_qrels(work: Work, *, header: str = "", form: str = "{} 0 {} {}\n") -> Written:
    """Write a line for each judgement, by default trec_eval's. Raises ExportError without usable labels."""
    if reason := check_labels(work):
        raise ExportError(message("reason_nothing_was_written", reason=reason))
    ids = RetrievalIds(work.folder)
    judged = _Judged(work, ids)
    rows = repeated = 0
    with export_file(work) as stream:
        stream.write(header.encode())
        for query, every in _queries(work, ids):
            found, again = judged.of(query, [each for each in every if work.options.has_item(each.item_no)])
            stream.write("".join(form.format(query, *pair) for pair in found.items()).encode())
            rows, repeated = rows + len(found), repeated + again
        if not rows:
            raise ExportError(message("none_these_texts_label_there_is"))
    notes = {
        **ids.notes,
        "repeated_documents_left_out": repeated,
        "of_documents_not_ranked": sum(map(len, judged.outside.values())),
    }
    return Written(rows, (work.path,), notes)


_CORPUS, _QUERIES, _QRELS, _TOP_RANKED = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "top_ranked/test.jsonl"
_NAMES = (_CORPUS, _QUERIES, _QRELS, _TOP_RANKED)


def write_beir_folder(work: Work) -> Written:
    """The corpus has every text. Raises ExportError for one id of two texts."""
    no_labels = check_labels(work)
    ids = RetrievalIds(work.folder)
    judged = _Judged(work, ids)
    known: dict[str, bytes] = {}
    encode = msgspec.json.Encoder().encode
    queries = judgements = 0
    with atomic_folder(work.path, _NAMES.__contains__) as folder:
        with ExitStack() as stack:
            names = (_CORPUS, _QUERIES, _TOP_RANKED, *(() if no_labels else (_QRELS,)))
            files = {name: stack.enter_context(file_in(folder, name)) for name in names}
            if not no_labels:
                files[_QRELS].write(BEIR_HEADER.encode())
            for query, every in _queries(work, ids):
                contexts = [context for context in every if work.options.has_item(context.item_no)]
                if not contexts:
                    continue
                files[_QUERIES].write(encode({"_id": query, "text": contexts[0].query}) + b"\n")
                for context in contexts:
                    document = _document(ids, context)
                    if _is_new(known, document, context):
                        files[_CORPUS].write(encode({"_id": document, "title": "", "text": context.text}) + b"\n")
                kept = [context for context in contexts if context.score is not None and keeps(context, work.options)]
                ranked = list(dict.fromkeys(_document(ids, context) for context in kept))
                files[_TOP_RANKED].write(encode({"query-id": query, "corpus-ids": ranked}) + b"\n")
                if not no_labels:
                    lines = [BEIR_LINE.format(query, *pair) for pair in judged.of(query, contexts)[0].items()]
                    files[_QRELS].write("".join(lines).encode())
                    judgements += len(lines)
                queries += 1
        work.end()
    notes = {**ids.notes, "queries": queries, "texts": len(known), "judgements": judgements}
    if no_labels:
        notes["no_judgements"] = no_labels
    return Written(len(known), tuple(work.path / name for name in names), notes)


def _is_new(known: dict[str, bytes], document: str, context: RankedContext) -> bool:
    digest = hashlib.blake2b(context.text.encode(), digest_size=8).digest()
    before = known.setdefault(document, digest)
    if before is digest:
        return True
    if before != digest:
        raise ExportError(message("id_document_stands_two_different_texts", document=document, row=context.row))
    return False
