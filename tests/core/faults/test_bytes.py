"""Answers larger than memory, over real sockets: it is measured in a separate process."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.workers_ai.limits import ExchangeLimits
from tests.core.faults.conftest import TinyModel
from tests.support import faults
from tests.support.faults import Fault
from tests.support.faulty_service import FaultyService

ROOM = 64  # megabytes of memory allowed for an answer of unlimited size


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[FaultyService]:
    service = practice_app(tmp_path, seconds_queued=0, seconds_running=0, load_model=TinyModel)
    async with FaultyService(service) as made:
        yield made


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
