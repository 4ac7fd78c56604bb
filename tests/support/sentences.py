"""Sentences by their codes: tests do not quote what the program says."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.messages import Message, sentences

Error = TypeVar("Error", bound=UserError)


def code_of(said: object) -> str:
    """The code of a sentence, or of an error's; text without a code as it is."""
    sentence = said.message if isinstance(said, UserError) else said
    return sentence.code if isinstance(sentence, Message) else str(sentence)


def codes_of(said: object) -> set[str]:
    """The code of a sentence, or of an error's, and those of the sentences in it."""
    sentence = said.message if isinstance(said, UserError) else said
    if not isinstance(sentence, Message):
        return set()
    return {sentence.code}.union(*map(codes_of, sentence.parameters.values()))


def shows(text: str, code: str) -> bool:
    """Whether the sentence of this code stands in a text that is on the screen, whatever fills its parameters."""
    forms = (re.sub(r"\\{.*?\\}", ".*", re.escape(form)) for form in sentences()[code] if form)
    return any(re.search(form, text, re.DOTALL) for form in forms)


@contextmanager
def refuses(kind: type[Error], code: str, **parameters: object) -> Iterator[pytest.ExceptionInfo[Error]]:
    """As `pytest.raises`, for an error whose sentence has this code, and these among its parameters."""
    with pytest.raises(kind) as raised:
        yield raised
    sentence = raised.value.message
    assert code_of(sentence) == code
    assert isinstance(sentence, Message)
    assert parameters.items() <= dict(sentence.parameters).items()
