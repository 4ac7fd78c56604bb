"""A folder in the layout of BEIR and MTEB: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv` if the job has labels, and
the ranking in `top_ranked/test.jsonl`.
"""

import hashlib
from contextlib import ExitStack

import msgspec

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Work, Written
from cfbatch_gui.core.results.exports.checked_stream import checked_file
from cfbatch_gui.core.results.exports.qrels import BEIR_HEADER, check_labels, job_grades, judgements, outside_judgements
from cfbatch_gui.core.results.exports.score_rows import by_query, document_id, keeps, query_id
from cfbatch_gui.core.results.rankings.rankings import RankedContext, Rankings
from cfbatch_gui.core.results.retrieval_ids import RetrievalIds
from cfbatch_gui.core.system.files import atomic_folder

_CORPUS, _QUERIES, _QRELS, _RANKED = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "top_ranked/test.jsonl"
_NAMES = (_CORPUS, _QUERIES, _QRELS, _RANKED)


def write(work: Work) -> Written:
    """Write and read back. Top k and threshold apply to `top_ranked`; the corpus has every text.

    Raises ExportError if one id belongs to two different texts.
    """
    no_labels = check_labels(work)
    ids = RetrievalIds(work.folder)
    outside, label_grades = outside_judgements(work, ids), job_grades(work)
    known: dict[str, bytes] = {}
    encode = msgspec.json.Encoder().encode
    done = queries = judged = 0
    with atomic_folder(work.path, _NAMES.__contains__) as folder:
        with ExitStack() as stack:
            names = (_CORPUS, _QUERIES, _RANKED, *(() if no_labels else (_QRELS,)))
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
                files[_RANKED].write(encode({"query-id": query, "corpus-ids": ranked}) + b"\n")
                if not no_labels:
                    grades = judgements(ids, contexts, label_grades) | outside.get(query, {})
                    lines = [f"{query}\t{name}\t{label}\n" for name, label in grades.items()]
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
