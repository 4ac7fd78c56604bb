"""How far judges agree, with each other and with themselves when they see a pair again."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.judgements.book import Book, graded, newest
from cfbatch_gui.core.judgements.values import Judgement, Source
from cfbatch_gui.core.messages import message

Grades = NDArray[np.int64]
# D. Altman, "Practical Statistics for Medical Research", 1991.
_WORDS = (
    (0.8, message("very good")),
    (0.6, message("good")),
    (0.4, message("moderate")),
    (0.2, message("fair")),
    (-float("inf"), message("poor")),
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `pairs` graded twice `same` are equal; `kappa` is None without variety."""

    pairs: int
    same: int
    kappa: float | None


def between_judges(book: Book) -> Agreement:
    """Of people, each judge with each other one, by the newest grade of each. Blocking. Raises DataError."""
    # What was settled later does not hide what differed.
    of_people = newest(each for each in book.judgements() if each.source is Source.PERSON)
    return _agreement([pair for of_pair in graded(of_people) for pair in combinations(of_pair, 2)])


def with_themselves(book: Book) -> Agreement:
    """Each judge's grade of a pair that was shown again with the grade before it. Blocking. Raises DataError."""
    last: dict[object, Judgement] = {}
    twice: dict[object, list[tuple[Judgement, Judgement]]] = defaultdict(list)
    for each in book.judgements():
        if each.source is not Source.PERSON:
            continue
        key = (each.pair, each.judge)
        before = last.get(key)
        if each.taken_back:
            if before is not None and twice[key] and twice[key][-1][1] is before:
                twice[key].pop()
            last.pop(key, None)
            continue
        if each.again and before is not None and before.grade is not None and each.grade is not None:
            twice[key].append((before, each))
        last[key] = each
    return _agreement([pair for of_pair in twice.values() for pair in of_pair])


def weighted_kappa(one: Grades, other: Grades) -> float | None:
    """Cohen's kappa with linear weights (1968), with one distribution by chance for both."""
    observed = float(np.abs(one - other).mean()) if len(one) else 0.0
    values, counts = np.unique(np.concatenate((one, other)), return_counts=True)
    shares = counts / counts.sum() if len(counts) else counts
    expected = float(shares @ np.abs(values[:, None] - values[None, :]) @ shares) if len(values) else 0.0
    return 1.0 - observed / expected if expected else None


def _agreement(twice: Sequence[tuple[Judgement, Judgement]]) -> Agreement:
    grades = np.array([(one.grade, other.grade) for one, other in twice], dtype=np.int64).reshape(-1, 2)
    same = int((grades[:, 0] == grades[:, 1]).sum())
    return Agreement(len(grades), same, weighted_kappa(grades[:, 0], grades[:, 1]))


def agreement_words(found: Agreement) -> str:
    """How far judges agree, as a sentence: the share with the same grade, and kappa in words."""
    share = message(
        "the same grade for {same:,} of {pairs:,} texts ({share:.0%})",
        same=found.same,
        pairs=found.pairs,
        share=found.same / max(1, found.pairs),
    )
    if found.kappa is None:
        return message("{share}; too little variety to say more", share=share)
    return message(
        "{share}, agreement beyond chance {word} (weighted kappa {kappa:.2f})",
        share=share,
        word=next(word for least, word in _WORDS if found.kappa >= least),
        kappa=found.kappa,
    )
