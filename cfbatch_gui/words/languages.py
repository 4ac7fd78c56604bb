"""The languages of the program: gettext catalogues, and how numbers are written; see docs/languages.md."""

import gettext
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from cfbatch_gui.core.messages import Message
from cfbatch_gui.core.resources import resource


class _Filling(string.Formatter):
    def __init__(self, language: "Language") -> None:
        self._language = language

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._language.number(value, format_spec)
        # Text that is no message is the user's own: a column “Text” keeps its name.
        return format(self._language.said(value) if isinstance(value, Message) else value, format_spec)


@dataclass(frozen=True)
class Language:
    """Its code (ISO 639), own name, the signs in its numbers, and its catalogue."""

    code: str
    name: str
    decimal: str = "."
    thousands: str = ","
    is_right_to_left: bool = False
    catalogue: gettext.NullTranslations = field(default_factory=gettext.NullTranslations, repr=False, compare=False)

    def translated(self, source: str, context: str = "") -> str:
        """The text in this language, else the source; `context` tells equal English words apart: without a translation
        in it, the one without context counts.
        """
        if not source:
            return source  # gettext keeps the catalogue's own header under ""
        if context:
            found = self.catalogue.pgettext(context, source)
            if found != source:
                return found
        return self.catalogue.gettext(source)

    def translated_plural(self, one: str, many: str, count: int) -> str:
        return self.catalogue.ngettext(one, many, count)

    def number(self, value: float, specification: str = ",") -> str:
        """A number by a format specification of Python's, with this language's signs: 3816 → "3.816"."""
        return self.signs(format(value, specification))

    def filled(self, template: str, parameters: Mapping[str, object]) -> str:
        return _Filling(self).vformat(template, (), parameters) if parameters else template

    def said(self, text: str) -> str:
        """A sentence of the core's in this language; other text, such as the service's own words, stays."""
        if not isinstance(text, Message):
            return text
        if text.many:
            count = text.parameters["n"]
            template = self.translated_plural(text.template, text.many, count if isinstance(count, int) else 0)
        else:
            template = self.translated(text.template)
        return self.filled(template, text.parameters)

    def signs(self, text: str) -> str:
        """Figures written as in English, such as "0.4939–0.5100" or "1,000=", with this language's signs."""
        if (self.decimal, self.thousands) == (".", ","):
            return text
        return text.translate({ord(","): self.thousands, ord("."): self.decimal})


ENGLISH: Final = Language("en", "English")

# Each with a catalogue in resources/translations; listed in Settings by their own names.
TRANSLATED: Final = (Language("de", "Deutsch", decimal=",", thousands="."),)


def languages() -> tuple[Language, ...]:
    """All languages that can be chosen, without their catalogues."""
    return (ENGLISH, *TRANSLATED)


def load_language(code: str) -> Language:
    """The language of this code with its catalogue. English where there is none, or its catalogue is missing."""
    for language in TRANSLATED:
        if language.code == code:
            try:
                with resource(f"translations/{code}.mo").open("rb") as file:
                    return replace(language, catalogue=gettext.GNUTranslations(file))
            except FileNotFoundError:
                break
    return ENGLISH


def language_of_system(environ: Mapping[str, str], preferred: Sequence[str] = ()) -> str:
    """The language that the environment asks for by gettext's rules, "" for none of ours.

    `preferred` tags count where no locale is named. https://www.gnu.org/software/gettext/manual/html_node/Locale-
    Environment-Variables.html
    """
    locale = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    if not locale:
        return next(filter(None, map(_one_of_ours, preferred)), "")
    if locale.partition(".")[0] in ("C", "POSIX"):
        return ""
    for wanted in (*environ.get("LANGUAGE", "").split(":"), locale):
        if code := _one_of_ours(wanted):
            return code
    return ""


def _one_of_ours(wanted: str) -> str:
    code = re.split("[_.@-]", wanted, maxsplit=1)[0].lower()
    return code if any(code == language.code for language in languages()) else ""


class _InUse:
    language: Language = ENGLISH


def use_language(language: Language) -> None:
    """Choose the language of this process."""
    _InUse.language = language


def language_in_use() -> Language:
    """The language of this process; English until a face has chosen another one."""
    return _InUse.language


def said(text: str) -> str:
    """A sentence of the core's in the language of this process."""
    return _InUse.language.said(text)


def tr(text: str, context: str = "") -> str:
    """`context` tells apart what is one word in English and two elsewhere."""
    return language_in_use().translated(text, context)
