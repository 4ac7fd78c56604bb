"""Rankings for programs that evaluate retrieval: TREC runs, qrels, BEIR folders.

trec_eval reads scores as float32, so those of a query are written strictly decreasing as float32, too.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack

import msgspec
import numpy as np

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Work, Written, checked_export, checked_file, slug
from cfbatch_gui.core.results.exports.score_rows import by_query, document_id, keeps, query_id
from cfbatch_gui.core.results.labels import NO_LABEL, LabelGrades, read_outside_grades
from cfbatch_gui.core.results.rankings import RankedContext, Rankings, RetrievalIds
from cfbatch_gui.core.system.files import atomic_folder

_LOWEST = np.float32(-np.inf)


def write_run(work: Work) -> Written:
    """Write and read back, a document once a query by its better rank. Raises ExportError if nothing is left."""
    ids = RetrievalIds(work.folder)
    tag = f"cfbatch-{slug(work.metadata.model.rsplit('/')[-1], 'run')}"
    rows = dropped = repeated = lowered = 0
    with checked_export(work) as stream:
        for contexts in by_query(Rankings(work.folder, work.metadata.failed_batches)):
            scored = [context for context in contexts if context.score is not None]
            kept = [context for context in scored if keeps(context, work.options)]
            ranked: dict[str, RankedContext] = {}
            for context in kept:
                ranked.setdefault(document_id(ids, context), context)
            lines, changed = _lines(query_id(ids, contexts[0]), ranked, tag) if ranked else ("", 0)
            stream.write(lines.encode())
            rows, lowered = rows + len(ranked), lowered + changed
            dropped, repeated = dropped + len(scored) - len(kept), repeated + len(kept) - len(ranked)
            stream.tick(len(contexts))
        if not rows:
            raise ExportError(
                message("Top k and the threshold leave nothing to write. Nothing was written; let more through.")
            )
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


BEIR_HEADER, BEIR_LINE = "query-id\tcorpus-id\tscore\n", "{}\t{}\t{}\n"


def judgements(ids: RetrievalIds, contexts: Sequence[RankedContext], grades: LabelGrades) -> dict[str, int]:
    """Document → label for the labelled contexts of one query; of one that comes twice, that of its first row."""
    judged: dict[str, int] = {}
    for context in sorted(contexts, key=lambda context: context.initial_rank):
        label = grades.of(context.label)
        if label != NO_LABEL:
            judged.setdefault(document_id(ids, context), label)
    return judged


def job_grades(work: Work) -> LabelGrades:
    with work.folder.open(read_only=True) as database:
        return LabelGrades(database)


def outside_judgements(work: Work, ids: RetrievalIds) -> dict[str, dict[str, int]]:
    """Query → document → grade of judged documents that were not ranked; empty for a selection."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    if work.options.items is not None:
        return found
    with work.folder.open(read_only=True) as database:
        for each in read_outside_grades(database):
            found[ids.query(0, each.query_id)][ids.document(each.document_id, 0, 0)] = each.grade
    return found


def check_labels(work: Work) -> str:
    """The reason, as a sentence, why the labels cannot be used as judgements; "" if they can."""
    with work.folder.open(read_only=True) as database:
        layout = schema.metadata_value(database, "layout")
        grades = LabelGrades(database)
        labels = database.execute("SELECT label, min(row) FROM texts WHERE label <> '' GROUP BY label")
        if layout == Layout.SHARED:
            return message(
                "The labels of this job belong to the texts alone, not to a query with a text: they judge nothing."
            )
        found = False
        for label, row in labels:
            if label.strip() and grades.of(label) == NO_LABEL:
                return message(
                    "The label of row {row} is “{label}”, and judgements are whole numbers such as 0 and 1.",
                    row=row,
                    label=label[:40],
                )
            found = found or bool(label.strip())
        found = found or database.execute("SELECT 1 FROM outside_judgements LIMIT 1").fetchone() is not None
    if not found:
        return message(
            "This job has no labels, and judgements are made of them: say which column is the label, and send again."
        )
    return ""


