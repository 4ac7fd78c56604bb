"""A client of the practice service over a real socket, and a batch to send."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.requests import Request, encode_batch, encode_request
from tests.account_service import ACCOUNT
from tests.canary import TOKEN
from tests.core.endpoints.conftest import service
from tests.core.jobs.conftest import Clock
from tests.support.clients import client_of, cloudflare
from tests.support.faulty_service import FaultyService

MODEL = "@cf/baai/bge-m3"
BODY = encode_batch([encode_request(Request(("an orange cloud", "a llama"), "cloud", reference="r-1"))])


def connected(url: str, token: str = TOKEN, **options: Any) -> WorkersAI:
    return client_of(cloudflare(ACCOUNT, base_url=url), token, **options)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[FaultyService]:
    async with FaultyService(service(tmp_path / "service")) as made:
        yield made
