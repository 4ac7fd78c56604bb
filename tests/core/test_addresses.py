import pytest

from cfbatch_gui.core.errors import NotConnected
from cfbatch_gui.core.workers_ai.connection_kinds import check_base_url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://api.cloudflare.com/client/v4", "https://api.cloudflare.com/client/v4"),
        (" https://api.cloudflare.com/client/v4/ \n", "https://api.cloudflare.com/client/v4"),
        ("http://127.0.0.1:8787/client/v4", "http://127.0.0.1:8787/client/v4"),
        ("http://127.9.9.9", "http://127.9.9.9"),
        ("http://[::1]:8787/client/v4", "http://[::1]:8787/client/v4"),
        ("http://localhost:1/client/v4", "http://localhost:1/client/v4"),
        ("https://proxy.example:8443/x", "https://proxy.example:8443/x"),
    ],
)
def test_addresses_a_token_may_be_sent_to(text: str, expected: str) -> None:
    assert check_base_url(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "api.cloudflare.com",
        "http://api.cloudflare.com/client/v4",
        "http://localhost.evil.example/",
        "http://127.0.0.1.evil.example/",
        "http://0.0.0.0/",
        "http://10.0.0.1/",
        "ftp://127.0.0.1/",
        "https://",
        "https:///path",
        "https://user:secret@example.com/",
        "https://example.com/?a=b",
        "https://example.com/#a",
        "https://exa mple.com/",
        "https://example.com/\nX: y",
        "https://ex\u0430mple.com/",
        "https://example.com:port/",
        "http://[::1/",
    ],
)
def test_other_addresses_are_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(NotConnected) as caught:
        check_base_url(text)
    assert "secret" not in caught.value.message
    assert caught.value.message.endswith(".")
