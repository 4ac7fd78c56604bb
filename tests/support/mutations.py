"""Change one thing in an answer of the practice service.

A change that does not apply leaves the answer as it is: an answer to a submit, for example, has no elements.
"""

import json
from collections.abc import Callable, Collection
from typing import Any, Final, TypeAlias

Json: TypeAlias = dict[str, Any]


def mutate(data: bytes, how: str) -> bytes:
    try:
        answer = json.loads(data)
    except ValueError:
        return data
    if isinstance(answer, dict):
        _MUTATIONS[how](answer)
    return _encode(answer)


def with_failures(data: bytes, requests: Collection[int], error: str) -> bytes:
    """Return the answer with these requests (indices) marked as failed, with `error` as their message."""
    answer = json.loads(data)
    for element in _elements(answer):
        if element.get("id") in requests:
            element.pop("result", None)
            element.update(success=False, error=error)
    return _encode(answer)


def _encode(answer: object) -> bytes:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


def _result(answer: Json) -> Json:
    result = answer.get("result")
    return result if isinstance(result, dict) else {}


def _elements(answer: Json) -> list[Json]:
    found = (_result(answer) or answer).get("responses")
    return found if isinstance(found, list) else []


_MUTATIONS: Final[dict[str, Callable[[Json], object]]] = {
    "not_successful": lambda answer: answer.update(success=False, result=None),
    "success_as_string": lambda answer: answer.update(success="yes"),
    "errors_as_string": lambda answer: answer.update(success=False, errors="something went wrong"),
    "unknown_status": lambda answer: answer.update(result={"status": "thinking"}),
    "element_repeated": lambda answer: _elements(answer).extend(_elements(answer)[:1]),
    "all_but_one_without_result": lambda answer: [each.update(result={}) for each in _elements(answer) if each["id"]],
    "references_null": lambda answer: [each.update(external_reference=None) for each in _elements(answer)],
}