def write_qrels(work: Work, *, header: str = "", form: str = "{} 0 {} {}\n") -> Written:
    """Write a line for each judgement, by default trec_eval's; read back. Raises ExportError without usable labels."""
    if reason := check_labels(work):
        raise ExportError(message("{reason} Nothing was written.", reason=reason))
    ids = RetrievalIds(work.folder)
    outside = outside_judgements(work, ids)
    grades = job_grades(work)
    rows = repeated = 0
    with checked_export(work) as stream:
        stream.write(header.encode())
        for every in by_query(Rankings(work.folder, work.metadata.failed_batches)):
            query = query_id(ids, every[0])
            contexts = [context for context in every if work.options.has_item(context.item_no)]
            judged = judgements(ids, contexts, grades)
            repeated += sum(grades.of(context.label) != NO_LABEL for context in contexts) - len(judged)
            judged |= outside.get(query, {})
            stream.write("".join(form.format(query, *pair) for pair in judged.items()).encode())
            rows += len(judged)
            stream.tick(len(every))
        if not rows:
            raise ExportError(
                message("None of these texts has a label, so there is no judgement. Nothing was written.")
            )
    notes = {
        **ids.notes,
        "repeated_documents_left_out": repeated,
        "of_documents_not_ranked": sum(map(len, outside.values())),
    }
    return Written(rows, (work.path,), notes)


_CORPUS, _QUERIES, _QRELS, _TOP_RANKED = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "top_ranked/test.jsonl"
_NAMES = (_CORPUS, _QUERIES, _QRELS, _TOP_RANKED)


def write_beir_folder(work: Work) -> Written:
    """Write and read back; the corpus has every text. Raises ExportError for one id of two texts."""
    no_labels = check_labels(work)
    ids = RetrievalIds(work.folder)
    outside, label_grades = outside_judgements(work, ids), job_grades(work)
    known: dict[str, bytes] = {}
    encode = msgspec.json.Encoder().encode
    done = queries = judged = 0
    with atomic_folder(work.path, _NAMES.__contains__) as folder:
        with ExitStack() as stack:
            names = (_CORPUS, _QUERIES, _TOP_RANKED, *(() if no_labels else (_QRELS,)))
            files = {name: stack.enter_context(checked_file(folder, name, work)) for name in names}
            if not no_labels:
                files[_QRELS].write(BEIR_HEADER.encode())
            for every in by_query(Rankings(work.folder, work.metadata.failed_batches)):
                contexts = [context for context in every if work.options.has_item(context.item_no)]
                if not contexts:
                    continue
                query = query_id(ids, contexts[0])
                files[_QUERIES].write(encode({"_id": query, "text": contexts[0].query}) + b"\n")
                for context in contexts:
                    document = document_id(ids, context)
                    if _is_new(known, document, context):
                        files[_CORPUS].write(encode({"_id": document, "title": "", "text": context.text}) + b"\n")
                kept = [context for context in contexts if context.score is not None and keeps(context, work.options)]
                ranked = list(dict.fromkeys(document_id(ids, context) for context in kept))
                files[_TOP_RANKED].write(encode({"query-id": query, "corpus-ids": ranked}) + b"\n")
                if not no_labels:
                    grades = judgements(ids, contexts, label_grades) | outside.get(query, {})
                    lines = [BEIR_LINE.format(query, *pair) for pair in grades.items()]
                    files[_QRELS].write("".join(lines).encode())
                    judged += len(lines)
                queries, done = queries + 1, done + len(every)
                work.tick(done)
        work.tick_end()
    notes = {**ids.notes, "queries": queries, "texts": len(known), "judgements": judged}
    if no_labels:
        notes["no_judgements"] = no_labels
    return Written(len(known), tuple(work.path / name for name in names), notes)


def _is_new(known: dict[str, bytes], document: str, context: RankedContext) -> bool:
    digest = hashlib.blake2b(context.text.encode(), digest_size=8).digest()
    before = known.setdefault(document, digest)
    if before is digest:
        return True
    if before != digest:
        raise ExportError(
            message(
                "The id “{document}” stands for two different texts, again in row {row}. In this format an id is "
                "one text. Nothing was written. Choose another format, or give each text an id of its own.",
                document=document,
                row=context.row,
            )
        )
    return False
