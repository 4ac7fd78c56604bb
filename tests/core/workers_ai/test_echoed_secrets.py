"""Secrets that an answer repeats: none is left in it, what was JSON stays JSON, and other answers stay as they are."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.workers_ai.echoed_secrets import REDACTED, EchoedSecrets
from tests.canary import CORE, OLD_TOKEN, SECRET, TOKEN
from tests.core.workers_ai.echo_forms import FORMS, Form, holds_secret

SECRETS = EchoedSecrets([TOKEN, SECRET])


@pytest.mark.parametrize("secret", [TOKEN, OLD_TOKEN, SECRET], ids=["user's token", "older token", "Worker's secret"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_goes(form: Form, secret: str) -> None:
    secrets = EchoedSecrets([secret])
    text = form(secret)
    in_json = json.dumps({"errors": [{"code": 1, "message": f"before {text} after"}], text: [text, 0.25]})
    for data in (in_json.encode(), f"<p>{text}</p>".encode(), text.encode()):
        cleaned = secrets.removed_from(data)
        assert not holds_secret(cleaned)
        assert REDACTED.encode() in cleaned
    answer = json.loads(secrets.removed_from(in_json.encode()))
    assert answer["errors"][0]["message"].startswith("before ")
    assert answer["errors"][0]["message"].endswith(" after")
    assert next(reversed(answer.values()))[1] == 0.25


def test_the_tests_search_finds_every_form_that_stays() -> None:
    """Except in another letter case, which is no longer the secret."""
    missed = [name for name, form in FORMS.items() if not holds_secret(form(TOKEN).encode())]
    assert missed == ["upper case", "lower case"]


def numbers(count: int, seed: int = 1) -> list[float]:
    chance = random.Random(seed)
    return [chance.gauss(0, 0.03) for _ in range(count)]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_form_anywhere_in_a_large_answer_goes(form: Form) -> None:
    chance = random.Random(7)
    plain = json.dumps({"responses": [{"id": 0, "result": {"data": [numbers(60_000)]}}]}).encode()
    assert len(plain) > 1 << 20  # more than one block of the search
    echo = json.dumps(form(TOKEN)).encode()
    commas = [found.start() for found in re.finditer(b", ", plain)]
    around_block = min(commas, key=lambda at: abs(at - (1 << 20) + 30))
    for at in (*chance.sample(commas, 8), around_block, commas[-1]):
        cleaned = SECRETS.removed_from(plain[:at] + b", " + echo + plain[at:])
        assert cleaned.startswith(plain[:at]) and cleaned.endswith(plain[at:])
        middle = cleaned[at : len(cleaned) - len(plain) + at]
        assert REDACTED.encode() in middle and not holds_secret(middle)


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_token_at_any_alignment_behind_many_numbers_goes(before: int, after: int) -> None:
    filler = b"[" + b"0.123456789," * 11_000
    data = filler + b'"' + b"a" * before + TOKEN.encode() + b"b" * after + b'"]'
    assert not holds_secret(SECRETS.removed_from(data))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_an_answer_without_a_secret_stays_as_it_is(value: object) -> None:
    data = json.dumps(value).encode()
    assert SECRETS.removed_from(data) is data


def test_a_large_answer_of_numbers_stays_as_it_is() -> None:
    vectors = [numbers(1024, seed) for seed in range(20)]
    responses = [{"id": n, "result": {"data": [row]}, "external_reference": f"j-{n}"} for n, row in enumerate(vectors)]
    data = json.dumps({"responses": responses}, separators=(",", ":")).encode()
    assert SECRETS.removed_from(data) is data


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(data: bytes) -> None:
    cleaned = SECRETS.removed_from(data + TOKEN.encode() + data)
    assert TOKEN.encode() not in cleaned


def test_a_header_is_cleaned() -> None:
    assert SECRETS.removed_from_text(f"text/html; token={TOKEN}") == f"text/html; token={REDACTED}"


def test_a_secret_of_digits_is_not_cut_out_of_numbers() -> None:
    secrets = EchoedSecrets(["12345678"])
    data = b'{"score":0.1234567890,"other":-123456789,"e":3132333435363738.5}'
    assert secrets.removed_from(data) is data or secrets.removed_from(data) == data
    echoed = b'{"error":"no token 12345678 here","code":12345678,"list":[12345678]}'
    assert json.loads(secrets.removed_from(echoed)) == {
        "error": f"no token {REDACTED} here",
        "code": None,
        "list": [None],
    }


def test_a_short_secret_goes_as_a_word_and_spoils_no_answer() -> None:
    secrets = EchoedSecrets(["id"])
    data = b'{"id":0,"error":"the secret id is wrong","valid":"grid"}'
    assert secrets.removed_from(data) == b'{"id":0,"error":"the secret [redacted] is wrong","valid":"grid"}'


def test_no_secret_no_work() -> None:
    data = b'{"a":"b"}'
    assert EchoedSecrets([]).removed_from(data) is data
    assert EchoedSecrets([""]).removed_from(data) is data


def test_a_secret_is_not_shown() -> None:
    assert CORE not in repr(SECRETS)
