"""Change one thing in an answer of the practice service: into an error, or into another form that is valid too.

A change that does not apply leaves the answer as it is: an answer to a submit, for example, has no elements.
"""

import copy
import json
from collections.abc import Callable, Collection
from typing import Any, Final, Literal, TypeAlias

Mutation: TypeAlias = Literal[
    # elements
    "element_missing",
    "element_repeated",
    "no_elements",
    "ids_swapped",
    "ids_missing",
    "id_unknown",
    "id_as_string",
    "references_swapped",
    "references_null",
    "reference_foreign",
    "unmarked",
    "result_missing",
    "result_nested",
    "error_string",
    "error_object",
    "error_missing",
    # scores and vectors
    "value_missing",
    "value_repeated",
    "value_nan",
    "value_infinite",
    "value_null",
    "value_as_string",
    "context_id_twice",
    "context_id_unknown",
    "wrong_dimension",
    "zero_vector",
    "wrong_shape",
    "mixed_pooling",
    # the body and its envelope
    "results_without_id",
    "both_lists",
    "no_usage",
    "strange_usage",
    "no_envelope",
    "result_null",
    "result_empty",
    "not_successful",
    "success_as_string",
    "errors_as_string",
    "unknown_status",
    "no_request_id",
    "array",
    "nested_deeply",
    "not_utf8",
]

Json: TypeAlias = dict[str, Any]
_INFINITE: Final = "9" * 40  # stands for 1e999, which json cannot write


def mutate(data: bytes, how: Mutation) -> bytes:
    """Return the answer with one change. Data that is not a JSON object is returned unchanged."""
    if how == "nested_deeply":
        return b"[" * 200_000
    try:
        answer = json.loads(data)
    except ValueError:
        return data
    if not isinstance(answer, dict):
        return data
    if how == "not_utf8":
        return data.replace(b'":', b'\xff":', 1)
    if how == "array":
        return _encode([answer])
    if how == "no_envelope":
        return _encode(answer.get("result", answer))
    if how in _OF_FRAME:
        _OF_FRAME[how](answer)
    elif elements := _elements(answer):
        _OF_ELEMENTS[how](elements)
    return _encode(answer)


def with_failures(data: bytes, requests: Collection[int], error: str) -> bytes:
    """Return the answer with these requests (indices) marked as failed, with `error` as their message."""
    answer = json.loads(data)
    for element in _elements(answer):
        if element.get("id") in requests:
            _refused(error)(element)
    return _encode(answer)


def of_another_job(data: bytes) -> bytes:
    """Return the answer as if for another job: with other references, and with every number negated."""
    answer = json.loads(data)
    for element in _elements(answer):
        element["external_reference"] = f"another-{element.get('external_reference')}"
        for entry in _scores(element):
            entry["score"] = -entry["score"]
        for row in _vectors(element):
            row[:] = [-number for number in row]
    return _encode(answer)


def _encode(answer: object) -> bytes:
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return text.replace(_INFINITE, "1e999").encode()


def _elements(answer: Json) -> list[Json]:
    result = answer.get("result")
    body = result if isinstance(result, dict) else answer
    found = body.get("responses")
    return found if isinstance(found, list) else []


def _scores(element: Json) -> list[Json]:
    found = (element.get("result") or {}).get("response") or []
    return [entry for entry in found if isinstance(entry, dict)]


def _vectors(element: Json) -> list[list[Any]]:
    result = element.get("result") or {}
    found = result.get("data") or result.get("response") or []
    return [row for row in found if isinstance(row, list)]


def _rows(element: Json) -> list[Any]:
    result = element.get("result") or {}
    found: list[Any] = result.get("data") or result.get("response") or []
    return found


# Changes to elements


def _swapped(key: str) -> Callable[[list[Json]], None]:
    def swap(elements: list[Json]) -> None:
        if len(elements) > 1:
            elements[0][key], elements[1][key] = elements[1][key], elements[0][key]

    return swap


def _each(**changes: object) -> Callable[[list[Json]], None]:
    def change(elements: list[Json]) -> None:
        for element in elements:
            element.update(changes)

    return change


def _first(change: Callable[[Json], object]) -> Callable[[list[Json]], None]:
    return lambda elements: (change(elements[0]), None)[1]


def _without(*keys: str) -> Callable[[list[Json]], None]:
    def drop(elements: list[Json]) -> None:
        for element in elements:
            for key in keys:
                element.pop(key, None)

    return drop


