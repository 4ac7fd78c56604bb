"""How the assumptions about results are told from the evidence: scores, vectors, calls without the queue."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.messages import comma_list, message
from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL
from cfbatch_gui.core.workers_ai.probe.evidence import (
    Evidence,
    Step,
    scores_in,
    shown,
    vectors_in,
)
from cfbatch_gui.core.workers_ai.probe.findings import NOTHING_FINISHED, Outcome, Seen, held, not_held, not_seen
from cfbatch_gui.core.workers_ai.probe.probe_requests import QUERY, Form, texts_of

_SAME_SCORE: Final = 0.02  # numbers of half precision, and a model that may be computed in another order
_SAME_VECTOR: Final = 0.99  # cosine
_RANGE: Final = 1.01  # half precision may round 1 up
_UNIT: Final = 0.01
_NO_SCORES: Final = message("No scores came that can be read.")
_NO_VECTORS: Final = message("No vectors came that can be read.")

Vector = NDArray[np.float64]


# Scores


def scores_form(evidence: Evidence) -> Seen:
    """See the table."""
    outputs = evidence.outputs(evidence.finished().get(Form.SCORES))
    for output in outputs.values():
        listed = output.get("response")
        entries = listed if isinstance(listed, list) else []
        ids = [each.get("id") for each in entries if isinstance(each, dict)]
        if sorted(scores_in(output)) != [0, 1, 2] or len(entries) != 3:
            return not_held(
                message(
                    "For 3 contexts came {values}.", values=comma_list([*map(shown, ids[:3])]) or message("no scores")
                )
            )
    return held(message("{n} requests have theirs.", n=len(outputs))) if outputs else _no_scores(evidence)


def scores_range(evidence: Evidence) -> Seen:
    """See the table."""
    found = [score for scores in evidence.scores().values() for score in scores.values()]
    if not found:
        return _no_scores(evidence)
    words = message("From {least:.4f} to {most:.4f}.", least=min(found), most=max(found))
    return held(words) if all(math.isfinite(each) and abs(each) <= _RANGE for each in found) else not_held(words)


def scores_meaning(evidence: Evidence) -> Seen:
    """See the table."""
    if scores_form(evidence).outcome is not Outcome.HELD:
        return _no_scores(evidence)
    for index, scores in evidence.scores().items():
        contexts = _texts(evidence, Form.SCORES, index)[1:]
        best = max(scores, key=lambda number: scores[number])
        if contexts[best] != QUERY:
            own = scores[contexts.index(QUERY)]
            return not_held(
                message("The query itself has {own:.4f}, another context {best:.4f}.", own=own, best=scores[best])
            )
    return held(message("The query itself has the highest, in each request."))


def scores_cosine(evidence: Evidence) -> Seen:
    """Only where scores and vectors are otherwise as assumed: what is wrong with them would show here again."""
    if any(judge(evidence).outcome is not Outcome.HELD for judge in (scores_range, scores_meaning, vector_order)):
        return not_seen(
            message("Scores or vectors to compare are missing.") if _ranks(evidence) else _no_ranking(evidence)
        )
    vectors = _by_text(evidence, Form.CONTEXTS)
    differences = [
        abs(score - _cosine(vectors[QUERY], vectors[_texts(evidence, Form.SCORES, index)[1:][number]]))
        for index, scores in evidence.scores().items()
        for number, score in scores.items()
        if vectors.keys() >= set(_texts(evidence, Form.SCORES, index))
    ]
    if not differences:
        return not_seen(_NO_VECTORS)
    words = message("They differ by up to {most:.4f}.", most=max(differences))
    return held(words) if max(differences) <= _SAME_SCORE else not_held(words)


# Vectors


def contexts_form(evidence: Evidence) -> Seen:
    """See the table."""
    return _stand_in("response", "data", Form.CONTEXTS, evidence)


def text_form(evidence: Evidence) -> Seen:
    """See the table."""
    return _stand_in("data", "response", Form.TEXT, evidence)


def vector_order(evidence: Evidence) -> Seen:
    """Two requests have the same texts in two orders, so each text has two vectors, which must be the same."""
    compared = 0
    for form in (Form.CONTEXTS, Form.TEXT):
        rows = [
            (text, vector)
            for index, vectors in evidence.vectors(form).items()
            for text, vector in zip(_texts(evidence, form, index), vectors, strict=False)
        ]
        for text, vector in rows:
            for other_text, other in rows:
                if vector is other or vector.size != other.size:
                    continue
                if text == other_text:
                    compared += 1
                    if _cosine(vector, other) < _SAME_VECTOR:
                        return not_held(message("The same text has two different vectors in two requests."))
    return held(message("The same text has the same vector in both requests.")) if compared else not_seen(_NO_VECTORS)


def vector_shape(evidence: Evidence) -> Seen:
    """See the table."""
    found = 0
    for output, vectors in _outputs_with_vectors(evidence):
        expected = [len(vectors), vectors[0].size]
        shape = output.get("shape")
        if shape != expected:
            values = comma_list([*map(shown, shape[:2])]) if isinstance(shape, list) else shown(shape)
            return not_held(
                message("It is {values}, not {rows}, {columns}.", values=values, rows=expected[0], columns=expected[1])
            )
        found += 1
    return held(message("{n} requests have it.", n=found)) if found else not_seen(_NO_VECTORS)


def vector_dimension(evidence: Evidence) -> Seen:
    """See the table."""
    lengths = sorted({vector.size for vector in evidence.all_vectors()})
    if not lengths:
        return not_seen(_NO_VECTORS)
    listed = comma_list([message("{n:,}", n=each) for each in lengths[:4]])
    words = message("They have {values} numbers.", values=listed)
    return held(words) if len(lengths) == 1 else not_held(words)


def vector_length(evidence: Evidence) -> Seen:
    """See the table."""
    norms = list(map(_norm, evidence.all_vectors()))
    if not norms:
        return not_seen(_NO_VECTORS)
    words = message("Their lengths are from {least:.4f} to {most:.4f}.", least=min(norms), most=max(norms))
    return held(words) if all(abs(each - 1) <= _UNIT for each in norms) else not_held(words)


def vector_pooling(evidence: Evidence) -> Seen:
    """See the table."""
    model = evidence.plan.model
    expected = "cls" if model.name == DEFAULT_MODEL else model.poolings[0] if model.poolings else ""
    found = [output.get("pooling") for output, _ in _outputs_with_vectors(evidence)]
    words = [each for each in found if each is not None]
    if not expected or not words:
        return not_seen(
            _NO_VECTORS
            if not found
            else message("No answer says it.")
            if expected
            else message("Nothing is assumed of it.")
        )
    other = [word for word in words if word != expected]
    return (
        not_held(message("It is {value}.", value=shown(other[0])))
        if other
        else held(message("It is “{expected}”.", expected=expected))
    )


# Without the queue


def run_form(evidence: Evidence) -> Seen:
    """See the table."""
    answer = next(iter(evidence.of(Step.RUN)), None)
    if answer is None or not answer.is_good:
        return not_seen(evidence.error_of(Step.RUN) or message("It was not tried."))
    output = _run_output(evidence)
    key = "data" if evidence.plan.run.form is Form.TEXT else "response"
    return (
        held(message("It has “{key}”.", key=key))
        if isinstance(output.get(key), list)
        else not_held(message("It has no “{key}”.", key=key))
    )


def run_numbers(evidence: Evidence) -> Seen:
    """See the table."""
    output, form = _run_output(evidence), evidence.plan.run.form
    if form is Form.SCORES:
        queued, direct = evidence.scores().get(0, {}), scores_in(output)
        if not direct or direct.keys() != queued.keys():
            return not_seen(_NO_SCORES)
        most = max(abs(direct[each] - queued[each]) for each in queued)
        words = message("They differ by up to {most:.4f}.", most=most)
        return held(words) if most <= _SAME_SCORE else not_held(words)
    pairs = list(zip(evidence.vectors(form).get(0, []), vectors_in(output), strict=False))
    if not pairs or any(one.size != other.size for one, other in pairs):
        return not_seen(_NO_VECTORS)
    least = min(_cosine(one, other) for one, other in pairs)
    words = message("The least similar pair of vectors has a cosine of {least:.4f}.", least=least)
    return held(words) if least >= _SAME_VECTOR else not_held(words)


def _ranks(evidence: Evidence) -> bool:
    return any(batch.form is Form.SCORES for batch in evidence.plan.batches)


def _no_ranking(evidence: Evidence) -> str:
    return _NO_SCORES if _ranks(evidence) else message("This model gives no scores.")


def _no_scores(evidence: Evidence) -> Seen:
    return not_seen(_no_ranking(evidence))


def _texts(evidence: Evidence, form: Form, index: int) -> tuple[str, ...]:
    return next(texts_of(batch.requests[index]) for batch in evidence.plan.batches if batch.form is form)


def _by_text(evidence: Evidence, form: Form) -> dict[str, Vector]:
    return {
        text: vector
        for index, vectors in evidence.vectors(form).items()
        for text, vector in zip(_texts(evidence, form, index), vectors, strict=False)
    }


def _stand_in(key: str, other: str, form: Form, evidence: Evidence) -> Seen:
    outputs: Sequence[dict[str, Any]] = list(evidence.outputs(evidence.finished().get(form)).values())
    if not outputs:
        is_sent = any(batch.form is form for batch in evidence.plan.batches)
        return not_seen(NOTHING_FINISHED if is_sent else message("This model takes no contexts."))
    for output in outputs:
        if not isinstance(output.get(key), list):
            where = (
                message("They stand in “{other}”.", other=other)
                if isinstance(output.get(other), list)
                else message("There are none.")
            )
            return not_held(where)
    return held(message("{n} requests have them there.", n=len(outputs)))


def _outputs_with_vectors(evidence: Evidence) -> Iterator[tuple[dict[str, Any], list[Vector]]]:
    for form in (Form.CONTEXTS, Form.TEXT):
        for output in evidence.outputs(evidence.finished().get(form)).values():
            if vectors := vectors_in(output):
                yield output, vectors


def _run_output(evidence: Evidence) -> dict[str, Any]:
    answer = next(iter(evidence.of(Step.RUN)), None)
    return answer.result if answer is not None and answer.is_good and isinstance(answer.result, dict) else {}


def _norm(vector: Vector) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near a double's end are only not of length 1
        return float(np.linalg.norm(vector))


def _cosine(one: Vector, other: Vector) -> float:
    norms = _norm(one) * _norm(other)
    return float(one / _norm(one) @ (other / _norm(other))) if 0 < norms < math.inf else 0.0
