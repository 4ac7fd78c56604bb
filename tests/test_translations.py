"""The catalogues hold exactly the texts of the program, each with all of its parameters, and are compiled."""

import ast
import importlib.util
import io
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from babel.messages.pofile import read_po

from cfbatch_gui.words.languages import TRANSLATED

ROOT = Path(__file__).parents[1]
CATALOGUES = sorted((ROOT / "resources" / "translations").glob("*.po"))
_FIELD = re.compile(r"\{(\w*)[^{}]*\}")


def _script() -> ModuleType:
    path = ROOT / "scripts" / "translations.py"
    specification = importlib.util.spec_from_file_location("cfbatch_translations", path)
    assert specification is not None
    assert specification.loader is not None
    script = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = script
    specification.loader.exec_module(script)
    return script


translations = _script()


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_it_is_up_to_date_and_compiled(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    texts = translations.collected()
    assert translations.source_of(translations.updated(source, path.stem, texts)) == source, "make translations"
    assert translations.compiled(source, path.stem) == path.with_suffix(".mo").read_bytes(), "make translations"


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_translations_have_the_parameters_of_their_texts(path: Path) -> None:
    wrong = []
    for each in read_po(io.StringIO(path.read_text(encoding="utf-8")), locale=path.stem):
        forms = each.string if isinstance(each.string, list | tuple) else (each.string,)
        sources = each.id if isinstance(each.id, list | tuple) else (each.id,)
        # The form for one may say "ein" instead of its number.
        allowed = [Counter(_FIELD.findall(source)) for source in sources]
        for form in filter(None, forms):
            has = Counter(_FIELD.findall(form))
            if each.id and set(has) not in [set(each) for each in allowed] and set(has) | {"n"} != set(allowed[-1]):
                wrong.append((each.id, form))
    assert wrong == []


def test_texts_stand_where_they_are_collected() -> None:
    """Not inside an f-string, of which Babel sees the texts in some versions of Python only."""
    missed = [
        f"{path.relative_to(ROOT)}: {ast.unparse(call)}"
        for path in (ROOT / "cfbatch_gui").rglob("*.py")
        for outer in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(outer, ast.JoinedStr)
        for call in ast.walk(outer)
        if isinstance(call, ast.Call) and _name(call.func) in translations.KEYWORDS
        if any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in call.args)
    ]
    assert missed == []


def _name(function: ast.expr) -> str:
    return str(getattr(function, "attr", getattr(function, "id", "")))


def test_each_language_has_its_catalogue() -> None:
    assert [path.stem for path in CATALOGUES] == sorted(language.code for language in TRANSLATED)