def _refused(error: object) -> Callable[[Json], None]:
    def refuse(element: Json) -> None:
        element.pop("result", None)
        element.update({"success": False} if error is None else {"success": False, "error": error})

    return refuse


def _value(value: object) -> Callable[[Json], None]:
    """Replace the first score, or the first number of the first vector; `str` turns that number into a string."""

    def put(element: Json) -> None:
        for entry in _scores(element)[:1]:
            entry["score"] = value if value is not str else str(entry["score"])
        for row in _vectors(element)[:1]:
            row[0] = value if value is not str else str(row[0])

    return put


def _context_id(of: Callable[[list[Json]], int]) -> Callable[[Json], None]:
    def put(element: Json) -> None:
        if entries := _scores(element):
            entries[0]["id"] = of(entries)

    return put


def _repeat_value(element: Json) -> None:
    rows = _rows(element)
    rows.extend(copy.deepcopy(rows[:1]))


def _zero(element: Json) -> None:
    for row in _vectors(element)[:1]:
        row[:] = [0.0] * len(row)


def _shorten(element: Json) -> None:
    for row in _vectors(element)[:1]:
        row.pop()


def _misdeclare(element: Json) -> None:
    if "shape" in element.get("result", {}):
        element["result"]["shape"][0] += 1


def _mix_pooling(elements: list[Json]) -> None:
    for index, element in enumerate(elements):
        if _vectors(element):
            element["result"]["pooling"] = ("cls", "mean")[index % 2]


_OF_ELEMENTS: Final[dict[Mutation, Callable[[list[Json]], object]]] = {
    "element_missing": lambda elements: elements.pop(),
    "element_repeated": lambda elements: elements.append(copy.deepcopy(elements[0])),
    "no_elements": lambda elements: elements.clear(),
    "ids_swapped": _swapped("id"),
    "ids_missing": _without("id"),
    "id_unknown": _first(lambda element: element.update(id=1_000_000)),
    "id_as_string": _first(lambda element: element.update(id=str(element["id"]))),
    "references_swapped": _swapped("external_reference"),
    "references_null": _each(external_reference=None),
    "reference_foreign": _first(lambda element: element.update(external_reference="of-another-job")),
    "unmarked": _without("id", "external_reference"),
    "result_missing": _first(lambda element: element.update(result=None)),
    "result_nested": lambda elements: [element.update(result={"result": element["result"]}) for element in elements],
    "error_string": _first(_refused("AiError: Something went wrong with this one")),
    "error_object": _first(_refused({"code": 3030, "message": "Something went wrong with this one"})),
    "error_missing": _first(_refused(None)),
    "value_missing": _first(lambda element: _rows(element).pop()),
    "value_repeated": _first(_repeat_value),
    "value_nan": _first(_value(float("nan"))),
    "value_infinite": _first(_value(int(_INFINITE))),
    "value_null": _first(_value(None)),
    "value_as_string": _first(_value(str)),
    "context_id_twice": _first(_context_id(lambda entries: entries[-1]["id"])),
    "context_id_unknown": _first(_context_id(len)),
    "wrong_dimension": _first(_shorten),
    "zero_vector": _first(_zero),
    "wrong_shape": _first(_misdeclare),
    "mixed_pooling": _mix_pooling,
}


# Changes to the body and its envelope


def _result(change: Callable[[Json], object]) -> Callable[[Json], None]:
    def apply(answer: Json) -> None:
        if isinstance(answer.get("result"), dict):
            change(answer["result"])

    return apply


def _rename_results(result: Json) -> None:
    if "responses" in result:
        result["results"] = result.pop("responses")
        _without("id")(result["results"])


def _double_list(result: Json) -> None:
    if "responses" in result:
        result["results"] = result["responses"]


_OF_FRAME: Final[dict[Mutation, Callable[[Json], object]]] = {
    "results_without_id": _result(_rename_results),
    "both_lists": _result(_double_list),
    "no_usage": _result(lambda result: result.pop("usage", None)),
    "strange_usage": _result(lambda result: result.update(usage="a lot")),
    "result_null": lambda answer: answer.update(result=None),
    "result_empty": lambda answer: answer.update(result={}),
    "not_successful": lambda answer: answer.update(success=False, result=None),
    "success_as_string": lambda answer: answer.update(success="yes"),
    "errors_as_string": lambda answer: answer.update(success=False, errors="something went wrong"),
    "unknown_status": lambda answer: answer.update(result={"status": "thinking"}),
    "no_request_id": _result(lambda result: result.pop("request_id", None)),
}
