"""Sentences of the core are messages, so that faces can word them, and the disk keeps their codes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cfbatch_gui.core import errors
from cfbatch_gui.core.messages import Message, comma_list, cut_list, enumerated, message, restored, sentences, stored

CORE = Path(__file__).parents[2] / "cfbatch_gui" / "core"
FILES = sorted(CORE.rglob("*.py"))
EXPECTED_ERRORS = frozenset(
    name for name, found in vars(errors).items() if isinstance(found, type) and issubclass(found, errors.UserError)
)
# Notes of manifests, and the texts that a check of the service sends. The practice service speaks as Cloudflare does.
FOR_PROGRAMS = (
    "results/exports/csv_tables.py",
    "results/exports/writing.py",
    "results/rankings.py",
    "workers_ai/probe.py",
)
SAYING = frozenset({"message", "breach", "usage_error"})
SAID = SAYING | {"debug", "info", "warning", "error"}
_FIELD = re.compile(r"\{(\w+)(![rsa])?(?::([^{}]*))?\}")
ODD = ["{name}", "}}", "%s", "", "line\nbreak"]


def calls(tree: ast.AST, names: frozenset[str]) -> Iterator[ast.Call]:
    """The calls of these names, also as an attribute of something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (
            (isinstance(node.func, ast.Name) and node.func.id in names)
            or (isinstance(node.func, ast.Attribute) and node.func.attr in names)
        ):
            yield node


def unsaid_in(source: str) -> list[str]:
    """Texts that read like a sentence and are no message, but for docstrings and lines of the log; and whatever else an
    expected failure is said by.
    """
    tree = ast.parse(source)
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for call in calls(tree, SAID):
        passed.update(map(id, ast.walk(call)))
    said = (call.args[0] for call in calls(tree, EXPECTED_ERRORS) if call.args)
    found = [ast.unparse(each) for each in said if isinstance(each, ast.Constant | ast.JoinedStr | ast.BinOp)]
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        if isinstance(node, ast.JoinedStr):
            passed.update(map(id, node.values))
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if re.fullmatch(r"[A-Z“].*\s.*\s.*[.…]", text, re.DOTALL):
            found.append(text)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_every_sentence_is_a_message(path: Path) -> None:
    if path.relative_to(CORE).as_posix() not in FOR_PROGRAMS and "practice" not in path.parts:
        assert unsaid_in(path.read_text(encoding="utf-8")) == []


def used_codes() -> dict[str, list[ast.Call]]:
    """The codes that the program says, with the calls."""
    found: dict[str, list[ast.Call]] = {}
    for path in (CORE.parent).rglob("*.py"):
        for call in calls(ast.parse(path.read_text(encoding="utf-8")), SAYING):
            if call.args and isinstance(call.args[0], ast.Constant):
                found.setdefault(str(call.args[0].value), []).append(call)
    return found


def fields_of(code: str) -> dict[str, str]:
    """The parameters of a sentence, each with the form of its number, "" for text."""
    return {name: form or "" for name, _, form in _FIELD.findall("".join(sentences()[code]))}


def test_every_code_has_its_sentence_and_every_sentence_is_said() -> None:
    assert set(used_codes()) - set(sentences()) == set()
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in CORE.parent.rglob("*.py"))
    named = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert [code for code in set(sentences()) - named if not code.startswith("argparse_")] == []


def test_every_call_gives_what_its_sentence_wants() -> None:
    wrong = []
    for code, found in used_codes().items():
        for call in found:
            given = {each.arg for each in call.keywords}
            is_template = not given or None in given or given == {"n"}  # filled later, or by a mapping
            if not is_template and not set(fields_of(code)) <= given:
                wrong.append((code, ast.unparse(call)))
    assert wrong == []


def filled(code: str, odd: str, n: int) -> Message:
    """The sentence with numbers where it wants numbers, and odd text elsewhere."""
    values: dict[str, object] = {name: 7 if form else odd for name, form in fields_of(code).items()}
    return message(code, **values | ({"n": n} if sentences()[code][1] else {}))


@pytest.mark.parametrize("odd", ODD)
def test_what_is_stored_is_restored_as_itself(odd: str) -> None:
    for code in sentences():
        for n in (1, 3816):
            said = filled(code, odd, n)
            again = restored(stored(said))
            assert isinstance(again, Message)
            assert (again, again.code, dict(again.parameters)) == (said, code, dict(said.parameters))


def test_sentences_in_sentences_and_other_text_are_restored() -> None:
    inner = message("over_budget")
    again = restored(stored(message("row_number_reason", number=np.int64(3), reason=inner)))
    assert isinstance(again, Message)
    assert (again.parameters["number"], again.parameters["reason"]) == (3, inner)
    assert isinstance(again.parameters["reason"], Message)
    for text in ("", "the service's own words", '["', '["no_such_code", {}]', '["over_budget", 1]'):
        assert restored(stored(text)) == text


def test_lists_are_messages_of_their_parts() -> None:
    parts = ["a", "b", message("over_budget")]
    assert [enumerated(parts[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and over budget"]
    assert comma_list(parts) == "a, b, over budget"
    assert (cut_list(parts[:2], 1200), cut_list(parts[:2], 0)) == ("a, b and 1,200 more", "a, b")
