"""The curl commands from Cloudflare's pages, run by curl; only the host and the ids are replaced."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cfbatch_gui.core.practice.local_models import HashedNgrams, PracticeModel, choose_model
from tests.canary import TOKEN
from tests.support.practice import PracticeServer

SEEDS = Path(__file__).parents[2] / "data" / "seeds"
STORIES = {0: "orange cloud", 1: "llama", 2: "hugging emoji"}

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


@pytest.fixture(scope="module", params=[choose_model, HashedNgrams], ids=["best model", "n-grams"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PracticeServer]:
    load: type[PracticeModel] = request.param
    with PracticeServer(tmp_path_factory.mktemp("practice"), load_model=load) as running:
        yield running


def run(server: PracticeServer, name: str, request_id: str = "") -> Any:
    command = (SEEDS / name).read_text("utf-8").replace("<uuid>", request_id)
    account, token = "a" * 32, TOKEN
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(SEEDS),  # a folder without .curlrc
        "SERVICE": server.url.removesuffix("/client/v4"),
        **dict.fromkeys(("ACCOUNT_ID", "CLOUDFLARE_ACCOUNT_ID"), account),
        **dict.fromkeys(("API_TOKEN", "CLOUDFLARE_API_TOKEN"), token),
    }
    ended = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, timeout=60, check=True)
    return json.loads(ended.stdout)


@pytest.mark.parametrize(("year", "reference"), [("2025", None), ("2026", "reference-1")])
def test_the_pages_of_the_rest_api(server: PracticeServer, year: str, reference: str | None) -> None:
    queued = run(server, f"batch-rest-{year}-send.sh")
    request_id = queued["result"].pop("request_id")
    assert queued == {
        "result": {"status": "queued", "model": "@cf/baai/bge-m3"},
        "success": True,
        "errors": [],
        "messages": [],
    }

    done = run(server, f"batch-rest-{year}-retrieve.sh", request_id)

    (element,) = done["result"].pop("responses")
    scores = {score["id"]: score["score"] for score in element.pop("result")["response"]}
    assert STORIES[max(scores, key=scores.__getitem__)] == "orange cloud"
    assert scores.keys() == STORIES.keys()
    assert element == {"id": 0, "success": True, "external_reference": reference}
    usage = done["result"].pop("usage")
    assert usage["prompt_tokens"] == usage["total_tokens"] > 0
    assert usage["completion_tokens"] == 0
    assert done == {"result": {}, "success": True, "errors": [], "messages": []}


def test_the_page_of_the_model(server: PracticeServer) -> None:
    answer = run(server, "bge-m3-model-run.sh")
    rows, dimension = answer["result"]["shape"]
    assert rows == 3
    assert [len(row) for row in answer["result"]["data"]] == [dimension] * 3
    assert answer["result"]["pooling"] == "cls"
    assert answer["success"] is True


def test_every_curl_line_is_run() -> None:
    assert {path.name for path in SEEDS.iterdir()} == {
        "batch-rest-2025-send.sh",
        "batch-rest-2025-retrieve.sh",
        "batch-rest-2026-send.sh",
        "batch-rest-2026-retrieve.sh",
        "bge-m3-model-run.sh",
    }
