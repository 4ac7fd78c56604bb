"""The candidates of each query of a collection that has judgements, and no run that names them."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule
from cfbatch_gui.core.inputs.readers.text_store import TextStore

Labels = Mapping[str, Mapping[str, str]]  # by the ids of query and document
_SEED = "candidates 1"  # another one would draw other texts for jobs that are read again


def usual_rule(labels: Labels) -> CandidateRule:
    """The judged texts where they tell orders apart, and otherwise the usual sample."""
    return CandidateRule(CandidatePool.JUDGED) if have_contrast(labels.values()) else CandidateRule()


def have_contrast(labels: Iterable[Mapping[str, str]]) -> bool:
    """Whether any query has two texts of different grades, so that one order is better than another."""
    return any(len({_grade(label) for label in each.values()}) > 1 for each in labels)


def is_relevant(label: str) -> bool:
    """Whether a label is a grade above 0, which a text that is not judged has."""
    return _grade(label) > 0


def candidate_texts(
    store: TextStore, labels: Labels, rule: CandidateRule
) -> Iterator[tuple[str, Iterable[tuple[str, str | None]]]]:
    """Yield the id of each judged query and its candidates, as ids and texts; None is a judged text that is missing.

    Judged texts alone come in the order of their judgements, those of a whole corpus in its order, and those of a
    sample by their ids, so that no order tells which of them are judged. Each query's candidates have to be taken
    before those of the next. A sample depends on the ids of the corpus and of the query alone.
    """
    count = store.number_ids() if rule.pool is CandidatePool.SAMPLE else 0
    for query_id, judged in labels.items():
        if rule.pool is CandidatePool.CORPUS:
            yield query_id, store
        elif rule.pool is CandidatePool.SAMPLE:
            yield query_id, ((each, store.get(each)) for each in sorted(_sample(store, count, query_id, judged, rule)))
        else:
            yield query_id, ((each, store.get(each)) for each in judged)


def _sample(
    store: TextStore, count: int, query_id: str, judged: Mapping[str, str], rule: CandidateRule
) -> Iterator[str]:
    """Yield the ids of the judged texts, and of others until there are `rule.size` that the corpus has."""
    yield from judged
    missing = rule.size - sum(store.get(each) is not None for each in judged)
    for number in _shuffled(count, query_id):
        if missing <= 0:
            return
        drawn = store.numbered_id(number)
        if drawn not in judged:
            missing -= 1
            yield drawn


def _shuffled(count: int, query_id: str) -> Iterator[int]:
    """Yield 1 to `count` in an order that depends on the query's id alone: Fisher and Yates' shuffle, step by step.

    Its numbers come from a hash, because those of Python's `random` may change with its version.
    """
    moved: dict[int, int] = {}
    seed = hashlib.sha256(f"{_SEED}\0{query_id}".encode("utf-8", "surrogatepass"))
    for index in range(count):
        step = seed.copy()
        step.update(index.to_bytes(8, "big"))
        other = index + int.from_bytes(step.digest()[:8], "big") % (count - index)
        yield moved.get(other, other) + 1
        moved[other] = moved.get(index, index)


def _grade(label: str) -> float:
    try:
        return max(0.0, float(label))
    except ValueError:
        return 0.0
