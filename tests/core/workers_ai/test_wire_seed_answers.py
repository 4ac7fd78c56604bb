"""Every answer printed on Cloudflare's pages is decoded to the values on the page."""

from pathlib import Path

import pytest

from cfbatch_gui.core.workers_ai.answers import (
    Expected,
    Finished,
    Queued,
    Scored,
    Usage,
    match,
    read_answer,
    read_envelope,
)

ANSWERS = Path(__file__).parents[2] / "data" / "seeds_answers"


@pytest.mark.parametrize(
    ("page", "request_id"),
    [
        ("rest_2025", "768f15b7-4fd6-4498-906e-ad94ffc7f8d2"),
        ("rest_2026", "768f15b7-4fd6-4498-906e-ad94ffc7f8d2"),
        ("binding_2025", "000-000-000"),
        ("binding_2026", "000-000-000"),
    ],
)
def test_a_queued_answer_gives_its_request_id(page: str, request_id: str) -> None:
    data = (ANSWERS / f"{page}_queued.json").read_bytes()
    assert read_answer(data) == Queued(request_id, "@cf/baai/bge-m3", "queued")


@pytest.mark.parametrize("page", ["rest_2025", "rest_2026", "binding_2025", "binding_2026"])
def test_a_finished_answer_gives_its_scores(page: str) -> None:
    data = (ANSWERS / f"{page}_done.json").read_bytes()
    finished = read_answer(data)
    assert isinstance(finished, Finished)
    assert finished.usage == Usage(prompt_tokens=12, completion_tokens=0, total_tokens=12)
    [scored] = match(finished, [Expected("reference-1", "scores", 3)])
    assert isinstance(scored, Scored)
    assert scored.index == 0
    assert scored.scores.dtype == "float64"
    assert scored.scores.tolist() == [0.73974609375, 0.642578125, 0.6220703125]


@pytest.mark.parametrize("page", ["rest_2025", "rest_2026", "binding_2025", "binding_2026"])
@pytest.mark.parametrize("state", ["queued", "done"])
def test_an_answer_says_the_same_out_of_its_frame(page: str, state: str) -> None:
    data = (ANSWERS / f"{page}_{state}.json").read_bytes()
    answer = read_envelope(data, 200)
    assert answer.ok
    assert answer.errors == ()
    assert answer.is_enveloped == page.startswith("rest")
    assert read_answer(answer.result) == read_answer(data)
