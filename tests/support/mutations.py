"""Change one thing in an answer of the practice service: into an error, or into another form that is valid too.

A change that does not apply leaves the answer as it is: an answer to a submit, for example, has no elements.
"""

import copy
import json
from collections.abc import Callable, Collection
from typing import Any, Final, TypeAlias

Json: TypeAlias = dict[str, Any]
_INFINITE: Final = "9" * 40  # stands for 1e999, which json cannot write


def mutate(data: bytes, how: str) -> bytes:
    if how in _OF_BYTES:
        return _OF_BYTES[how](data)
    try:
        answer = json.loads(data)
    except ValueError:
        return data
    if not isinstance(answer, dict):
        return data
    result = answer.get("result")
    if how in _OF_FRAMES:
        _OF_FRAMES[how](answer)
    elif how in _OF_RESULTS:
        if isinstance(result, dict):
            _OF_RESULTS[how](result)
    elif how in _OF_VECTORS:
        if vectors := _vectors_of_vectorize(result):
            _OF_VECTORS[how](vectors)
    elif elements := _elements(answer):
        _OF_ELEMENTS[how](elements)
    return _encode(answer)


def with_failures(data: bytes, requests: Collection[int], error: str) -> bytes:
    """Return the answer with these requests (indices) marked as failed, with `error` as their message."""
    answer = json.loads(data)
    for element in _elements(answer):
        if element.get("id") in requests:
            _refuse(element, error)
    return _encode(answer)


def of_another_job(data: bytes) -> bytes:
    """Return the answer as if for another job: with other references, and with every number negated."""
    answer = json.loads(data)
    for element in _elements(answer):
        element["external_reference"] = f"another-{element.get('external_reference')}"
        for row in _rows(element):
            if isinstance(row, dict):
                row["score"] = -row["score"]
            else:
                row[:] = [-number for number in row]
    return _encode(answer)


def _encode(answer: object) -> bytes:
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return text.replace(_INFINITE, "1e999").encode()


def _elements(answer: Json) -> list[Json]:
    result = answer.get("result")
    found = (result if isinstance(result, dict) else answer).get("responses")
    return found if isinstance(found, list) else []


def _rows(element: Json) -> list[Any]:
    result = element.get("result") or {}
    found: list[Any] = result.get("data") or result.get("response") or []
    return found


def _swap(elements: list[Json], key: str) -> None:
    if len(elements) > 1:
        elements[0][key], elements[1][key] = elements[1][key], elements[0][key]


def _drop(elements: list[Json], *keys: str) -> None:
    for element in elements:
        for key in keys:
            element.pop(key, None)


def _refuse(element: Json, error: object = None) -> None:
    element.pop("result", None)
    element.update({"success": False} if error is None else {"success": False, "error": error})


def _change_value(elements: list[Json], change: Callable[[Any], object]) -> None:
    for row in _rows(elements[0])[:1]:
        key: Any = "score" if isinstance(row, dict) else 0
        row[key] = change(row[key])


def _change_context_id(elements: list[Json], of: Callable[[list[Json]], int]) -> None:
    entries = _rows(elements[0])
    if entries and isinstance(entries[0], dict):
        entries[0]["id"] = of(entries)


def _change_vector(elements: list[Json], change: Callable[[list[float]], object]) -> None:
    for row in _rows(elements[0])[:1]:
        if isinstance(row, list):
            change(row)


def _zero(row: list[float]) -> None:
    row[:] = [0.0] * len(row)


def _misdeclare(elements: list[Json]) -> None:
    if "shape" in elements[0].get("result", {}):
        elements[0]["result"]["shape"][0] += 1


def _mix_pooling(elements: list[Json]) -> None:
    for index, element in enumerate(elements):
        if "shape" in element.get("result", {}):
            element["result"]["pooling"] = ("cls", "mean")[index % 2]


def _rename_results(result: Json) -> None:
    if "responses" in result:
        result["results"] = result.pop("responses")
        _drop(result["results"], "id")


