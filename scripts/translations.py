"""Collects every text of the program that is translated, and brings the catalogues up to date.

    make translations           each resources/translations/*.po gets the new texts, loses those that are gone, and is
                                compiled beside itself; says how many texts still have no translation

A text is collected where it stands as a constant in one of KEYWORDS, in
resources/sentences.txt, or in the table of assumptions. Catalogues are
gettext's PO files, without line numbers and dates, so that a change of the program changes only its own lines.
"""

import io
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from cfbatch_gui.cli.parser import described_options
from cfbatch_gui.core.messages import sentences
from cfbatch_gui.core.workers_ai.probe import all_assumptions

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "cfbatch_gui"
TRANSLATIONS = ROOT / "resources" / "translations"

# gettext's notation: which arguments are the text, its plural (a second number) and its context (a number with c).
KEYWORDS: Final[dict[str, Any]] = {
    "tr": {1: (1,), 2: (1, (2, "c"))},
    "_tr": {1: (1,), 2: (1, (2, "c"))},
    "worded": (1,),
    "emphasised": (1,),
    "plural": (2, 3),
    "say_count": (2, 3),
}
_OPTIONS: Final[dict[str, Any]] = {"add_options": (1,), "one_of": (1,)}  # with the words of each option
_NEVER = datetime(2026, 1, 1, tzinfo=UTC)
# Lines of the header that nobody reads, or that differ each time.
_UNREAD = ("Project-Id", "Report-", "POT-", "PO-Rev", "Last-Tr", "Language-Team", "Generated")
_HEADER = "# The texts of CF Batch in this language. docs/languages.md says how to work on it."


def collected() -> Catalog:
    """All texts of the program, sorted, without translations."""
    catalog = Catalog(project="CF Batch", charset="utf-8")
    for _, _, text, _, context in extract_from_dir(
        PACKAGE, method_map=[("**.py", "python")], keywords=KEYWORDS, comment_tags=()
    ):
        catalog.add(text, context=context)
    for _, _, text, _, _ in extract_from_dir(
        PACKAGE / "cli", method_map=[("**.py", "python")], keywords=_OPTIONS, comment_tags=()
    ):
        for _, values, _, words in described_options(text):
            for each in (*(value for value in values if value.isupper() and len(value) > 1), words):
                catalog.add(each)
    for one, many in sentences().values():
        catalog.add((one, many) if many else one)
    for each in all_assumptions():
        for sentence in filter(None, (each.sentence, each.otherwise, each.reason)):
            catalog.add(sentence)
    return catalog


def updated(source: str, code: str, texts: Catalog) -> Catalog:
    """A catalogue with exactly these texts, and the translations that its source has of them."""
    before = read_po(io.StringIO(source), locale=code) if source else Catalog(locale=code)
    after = Catalog(locale=code, project="CF Batch", charset="utf-8", header_comment=_HEADER, fuzzy=False)
    after.creation_date = after.revision_date = _NEVER
    for each in texts:
        if each.id:
            known = before.get(_key(each), each.context)
            after.add(each.id, known.string if known else None, context=each.context)
    return after


def source_of(catalog: Catalog) -> str:
    """The catalogue as a PO file."""
    stream = io.BytesIO()
    write_po(stream, catalog, width=120, no_location=True, sort_output=True, omit_header=False)
    lines = stream.getvalue().decode().split("\n")
    return "\n".join(line for line in lines if not line.startswith(tuple(f'"{name}' for name in _UNREAD)))


def compiled(source: str, code: str) -> bytes:
    """The catalogue as the program reads it: texts without a translation are left out."""
    catalog = read_po(io.StringIO(source), locale=code)
    catalog.creation_date = catalog.revision_date = _NEVER
    for each in untranslated(source, code):
        catalog.delete(each.id, each.context)
    stream = io.BytesIO()
    write_mo(stream, catalog)
    return stream.getvalue()


def untranslated(source: str, code: str) -> Iterator[Message]:
    """The texts without a translation, or with one in which a form is missing."""
    for each in read_po(io.StringIO(source), locale=code):
        forms = each.string if isinstance(each.string, list | tuple) else (each.string,)
        if each.id and not all(forms):
            yield each


def _key(text: Message) -> str:
    return str(text.id[0] if isinstance(text.id, list | tuple) else text.id)


def main() -> int:
    """Bring every catalogue up to date."""
    texts = collected()
    for path in sorted(TRANSLATIONS.glob("*.po")):
        source = source_of(updated(path.read_text(encoding="utf-8"), path.stem, texts))
        path.write_text(source, encoding="utf-8")
        path.with_suffix(".mo").write_bytes(compiled(source, path.stem))
        missing = list(untranslated(source, path.stem))
        print(f"{path.stem}: {len(texts):,} texts, {len(missing):,} without a translation")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
