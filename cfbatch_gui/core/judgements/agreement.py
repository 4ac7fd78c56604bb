"""How far judges agree, with each other and with themselves when they see a pair again."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.judgements.book import AGAIN, CANNOT_TELL, TAKEN_BACK, Records, newest
from cfbatch_gui.core.judgements.values import Source
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

    @property
    def share(self) -> float:
        """The share with the same grade, 0.0 without pairs."""
        return self.same / self.pairs if self.pairs else 0.0


def between_judges(records: Records) -> Agreement:
    """Of people, each judge with each other one, by the newest grade of each."""
    counting = newest(records[records["source"] == Source.PERSON])  # what was settled later does not hide what differed
    counting = counting[counting["flags"] & CANNOT_TELL == 0]
    grades: dict[tuple[int, int], list[int]] = defaultdict(list)
    for record in counting:
        grades[int(record["query"]), int(record["document"])].append(int(record["grade"]))
    twice = [
        (one, other) for of_pair in grades.values() for at, one in enumerate(of_pair) for other in of_pair[at + 1 :]
    ]
    return _agreement(twice)


def with_themselves(records: Records) -> Agreement:
    """Each judge's grade of a pair that was shown again with the grade before it."""
    last: dict[tuple[int, int, int], int | None] = {}
    twice: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)
    was_again: set[tuple[int, int, int]] = set()
    for record in records[records["source"] == Source.PERSON]:
        key = (int(record["query"]), int(record["document"]), int(record["judge"]))
        if record["flags"] & TAKEN_BACK:
            if key in was_again:
                twice[key].pop()
            last[key] = None
            was_again.discard(key)
            continue
        grade = None if record["flags"] & CANNOT_TELL else int(record["grade"])
        before = last.get(key)
        was_again.discard(key)
        if record["flags"] & AGAIN and before is not None and grade is not None:
            twice[key].append((before, grade))
            was_again.add(key)
        last[key] = grade
    return _agreement([pair for of_pair in twice.values() for pair in of_pair])


def weighted_kappa(one: Grades, other: Grades) -> float | None:
    """Cohen's kappa with linear weights (1968), with one distribution by chance for both."""
    observed = float(np.abs(one - other).mean()) if len(one) else 0.0
    values, counts = np.unique(np.concatenate((one, other)), return_counts=True)
    shares = counts / counts.sum() if len(counts) else counts
    expected = float(shares @ np.abs(values[:, None] - values[None, :]) @ shares) if len(values) else 0.0
    return 1.0 - observed / expected if expected else None


def _agreement(twice: list[tuple[int, int]]) -> Agreement:
    grades = np.array(twice, dtype=np.int64).reshape(-1, 2)
    same = int((grades[:, 0] == grades[:, 1]).sum())
    return Agreement(len(grades), same, weighted_kappa(grades[:, 0], grades[:, 1]))


def agreement_words(found: Agreement) -> str:
    """How far judges agree, as a sentence: the share with the same grade, and kappa in words."""
    share = message(
        "the same grade for {same:,} of {pairs:,} texts ({share:.0%})",
        same=found.same,
        pairs=found.pairs,
        share=found.share,
    )
    if found.kappa is None:
        return message("{share}; too little variety to say more", share=share)
    return message(
        "{share}, agreement beyond chance {word} (weighted kappa {kappa:.2f})",
        share=share,
        word=next(word for least, word in _WORDS if found.kappa >= least),
        kappa=found.kappa,
    )
