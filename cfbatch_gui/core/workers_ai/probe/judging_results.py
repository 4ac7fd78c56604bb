"""How the assumptions about results are told from the evidence: elements, scores, vectors, calls without the queue."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.workers_ai.catalogue import DEFAULT_MODEL
from cfbatch_gui.core.workers_ai.probe.evidence import (
    Evidence,
    Step,
    is_index,
    scores_in,
    shown,
    vectors_in,
)
from cfbatch_gui.core.workers_ai.probe.findings import Outcome, Seen, held, not_held, not_seen
from cfbatch_gui.core.workers_ai.probe.probe_requests import MARGIN, QUERY, Form, texts_of

_SAME_SCORE: Final = 0.02  # numbers of half precision, and a model that may be computed in another order
_SAME_VECTOR: Final = 0.99  # cosine
_RANGE: Final = 1.01  # half precision may round 1 up
_UNIT: Final = 0.01
_MOST_TOKENS: Final = 10**12
_NOTHING: Final = "No batch was finished."
_NO_SCORES: Final = "No scores came that can be read."
_NO_VECTORS: Final = "No vectors came that can be read."

Vector = NDArray[np.float64]


def done_responses(evidence: Evidence) -> Seen:
    """See the table."""
    for each in evidence.of(Step.POLL):
        body = each.result if each.is_good else None
        if isinstance(body, dict) and "responses" not in body and not body.get("status"):
            return not_held("Results stand in “results”." if "results" in body else "There is no such list.")
    return held(f"{len(evidence.finished())} answers have it.") if evidence.finished() else not_seen(_NOTHING)


def done_without_status(evidence: Evidence) -> Seen:
    """See the table."""
    found = [each.result.get("status") for each in evidence.finished().values()]
    words = [word for word in found if word is not None]
    if words:
        return not_held(f"The status is {shown(words[0])}.")
    return held(f"{len(found)} answers have none.") if found else not_seen(_NOTHING)


def done_again(evidence: Evidence) -> Seen:
    """See the table."""
    again = next(iter(evidence.of(Step.AGAIN)), None)
    if again is None or again.form not in evidence.finished():
        return not_seen(evidence.error_of(Step.AGAIN) or _NOTHING)
    if again.elements is None:
        code = next(iter(again.codes), None)
        return not_held(f"It was refused with code {shown(code)}." if again.is_refusal else "No results came.")
    same = evidence.outputs(again) == evidence.outputs(evidence.finished()[again.form])
    return held("The same results came.") if same else not_held("Other results came.")


def element_ids(evidence: Evidence) -> Seen:
    """See the table."""
    for form, elements in evidence.elements().items():
        ids = [each.get("id") for each in elements]
        count = len(evidence.references(form))
        if not all(is_index(each, count) for each in ids) or len(set(ids)) != count or len(ids) != count:
            return not_held(f"For {count} requests came {', '.join(map(shown, ids[:count])) or 'nothing'}.")
    return held(f"{_count(evidence)} elements have theirs.") if evidence.elements() else not_seen(_NOTHING)


def references(evidence: Evidence) -> Seen:
    """See the table. Whether they belong to the ids is no part of it."""
    for form, elements in evidence.elements().items():
        found = [each.get("external_reference") for each in elements]
        absent = sum(each in (None, "") for each in found)
        if absent:
            return not_held(f"{absent} of {len(found)} elements have none.")
        if sorted(map(str, found)) != sorted(evidence.references(form)):
            return not_held("Elements have other references than were sent.")
    return held(f"{_count(evidence)} elements have theirs.") if evidence.elements() else not_seen(_NOTHING)


def order(evidence: Evidence) -> Seen:
    """See the table."""
    for form, elements in evidence.elements().items():
        places = [each for each in (evidence.index(form, element) for element in elements) if each is not None]
        if places != sorted(places):
            return held("Elements came in another order than they were sent.")
    return not_seen("All came in the order in which they were sent." if evidence.elements() else _NOTHING)


def element_success(evidence: Evidence) -> Seen:
    """See the table."""
    elements = [each for found in evidence.elements().values() for each in found]
    with_result = [each for each in elements if each.get("result") is not None]
    other = [each.get("success") for each in with_result if each.get("success") is not True]
    if other:
        return not_held(f"Beside a result stands {shown(other[0])}.")
    if not with_result:
        return not_seen("Every request failed." if elements else _NOTHING)
    return held(f"{len(with_result)} elements have it.")


def result_depth(evidence: Evidence) -> Seen:
    """See the table."""
    outputs = [each.get("result") for found in evidence.elements().values() for each in found]
    read = [each for each in outputs if isinstance(each, dict)]
    if any("result" in each for each in read):
        return not_held("It stands in “result” once more.")
    return held(f"{len(read)} elements have it so.") if read else not_seen(_NOTHING)


def usage(evidence: Evidence) -> Seen:
    """See the table."""
    for form, each in evidence.finished().items():
        if _tokens(each.result.get("usage")) is None:
            return not_held(f"The answer to the batch of “{form}” has no such numbers.")
    return held(f"{_counted(evidence):,} tokens were counted.") if evidence.finished() else not_seen(_NOTHING)


def usage_estimate(evidence: Evidence) -> Seen:
    """See the table."""
    if usage(evidence).outcome is not Outcome.HELD:
        return not_seen("No tokens were counted.")
    batches = [each for each in evidence.plan.batches if each.form in evidence.finished()]
    low, high = (sum(each.tokens[end] for each in batches) for end in (0, 1))
    words = f"{_counted(evidence):,} tokens were counted, {low:,} to {high:,} estimated."
    return held(words) if low / MARGIN <= _counted(evidence) <= high * MARGIN else not_held(words)


# Scores


def scores_form(evidence: Evidence) -> Seen:
    """See the table."""
    outputs = evidence.outputs(evidence.finished().get(Form.SCORES))
    for output in outputs.values():
        listed = output.get("response")
        entries = listed if isinstance(listed, list) else []
        ids = [each.get("id") for each in entries if isinstance(each, dict)]
        if sorted(scores_in(output)) != [0, 1, 2] or len(entries) != 3:
            return not_held(f"For 3 contexts came {', '.join(map(shown, ids[:3])) or 'no scores'}.")
    return held(f"{len(outputs)} requests have theirs.") if outputs else _no_scores(evidence)


def scores_range(evidence: Evidence) -> Seen:
    """See the table."""
    found = [score for scores in evidence.scores().values() for score in scores.values()]
    if not found:
        return _no_scores(evidence)
    words = f"From {min(found):.4f} to {max(found):.4f}."
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
            return not_held(f"The query itself has {own:.4f}, another context {scores[best]:.4f}.")
    return held("The query itself has the highest, in each request.")


def scores_cosine(evidence: Evidence) -> Seen:
    """Only where scores and vectors are otherwise as assumed: what is wrong with them would show here again."""
    if any(judge(evidence).outcome is not Outcome.HELD for judge in (scores_range, scores_meaning, vector_order)):
        return not_seen("Scores or vectors to compare are missing." if _ranks(evidence) else _no_ranking(evidence))
    vectors = _by_text(evidence, Form.CONTEXTS)
    differences = [
        abs(score - _cosine(vectors[QUERY], vectors[_texts(evidence, Form.SCORES, index)[1:][number]]))
        for index, scores in evidence.scores().items()
        for number, score in scores.items()
        if vectors.keys() >= set(_texts(evidence, Form.SCORES, index))
    ]
    if not differences:
        return not_seen(_NO_VECTORS)
    words = f"They differ by up to {max(differences):.4f}."
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
                        return not_held("The same text has two different vectors in two requests.")
    return held("The same text has the same vector in both requests.") if compared else not_seen(_NO_VECTORS)


def vector_shape(evidence: Evidence) -> Seen:
    """See the table."""
    found = 0
    for output, vectors in _outputs_with_vectors(evidence):
        expected = [len(vectors), vectors[0].size]
        shape = output.get("shape")
        if shape != expected:
            values = ", ".join(map(shown, shape[:2])) if isinstance(shape, list) else shown(shape)
            return not_held(f"It is {values}, not {expected[0]}, {expected[1]}.")
        found += 1
    return held(f"{found} requests have it.") if found else not_seen(_NO_VECTORS)


def vector_dimension(evidence: Evidence) -> Seen:
    """See the table."""
    lengths = sorted({vector.size for vector in evidence.all_vectors()})
    if len(lengths) > 1:
        return not_held(f"They have {', '.join(f'{each:,}' for each in lengths[:4])} numbers.")
    return held(f"They have {lengths[0]:,} numbers.") if lengths else not_seen(_NO_VECTORS)


def vector_length(evidence: Evidence) -> Seen:
    """See the table."""
    norms = list(map(_norm, evidence.all_vectors()))
    if not norms:
        return not_seen(_NO_VECTORS)
    words = f"Their lengths are from {min(norms):.4f} to {max(norms):.4f}."
    return held(words) if all(abs(each - 1) <= _UNIT for each in norms) else not_held(words)


def vector_pooling(evidence: Evidence) -> Seen:
    """See the table."""
    model = evidence.plan.model
    expected = "cls" if model.name == DEFAULT_MODEL else model.poolings[0] if model.poolings else ""
    found = [output.get("pooling") for output, _ in _outputs_with_vectors(evidence)]
    words = [each for each in found if each is not None]
    if not expected or not words:
        return not_seen(_NO_VECTORS if not found else "No answer says it." if expected else "Nothing is assumed of it.")
    other = [word for word in words if word != expected]
    return not_held(f"It is {shown(other[0])}.") if other else held(f"It is “{expected}”.")


# Without the queue


def run_form(evidence: Evidence) -> Seen:
    """See the table."""
    answer = next(iter(evidence.of(Step.RUN)), None)
    if answer is None or not answer.is_good:
        return not_seen(evidence.error_of(Step.RUN) or "It was not tried.")
    output = _run_output(evidence)
    key = "data" if evidence.plan.run.form is Form.TEXT else "response"
    return held(f"It has “{key}”.") if isinstance(output.get(key), list) else not_held(f"It has no “{key}”.")


def run_numbers(evidence: Evidence) -> Seen:
    """See the table."""
    output, form = _run_output(evidence), evidence.plan.run.form
    if form is Form.SCORES:
        queued, direct = evidence.scores().get(0, {}), scores_in(output)
        if not direct or direct.keys() != queued.keys():
            return not_seen(_NO_SCORES)
        most = max(abs(direct[each] - queued[each]) for each in queued)
        words = f"They differ by up to {most:.4f}."
        return held(words) if most <= _SAME_SCORE else not_held(words)
    pairs = list(zip(evidence.vectors(form).get(0, []), vectors_in(output), strict=False))
    if not pairs or any(one.size != other.size for one, other in pairs):
        return not_seen(_NO_VECTORS)
    least = min(_cosine(one, other) for one, other in pairs)
    words = f"The least similar pair of vectors has a cosine of {least:.4f}."
    return held(words) if least >= _SAME_VECTOR else not_held(words)


def _count(evidence: Evidence) -> int:
    return sum(map(len, evidence.elements().values()))


def _tokens(value: Any) -> int | None:
    """`total_tokens`, None unless it and `prompt_tokens` are counts."""
    if not isinstance(value, dict):
        return None
    prompt, total = value.get("prompt_tokens"), value.get("total_tokens")
    return total if is_index(prompt, _MOST_TOKENS) and is_index(total, _MOST_TOKENS) and prompt and total else None


def _counted(evidence: Evidence) -> int:
    return sum(_tokens(each.result.get("usage")) or 0 for each in evidence.finished().values())


def _ranks(evidence: Evidence) -> bool:
    return any(batch.form is Form.SCORES for batch in evidence.plan.batches)


def _no_ranking(evidence: Evidence) -> str:
    return _NO_SCORES if _ranks(evidence) else "This model gives no scores."


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
        return not_seen(_NOTHING if is_sent else "This model takes no contexts.")
    for output in outputs:
        if not isinstance(output.get(key), list):
            where = f"They stand in “{other}”." if isinstance(output.get(other), list) else "There are none."
            return not_held(where)
    return held(f"{len(outputs)} requests have them there.")


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
