import pytest

from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.workers_ai.connection_kinds import clean_account_id

ACCOUNT = "0123456789abcdef0123456789abcdef"
OTHER = "f" * 32


@pytest.mark.parametrize(
    "pasted",
    [
        ACCOUNT,
        ACCOUNT.upper(),
        f"  {ACCOUNT}\r\n",
        f'"{ACCOUNT}"',
        f"“{ACCOUNT}”,",
        f"\ufeff{ACCOUNT}\u200b",
        " ".join((ACCOUNT[:8], ACCOUNT[8:16], ACCOUNT[16:24], ACCOUNT[24:])),
        f"Account ID: {ACCOUNT}",
        f"https://dash.cloudflare.com/{ACCOUNT}",
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
