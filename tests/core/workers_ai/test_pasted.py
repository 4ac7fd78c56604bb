"""Texts pasted into the fields for an account id and a token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.workers_ai.api_tokens import Pasted, Token, read_pasted
from cfbatch_gui.core.workers_ai.connection_kinds import clean_account_id
from tests.canary import OLD_TOKEN as OLD
from tests.canary import TOKEN

ACCOUNT = "0123456789abcdef0123456789abcdef"
BOTH = Pasted(account_id=ACCOUNT, token=Token(TOKEN))
CURL = f"""curl "https://api.cloudflare.com/client/v4/accounts/{ACCOUNT}/ai/run/@cf/baai/bge-m3?queueRequest=true" \\
 --header "Authorization: Bearer {TOKEN}" \\
 --header 'Content-Type: application/json' \\
 --json '{{"requests": []}}'"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", Pasted()),
        (f"  {TOKEN}\n", Pasted(token=Token(TOKEN))),
        *(
            (form.format(TOKEN), Pasted(token=Token(TOKEN)))
            for form in ("“{}”", "Bearer {}", "'Authorization: bearer  {}'", '"{}"\r\n', "\ufeff{}\u200b")
        ),
        (f"\ufeff\u00a0{OLD}\u200b", Pasted(token=Token(OLD))),
        (f" {ACCOUNT.upper()} ", Pasted(account_id=ACCOUNT)),
        (CURL, BOTH),
        (CURL.replace(TOKEN, "$API_TOKEN"), Pasted(account_id=ACCOUNT)),
        (CURL.replace(ACCOUNT, "$ACCOUNT_ID").replace(TOKEN, "<your token>"), Pasted()),
        (f'export CLOUDFLARE_ACCOUNT_ID="{ACCOUNT}"\nexport CLOUDFLARE_API_TOKEN="{TOKEN}"\n', BOTH),
        (f'$env:CLOUDFLARE_API_TOKEN = "{TOKEN}"', Pasted(token=Token(TOKEN))),
        (f'{{"CLOUDFLARE_ACCOUNT_ID": "{ACCOUNT}", "CLOUDFLARE_API_TOKEN": "{TOKEN}"}}', BOTH),
        (f"https://dash.cloudflare.com/{ACCOUNT}/ai/workers-ai", Pasted(account_id=ACCOUNT)),
        (
            f"https://gateway.ai.cloudflare.com/v1/{ACCOUNT}/my-gateway/workers-ai/@cf/baai/bge-m3",
            Pasted(account_id=ACCOUNT, gateway="my-gateway"),
        ),
        (
            f"curl http://127.0.0.1:8787/client/v4/accounts/{ACCOUNT}/ai/run/x -H 'Authorization: Bearer {OLD}'",
            Pasted(ACCOUNT, Token(OLD), base_url="http://127.0.0.1:8787/client/v4"),
        ),
        (
            "https://batch.example.workers.dev/ai/run/@cf/baai/bge-m3?queueRequest=true",
            Pasted(worker_url="https://batch.example.workers.dev"),
        ),
    ],
)
def test_what_is_found(text: str, found: Pasted) -> None:
    assert read_pasted(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "X-Auth-Key: 0123456789abcdef0123456789abcdef01234",
        "cfk_a_global_key_that_is_long_enough_0001",
        "v1.0-0123456789abcdef-0123456789",
        "too-short",
    ],
)
def test_what_is_no_token_is_said(text: str) -> None:
    found = read_pasted(text)
    assert found.problem and found.token is None


@given(st.text(max_size=300))
def test_any_text_is_read_and_none_is_shown(text: str) -> None:
    found = read_pasted(text)
    assert found.token is None or found.token.reveal() not in repr(found)


OTHER = "f" * 32


@pytest.mark.parametrize(
    "pasted",
    [
        ACCOUNT,
        f"“{ACCOUNT}”,",
        f"\ufeff{ACCOUNT}\u200b",
        " ".join((ACCOUNT[:8], ACCOUNT[8:16], ACCOUNT[16:24], ACCOUNT[24:])),
        f"Account ID: {ACCOUNT}",
        f"https://dash.cloudflare.com/{ACCOUNT}/ai/workers-ai?tab={OTHER}",
        f"https://api.cloudflare.com/client/v4/accounts/{ACCOUNT}/ai/run/@cf/baai/bge-m3",
    ],
)
def test_an_account_id_as_people_paste_it(pasted: str) -> None:
    assert clean_account_id(pasted) == ACCOUNT


@pytest.mark.parametrize(
    "pasted", ["", " \u200b", ACCOUNT[1:], f"{ACCOUNT}0", f"cfat_{ACCOUNT}", "https://dash.cloudflare.com/"]
)
def test_what_is_no_account_id_is_said(pasted: str) -> None:
    with pytest.raises(NotConnected):
        clean_account_id(pasted)
