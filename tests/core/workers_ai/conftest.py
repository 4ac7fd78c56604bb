"""A client of the practice service over a real socket, and a batch to send."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.practice.app import practice_app
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.connection_kinds import cloudflare
from cfbatch_gui.core.workers_ai.requests import Request, encode_batch, encode_request
from tests.account_service import ACCOUNT
from tests.canary import TOKEN
from tests.support.clients import client_of
from tests.support.faulty_service import FaultyService

MODEL = "@cf/baai/bge-m3"
BODY = encode_batch([encode_request(Request(("an orange cloud", "a llama"), "cloud", reference="r-1"))])


def connected(url: str, token: str = TOKEN, **options: Any) -> WorkersAI:
    return client_of(cloudflare(ACCOUNT, base_url=url), token, **options)


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[FaultyService]:
    async with FaultyService(
        practice_app(tmp_path / "service", seconds_queued=0, seconds_running=0, token=TOKEN, load_model=HashedNgrams)
    ) as made:
        yield made
