"""What is deployed with collecting is what the tests run, and the door needs nothing of it."""

import re

from tests.worker.collecting_runtime import WORKER
from tests.worker.conftest import BGE_M3, Callers, read_refusal
from tests.worker.test_worker_refusals import UNKNOWN_ID


def test_the_readme_names_what_the_configuration_has() -> None:
    readme = (WORKER / "README.md").read_text("utf-8")
    for command in (
        "npx wrangler r2 bucket create cf-batch-answers",
        "npx wrangler deploy --config collect.jsonc",
        "npx wrangler workflows delete cf-batch-collect",
        "npx wrangler r2 bucket delete cf-batch-answers",
    ):
        assert f"`{command}`" in readme


def test_the_door_can_be_deployed_alone() -> None:
    """On the dashboard `src/index.js` is pasted: it must not import anything."""
    assert re.findall(r"^import|^export .* from|import\(", (WORKER / "src" / "index.js").read_text("utf-8"), re.M) == []


def test_nothing_under_collecting_submits() -> None:
    """What a workflow repeats after a cut would be billed again."""
    for name in ("collect.js", "orders.js", "rounds.js", "storing.js"):
        text = (WORKER / "src" / name).read_text("utf-8")
        assert "queueRequest" not in text
        asks = re.findall(r"\.run\((.*)\)", text)
        assert asks == (
            ["model, { request_id: requestId }, { returnRawResponse: true }"] if name == "storing.js" else []
        )


def test_without_the_bucket_it_says_how_to_get_it_and_is_a_door_all_the_same(callers: Callers) -> None:
    caller = callers.worker("collecting-without-bucket")
    answer = caller.http.get("/collect")
    assert read_refusal(answer) == (400, 0)
    assert "npx wrangler deploy --config collect.jsonc" in answer.json()["error"]["message"]
    assert read_refusal(caller.http.put("/collect/job/1", json={})) == (400, 0)
    assert caller.refusal({"request_id": UNKNOWN_ID}) == (404, 5504)
    assert caller.post({"requests": [{"text": ["a"]}]}, model=BGE_M3).json()["status"] == "queued"