_OF_BYTES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "nested_deeply": lambda data: b"[" * 200_000,
    "not_utf8": lambda data: data.replace(b'":', b'\xff":', 1),
    "array": lambda data: b"[" + data + b"]",
    "no_envelope": lambda data: _encode(json.loads(data)["result"]),
}
_OF_FRAMES: Final[dict[str, Callable[[Json], object]]] = {
    "result_null": lambda answer: answer.update(result=None),
    "result_empty": lambda answer: answer.update(result={}),
    "not_successful": lambda answer: answer.update(success=False, result=None),
    "success_as_string": lambda answer: answer.update(success="yes"),
    "errors_as_string": lambda answer: answer.update(success=False, errors="something went wrong"),
    "unknown_status": lambda answer: answer.update(result={"status": "thinking"}),
}
_OF_BATCH_RESULTS: Final[dict[str, Callable[[Json], object]]] = {
    "results_without_id": _rename_results,
    "both_lists": lambda result: "responses" in result and result.update(results=result["responses"]),
    "no_usage": lambda result: result.pop("usage", None),
    "strange_usage": lambda result: result.update(usage="a lot"),
    "no_request_id": lambda result: result.pop("request_id", None),
}
_OF_ELEMENTS: Final[dict[str, Callable[[list[Json]], object]]] = {
    "element_missing": lambda elements: elements.pop(),
    "element_repeated": lambda elements: elements.append(copy.deepcopy(elements[0])),
    "no_elements": lambda elements: elements.clear(),
    "ids_swapped": lambda elements: _swap(elements, "id"),
    "ids_missing": lambda elements: _drop(elements, "id"),
    "id_unknown": lambda elements: elements[0].update(id=1_000_000),
    "id_as_string": lambda elements: elements[0].update(id=str(elements[0]["id"])),
    "references_swapped": lambda elements: _swap(elements, "external_reference"),
    "references_null": lambda elements: [element.update(external_reference=None) for element in elements],
    "reference_foreign": lambda elements: elements[0].update(external_reference="of-another-job"),
    "unmarked": lambda elements: _drop(elements, "id", "external_reference"),
    "result_missing": lambda elements: elements[0].update(result=None),
    "result_nested": lambda elements: [element.update(result={"result": element["result"]}) for element in elements],
    "error_string": lambda elements: _refuse(elements[0], "AiError: Something went wrong with this one"),
    "error_object": lambda elements: _refuse(elements[0], {"code": 3030, "message": "Something went wrong"}),
    "error_missing": lambda elements: _refuse(elements[0]),
    "value_missing": lambda elements: _rows(elements[0]).pop(),
    "value_repeated": lambda elements: _rows(elements[0]).extend(copy.deepcopy(_rows(elements[0])[:1])),
    "value_nan": lambda elements: _change_value(elements, lambda _: float("nan")),
    "value_infinite": lambda elements: _change_value(elements, lambda _: int(_INFINITE)),
    "value_null": lambda elements: _change_value(elements, lambda _: None),
    "value_as_string": lambda elements: _change_value(elements, str),
    "context_id_twice": lambda elements: _change_context_id(elements, lambda entries: entries[-1]["id"]),
    "context_id_unknown": lambda elements: _change_context_id(elements, len),
    "wrong_dimension": lambda elements: _change_vector(elements, list.pop),
    "zero_vector": lambda elements: _change_vector(elements, _zero),
    "wrong_shape": _misdeclare,
    "mixed_pooling": _mix_pooling,
}
OF_BATCHES: Final = frozenset({*_OF_BYTES, *_OF_FRAMES, *_OF_BATCH_RESULTS, *_OF_ELEMENTS})


# Of Vectorize


def _vectors_of_vectorize(result: object) -> list[Json]:
    """The vectors of an answer, if it has their numbers: those read by id, or the matches of a query."""
    found = result.get("matches") if isinstance(result, dict) else result
    has_numbers = isinstance(found, list) and found and isinstance(found[0], dict) and found[0].get("values")
    return found if isinstance(found, list) and has_numbers else []


def _unprocess(result: Json) -> None:
    if "processedUpToMutation" in result:
        result.update(vectorCount=0, processedUpToMutation=None, processedUpToDatetime=None)


def _count_less(result: Json) -> None:
    if result.get("vectorCount"):
        result["vectorCount"] -= 1


def _lose_match(result: Json) -> None:
    if result.get("matches"):
        del result["matches"][0]
        result["count"] = len(result["matches"])


_OF_RESULTS: Final[dict[str, Callable[[Json], object]]] = {
    **_OF_BATCH_RESULTS,
    "no_mutation_id": lambda result: result.pop("mutationId", None),
    "mutation_unprocessed": _unprocess,
    "count_lags": _count_less,
    "match_missing": _lose_match,
}
_OF_VECTORS: Final[dict[str, Callable[[list[Json]], object]]] = {
    "vector_missing": lambda vectors: vectors.pop(0),
    "vector_changed": lambda vectors: vectors[0]["values"].__setitem__(0, vectors[0]["values"][0] + 1.0),
    "vector_shortened": lambda vectors: vectors[0]["values"].pop(),
    "vector_renamed": lambda vectors: vectors[0].update(id=f"{vectors[0]['id']}-2"),
}
