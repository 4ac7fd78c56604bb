"""Connections that break at any byte, and answers larger than memory, over real sockets.

Memory is measured in a separate process."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import OutcomeUnknown
from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.workers_ai.api_tokens import Token
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import cloudflare
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit, ExchangeLimits, RateBudget
from cfbatch_gui.core.workers_ai.transport import Transport
from tests.canary import TOKEN
from tests.core.faults.conftest import TinyModel
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService
from tests.support.practice import accepted

MODEL = "@cf/baai/bge-m3"
BODY = b'{"requests":[{"text":["one","two"],"external_reference":"r-1"}]}'
ROOM = 64  # megabytes of memory allowed for an answer of unlimited size


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[FaultyService]:
    service = practice_app(tmp_path, seconds_queued=0, seconds_running=0, load_model=TinyModel)
    async with FaultyService(service) as made:
        yield made


@pytest.fixture
def client(faulty: FaultyService) -> WorkersAI:
    async def token() -> Token:
        return Token(TOKEN)

    limits = ExchangeLimits(submit=ExchangeLimit(10, 1_000_000))
    return WorkersAI(
        cloudflare("a" * 32, base_url=faulty.url), token, transport=Transport(), budget=RateBudget(), limits=limits
    )


@pytest.mark.parametrize("rst", [True, False])
async def test_a_reply_that_ends_at_any_byte_leaves_the_outcome_unknown(
    faulty: FaultyService, client: WorkersAI, tmp_path: Path, rst: bool
) -> None:
    cuts: list[Fault] = []
    for byte in range(0, 300, 50):
        cuts += [
            faults.reset_in_reply_headers(byte=byte, rst=rst, billed=True),
            faults.reset_in_reply(byte=byte, rst=rst, billed=True),
        ]
    faulty.follow(*cuts)
    for _ in cuts:
        with pytest.raises(OutcomeUnknown):
            await client.submit(MODEL, BODY)
    assert len(accepted(tmp_path)) == len(faulty.submits) == len(cuts)
    assert (await client.submit(MODEL, BODY)).request_id


async def test_a_body_that_is_cut_at_any_byte_is_not_accepted(
    faulty: FaultyService, client: WorkersAI, tmp_path: Path
) -> None:
    cuts = [faults.reset_in_body(byte=byte, rst=byte % 2 == 0) for byte in range(0, len(BODY), 15)]
    faulty.follow(*cuts)
    for _ in cuts:
        with pytest.raises(OutcomeUnknown):
            await client.submit(MODEL, BODY)
    assert accepted(tmp_path) == []


MEASURED = """
import asyncio, json, re, sys
from pathlib import Path
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit
from cfbatch_gui.core.workers_ai.transport import ExchangeError, Transport

def peak():  # in kilobytes; getrusage would tell that of the process that started this one
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

async def main():
    url, most_bytes = sys.argv[1], int(sys.argv[2])
    transport = Transport()
    said = []
    for number in range(2):
        try:
            answer = await transport.send("GET", url, headers={}, limit=ExchangeLimit(60, most_bytes))
            said.append(answer.status)
        except ExchangeError as error:
            said.append(error.reason)
        if number == 0:
            before = peak()
    after = peak()
    print(json.dumps({"said": said, "megabytes": (after - before) / 1024}))

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("fault", "most_bytes"),
    [
        (faults.gzip_bomb(number=2, megabytes=500), ExchangeLimits().poll.most_bytes),
        (faults.large_reply(number=2, megabytes=300), ExchangeLimits().check.most_bytes),
    ],
)
async def test_no_answer_fills_the_memory(faulty: FaultyService, fault: Fault, most_bytes: int) -> None:
    faulty.follow(fault)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        MEASURED,
        f"{faulty.url}/user/tokens/verify",
        str(most_bytes),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    measured = json.loads(out)
    assert measured["said"] == [400, "too_large"]  # no token was sent
    assert measured["megabytes"] < ROOM
