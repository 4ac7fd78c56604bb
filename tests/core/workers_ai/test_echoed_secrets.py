"""Secrets that an answer repeats: none is left in it, what was JSON stays JSON, and other answers stay as they are."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.workers_ai.transport import REDACTED, EchoedSecrets
from tests.canary import CORE, SECRET, TOKEN
from tests.core.workers_ai.telling import FORMS, Form, holds_secret

SECRETS = EchoedSecrets([TOKEN, SECRET])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_spelling_goes_anywhere_in_an_answer(form: Form) -> None:
    for secret in (TOKEN, SECRET):
        text = form(secret)
        assert holds_secret(text.encode())
        answer = {"errors": [{"code": 1, "message": f"before {text} after"}], text: [text, *[0.125] * 100_000]}
        cleaned = SECRETS.removed_from(json.dumps(answer).encode())
        assert not holds_secret(cleaned)
        errors, (name, numbers) = json.loads(cleaned)["errors"], list(json.loads(cleaned).items())[1]
        assert errors[0]["message"].startswith("before ") and errors[0]["message"].endswith(" after")
        assert REDACTED in errors[0]["message"] and REDACTED in name and numbers[1:] == [0.125] * 100_000


def test_a_secret_of_signs_goes_as_JSON_and_addresses_escape_it() -> None:
    secret = 'a/b"c\\d+e&f g'
    secrets = EchoedSecrets([secret])
    for text in (json.dumps(secret), json.dumps(secret).replace("/", "\\/"), '"a%2Fb%22c%5Cd%2Be%26f%20g"'):
        assert secrets.removed_from(text.encode()) == f'"{REDACTED}"'.encode()


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_an_answer_without_a_secret_stays_as_it_is(value: object) -> None:
    data = json.dumps(value).encode()
    assert SECRETS.removed_from(data) is data
    assert EchoedSecrets(["", "12345678"]).removed_from(data) == data


@pytest.mark.parametrize(
    ("secret", "answer", "cleaned"),
    [
        ("12345678", '{"score":0.1234567890,"code":12345678}', '{"score":0.1234567890,"code":12345678}'),
        ("12345678", '{"error":"no token 12345678 here"}', '{"error":"no token [redacted] here"}'),
        ("id", '{"id":0,"error":"the secret id is wrong","valid":"grid"}',
         '{"id":0,"error":"the secret [redacted] is wrong","valid":"grid"}'),
    ],
)  # fmt: skip
def test_a_secret_that_occurs_by_chance_goes_as_a_word_and_spoils_no_answer(
    secret: str, answer: str, cleaned: str
) -> None:
    assert EchoedSecrets([secret]).removed_from(answer.encode()) == cleaned.encode()


def test_a_header_is_cleaned_and_a_secret_is_not_shown() -> None:
    assert SECRETS.removed_from_text(f"text/html; token={TOKEN}") == f"text/html; token={REDACTED}"
    assert CORE not in repr(SECRETS)
