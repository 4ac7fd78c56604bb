"""Sentences of the core are messages, so that faces can word them, and each is known again by its English text."""

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog as Source
from babel.messages.mofile import write_mo

from cfbatch_gui.core import errors
from cfbatch_gui.core.messages import (
    Message,
    comma_list,
    counted_message,
    cut_list,
    enumerated,
    message,
    stored_message,
)
from cfbatch_gui.words.languages import Catalogue, Language

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
SAID = frozenset({"message", "counted_message", "debug", "info", "warning", "error"})
_FIELD = re.compile(r"\{(\w+)(![rsa])?(?::([^{}]*))?\}")
_RECOGNISABLE = 6  # letters
ODD = ["{name}", "}}", "%s", "", "line\nbreak"]


def calls(tree: ast.AST, names: frozenset[str]) -> Iterator[ast.Call]:
    """The calls of these names, also as an attribute of something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (
            (isinstance(node.func, ast.Name) and node.func.id in names)
            or (isinstance(node.func, ast.Attribute) and node.func.attr in names)
        ):
            yield node


def leaves(node: ast.expr) -> Iterator[ast.expr]:
    """What an argument may be: each side of a condition, each part of an "or"."""
    if isinstance(node, ast.IfExp):
        yield from (*leaves(node.body), *leaves(node.orelse))
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from leaves(value)
    else:
        yield node


def is_glued(node: ast.expr) -> bool:
    """Whether it is text that is put together, or a plain literal: no message."""
    return (
        isinstance(node, ast.JoinedStr | ast.BinOp)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        or (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "join")
        )
    )


def glued_in(source: str) -> list[int]:
    """The lines with an expected failure whose sentence is no message."""
    tree = ast.parse(source)
    own = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id in EXPECTED_ERRORS for base in node.bases)
    }
    found = calls(tree, EXPECTED_ERRORS | own)
    return [call.lineno for call in found if call.args and any(map(is_glued, leaves(call.args[0])))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_every_expected_failure_says_a_message(path: Path) -> None:
    assert glued_in(path.read_text(encoding="utf-8")) == []


def unsaid_in(source: str) -> list[str]:
    """Texts that read like a sentence and are no message, but for docstrings and lines of the log."""
    tree = ast.parse(source)
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for call in calls(tree, SAID):
        passed.update(map(id, ast.walk(call)))
    found = []
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


def templates() -> Iterator[tuple[str, str]]:
    """All templates of the core, with their plural, "" without one."""
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for call in calls(tree, frozenset({"message", "counted_message"})):
            texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            if texts:
                yield texts[0], texts[1] if len(texts) > 1 else ""


TEMPLATES = sorted(set(templates()))


def marked() -> Language:
    """A language whose texts are those of the core, each with its own number before it."""
    source = Source(locale="en")
    for number, (one, many) in enumerate(TEMPLATES):
        if many:
            source.add((one, many), (f"<{number}>{one}", f"<{number}>{many}"))
        else:
            source.add(one, f"<{number}>{one}")
    stream = io.BytesIO()
    write_mo(stream, source)
    stream.seek(0)
    return Language("marked", "Marked", catalogue=Catalogue(stream))


MARKED = marked()


def filled(one: str, many: str, odd: str, n: int) -> Message:
    """The template with numbers where it wants numbers, and odd text elsewhere."""
    fields = {name: form or "" for name, _, form in _FIELD.findall(one + many)}
    values: dict[str, object] = {name: 7 if form else odd for name, form in fields.items()}
    return counted_message(n, one, many, **values) if many else message(one, **values)


@pytest.mark.parametrize("odd", ODD)
def test_every_template_takes_any_text_and_is_worded_as_itself(odd: str) -> None:
    for number, (one, many) in enumerate(TEMPLATES):
        for n in (1, 3816) if many else (1,):
            found = filled(one, many, odd, n)
            assert MARKED.said(found) == f"<{number}>{found}"


def bare(template: str) -> str:
    """The template without the forms of its numbers."""
    return _FIELD.sub(r"{\1}", template)


TWINS: dict[str, list[int]] = {}
for _number, (_one, _) in enumerate(TEMPLATES):
    TWINS.setdefault(bare(_one), []).append(_number)


def letters_of(one: str, many: str, n: int) -> int:
    """How many letters of its own the form has that is used."""
    return sum(map(str.isalpha, _FIELD.sub("", many if many and n != 1 else one)))


@pytest.mark.parametrize("odd", ["a.csv", "{x}", ""])
def test_what_was_stored_is_known_again_as_itself(odd: str) -> None:
    wrong = []
    for one, many in TEMPLATES:
        # How a number was formatted is not seen any more: "{amount:,.0f} neurons" is "{amount:.2g} neurons".
        twins = TWINS[bare(one)]
        for n in (1, 3816) if many else (1,):
            found = filled(one, many, odd, n)
            if letters_of(one, many, n) >= _RECOGNISABLE:
                said = MARKED.said(str(found))
                if said not in [f"<{twin}>{found}" for twin in twins]:
                    wrong.append((str(found), said))
    assert wrong == []


def test_lists_are_messages_of_their_parts() -> None:
    parts = ["a", "b", message("the practice service")]
    assert [enumerated(parts[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and the practice service"]
    assert comma_list(parts) == "a, b, the practice service"
    assert (cut_list(parts[:2], 1200), cut_list(parts[:2], 0)) == ("a, b and 1,200 more", "a, b")


def test_the_users_own_text_is_not_translated_and_what_was_stored_is() -> None:
    number = TEMPLATES.index(("The query has no context: all its columns are empty.", ""))
    stored = "The query has no context: all its columns are empty."
    row = TEMPLATES.index(("Row {number}: {reason}", ""))
    said = MARKED.said(message("Row {number}: {reason}", number=3, reason=stored))
    assert said == f"<{row}>Row 3: {stored}"
    said = MARKED.said(message("Row {number}: {reason}", number=3, reason=stored_message(stored)))
    assert said == f"<{row}>Row 3: <{number}>{stored}"
    kept = message("a.csv")
    assert stored_message(kept) is kept
