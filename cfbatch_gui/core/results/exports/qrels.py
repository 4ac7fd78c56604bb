"""The labels of the user's file as relevance judgements: TREC's `query 0 document label`, or BEIR's TSV with a header.

Every labelled pair is written, scored or not, as judgements do not depend on the scores; so are judgements of documents
that were not ranked, unless only some pairs were chosen.
"""

from collections import defaultdict
from collections.abc import Sequence

from cfbatch_gui.core.errors import ExportError
from cfbatch_gui.core.inputs.input_values import Layout
from cfbatch_gui.core.job_folder import schema
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.exports.base import Work, Written
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.score_rows import by_query, document_id, query_id
from cfbatch_gui.core.results.labels import NO_LABEL, LabelGrades, read_outside_grades
from cfbatch_gui.core.results.rankings.rankings import RankedContext, Rankings
from cfbatch_gui.core.results.retrieval_ids import RetrievalIds
from cfbatch_gui.core.system.files import atomic_writer

BEIR_HEADER = "query-id\tcorpus-id\tscore\n"


def write_trec(work: Work) -> Written:
    """Write `query 0 document label`, separated by blanks, and read back. Raises ExportError without usable labels."""
    return _write(work, "", "{} 0 {} {}\n")


def write_beir(work: Work) -> Written:
    """Write TSV with BEIR_HEADER and read back. Raises ExportError without usable labels."""
    return _write(work, BEIR_HEADER, "{}\t{}\t{}\n")


def judgements(ids: RetrievalIds, contexts: Sequence[RankedContext], grades: LabelGrades) -> dict[str, int]:
    """Document → label for the labelled contexts of one query; of one that comes twice, that of its first row."""
    judged: dict[str, int] = {}
    for context in sorted(contexts, key=lambda context: context.initial_rank):
        label = grades.of(context.label)
        if label != NO_LABEL:
            judged.setdefault(document_id(ids, context), label)
    return judged


def job_grades(work: Work) -> LabelGrades:
    """The grades of the job's labels."""
    with work.folder.open(read_only=True) as database:
        return LabelGrades(database)


def outside_judgements(work: Work, ids: RetrievalIds) -> dict[str, dict[str, int]]:
    """Query → document → grade, by the ids of the export, of judged documents that were not ranked.

    Empty where only some of the ranked ones are written.
    """
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


def _write(work: Work, header: str, form: str) -> Written:
    if reason := check_labels(work):
        raise ExportError(message("{reason} Nothing was written.", reason=reason))
    ids = RetrievalIds(work.folder)
    outside = outside_judgements(work, ids)
    grades = job_grades(work)
    rows = done = repeated = 0
    with atomic_writer(work.path) as raw:
        stream = CheckedStream(raw, work.path)
        stream.write(header.encode())
        for every in by_query(Rankings(work.folder, work.metadata.failed_batches)):
            query = query_id(ids, every[0])
            contexts = [context for context in every if work.options.has_item(context.item_no)]
            judged = judgements(ids, contexts, grades)
            repeated += sum(grades.of(context.label) != NO_LABEL for context in contexts) - len(judged)
            judged |= outside.get(query, {})
            stream.write("".join(form.format(query, *pair) for pair in judged.items()).encode())
            rows, done = rows + len(judged), done + len(every)
            work.tick(done)
        if not rows:
            raise ExportError(
                message("None of these texts has a label, so there is no judgement. Nothing was written.")
            )
        stream.compare(work, done)
        work.tick_end()
    notes = {
        **ids.notes,
        "repeated_documents_left_out": repeated,
        "of_documents_not_ranked": sum(map(len, outside.values())),
    }
    return Written(rows, (work.path,), notes)
