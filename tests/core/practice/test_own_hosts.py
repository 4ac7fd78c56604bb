"""The practice service answers whoever calls it by this computer's own names, and no page that gave itself one."""

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.canary import TOKEN
from tests.core.practice.test_practice_server import ADDRESS, announcement, command
from tests.support.practice import accepted

BODY = b'{"requests": [{"text": "a"}]}'


def post(url: str, *hosts: str) -> tuple[int, dict[str, object]]:
    """Send a batch with these headers Host, as they are."""
    address = urlsplit(url)
    assert address.hostname is not None
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    connection.putrequest("POST", address.path + ADDRESS, skip_host=True)
    for host in hosts:
        connection.putheader("Host", host)
    connection.putheader("Authorization", f"Bearer {TOKEN}")
    connection.putheader("Content-Length", str(len(BODY)))
    connection.endheaders(BODY)
    answer = connection.getresponse()
    found = json.loads(answer.read())
    connection.close()
    return answer.status, found


@pytest.fixture(params=["plain", "with faults"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of the command's service, with and without faults in front of it."""
    options = ["--port", "0"]
    if request.param == "with faults":
        (tmp_path / "faults.json").write_text('{"faults": []}')
        options += ["--faults", str(tmp_path / "faults.json")]
    with command(tmp_path, *options) as process:
        found = re.search(r"http://127\.0\.0\.1:\d+/client/v4", announcement(process.stderr))
        assert found is not None
        yield found[0]


def test_own_names_are_served_and_others_refused_in_the_envelope(served: str, tmp_path: Path) -> None:
    port = urlsplit(served).port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LocalHost:{port}", f"[::1]:{port}"):
        assert post(served, host)[0] == 200, host
    foreign = ["rebound.example", f"rebound.example:{port}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.example:{port}"]
    for host in (*foreign, f"localhost:{port}.example", f"0.0.0.0:{port}", f"user@localhost:{port}", ""):
        status, refusal = post(served, host)
        assert (status, refusal["success"], refusal["result"]) == (421, False, None), host
        assert isinstance(refusal["errors"], list) and "only for programs on its computer" in str(refusal["errors"])
    assert len(accepted(tmp_path / "practice")) == 4


def test_two_hosts_or_none_are_no_way_around(served: str, tmp_path: Path) -> None:
    own = f"127.0.0.1:{urlsplit(served).port}"
    assert post(served, own)[0] == 200
    for hosts in ((), (own, "rebound.example"), ("rebound.example", own)):
        try:
            status, _ = post(served, *hosts)
        except (json.JSONDecodeError, ConnectionError):
            # Without faults, the parser of requests refuses it before the service sees it, and hangs up on whoever is
            # still sending the body.
            continue
        assert status == 421, hosts
    assert len(accepted(tmp_path / "practice")) == 1
