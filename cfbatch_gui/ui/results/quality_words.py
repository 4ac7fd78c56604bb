"""What the page of a ranking's quality reads, the columns of its table, and its sentences."""

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.evaluation.comparison import JudgedQuery
from cfbatch_gui.core.evaluation.judged import Evaluation
from cfbatch_gui.core.evaluation.judged_documents import BookGrades
from cfbatch_gui.core.evaluation.runs import Run
from cfbatch_gui.core.judgements.agreement import Agreement
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import score_text
from cfbatch_gui.ui.tables.table_rows import Column

_MOST_OFFERED = 4


@dataclass(frozen=True, slots=True)
class Quality:
    """What the page shows; `evaluation` is None while nothing is judged, and then there are no `queries`."""

    run: Run
    evaluation: Evaluation | None
    queries: tuple[JudgedQuery, ...]
    interval: tuple[float, float] | None
    book: BookGrades | None
    has_chosen_grades: bool = False
    agreement: Agreement | None = None  # of the judges of the book


def query_columns(name: str) -> tuple[Column[JudgedQuery], ...]:
    """Query, the measure with a bar, how many are judged, the best text and its rank."""
    return (
        Column(_tr("Query"), lambda query: query.text, key="query", stretch=True),
        Column(
            name,
            lambda query: query.value,
            score_text,
            key="value",
            align="right",
            width=190,
            bar=lambda query: query.value,
            tip=_tr("1 is the best order there could be. The bar begins at 0 and ends at 1."),
        ),
        Column(
            _tr("Judged"),
            lambda query: query.judged / query.top if query.top else 1.0,
            text=lambda query: _tr("{n} of {all}").format(n=query.judged, all=query.top),
            key="judged",
            copies_text=True,
            align="right",
            width=84,
            colour=lambda query: "text" if query.judged == query.top else "attention",
        ),
        Column(_tr("Best text"), lambda query: query.best, key="best", stretch=True),
        Column(
            _tr("stands at"),
            lambda query: query.best_rank or None,
            lambda rank: _tr("rank {n}").format(n=display.number(rank)),
            key="rank",
            align="right",
            width=92,
        ),
        Column(_tr("ID"), lambda query: query.id, key="id", width=90, hidden=True),
    )


def offered_words(found: Quality) -> str:
    """What labels that are no numbers may mean, as the text of a link; "" if nothing can be proposed."""
    if found.run.unusable is None or not found.run.unusable.proposal:
        return ""
    pairs = [
        _tr("{label} = {grade}").format(label=display.one_line(label, 20), grade=grade)
        for label, grade in found.run.unusable.proposal
    ]
    shown = ", ".join(pairs[:_MOST_OFFERED]) + (", …" if len(pairs) > _MOST_OFFERED else "")
    return _tr("Use as grades: {grades}").format(grades=shown)


def trouble_words(found: Quality) -> str:
    """What the figures do not show; "" if nothing."""
    sentences = []
    if found.run.is_partial:
        sentences.append(_tr("Partial: only what is back so far is measured."))
    if found.run.unusable is not None:
        unusable = found.run.unusable
        pattern = _tr("{n} labels are no whole numbers and are left out, such as “{label}” in row {row}.")
        if unusable.count == 1:
            pattern = _tr("{n} label is no whole number and is left out: “{label}” in row {row}.")
        label, row = display.one_line(unusable.examples[0], 40), display.number(unusable.rows[0])
        sentences.append(pattern.format(n=display.number(unusable.count), label=label, row=row))
    elif found.has_chosen_grades:
        sentences.append(_tr("Words in the label column are read as the grades you chose."))
    if found.evaluation is not None and found.evaluation.conflicts:
        sentences.append(
            display.plural(
                found.evaluation.conflicts,
                "{n} text has two labels; the first one counts.",
                "{n} texts have two labels; the first one counts.",
            )
        )
    return " ".join(sentences)


def foot_words(found: Quality, evaluation: Evaluation) -> str:
    """By whose judgements the figures are, and which judgements are not in them."""
    counts = _tr("{n} judgements").format(n=display.number(evaluation.judged))
    matched = evaluation.book.matched if evaluation.book is not None else 0
    words = [_tr("By the labels of the file ({counts}).").format(counts=counts)]
    if found.book is not None and matched:
        words = [
            _tr("By the book “{book}” and the labels of the file ({counts}).").format(
                book=found.book.name, counts=counts
            )
        ]
    if found.agreement is not None and found.agreement.pairs and matched:
        pattern = _tr("Several judged {n} of the texts, {share} with the same grade.")
        share = display.percent(found.agreement.share)
        if found.agreement.kappa is not None:
            pattern = _tr("Several judged {n} of the texts, {share} with the same grade (weighted kappa {kappa}).")
        kappa = display.number(found.agreement.kappa or 0, ".2f")
        words.append(pattern.format(share=share, n=display.number(found.agreement.pairs), kappa=kappa))
    if evaluation.book is not None and evaluation.book.other_versions:
        words.append(
            display.plural(
                evaluation.book.other_versions,
                "{n} judgement is about another version of a text.",
                "{n} judgements are about other versions of a text.",
            )
        )
    if evaluation.left_out:
        words.append(
            display.plural(
                evaluation.left_out,
                "{n} query without judgements is left out.",
                "{n} queries without judgements are left out.",
            )
        )
    words.append(_tr("Measures as trec_eval defines them; equal scores are ordered by id."))
    return " ".join(words)


def about_measure(name: str, k: int) -> str:
    """What a measure says, in a few words."""
    plain = {
        f"nDCG@{k}": _tr("how close to the best order the first {k} are, better grades counting more"),
        "RR": _tr("1 divided by the rank of the first relevant text"),
        f"R@{k}": _tr("of all relevant texts, the share among the first {k}"),
        f"P@{k}": _tr("of the first {k}, the share that is relevant"),
        f"Success@{k}": _tr("the share of queries with a relevant text among the first {k}"),
        "AP": _tr("precision at each relevant text, on average"),
        "bpref": _tr("how rarely a text judged not relevant stands above a relevant one"),
        f"nDCG@{k} (exp)": _tr("nDCG with 2 to the grade less 1 as gain"),
    }
    return plain.get(name, "").format(k=k)


def _tr(text: str) -> str:
    return QCoreApplication.translate("QualityView", text)
