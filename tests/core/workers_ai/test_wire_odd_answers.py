"""Answers that may be another batch's are not taken; oddities beside the results do not spoil them."""

import json
from typing import Any

import pytest

from cfbatch_gui.core.errors import ForeignReply, ReplyError
from cfbatch_gui.core.workers_ai.answers import Expected, Finished, Refused, Scored, match, read_answer, read_run


def some(*references: str | None, failed: int | None = None) -> list[Any]:
    """An element for each reference; the one at `failed` has an error in place of scores."""
    scores = {"response": [{"id": 0, "score": 0.5}, {"id": 1, "score": 0.25}]}
    return [
        {"id": index, "external_reference": reference}
        | ({"error": "out of memory", "success": False} if index == failed else {"result": scores, "success": True})
        for index, reference in enumerate(references)
    ]


OURS = [Expected("a", "scores", 2), Expected("b", "scores", 2)]


@pytest.mark.parametrize(
    ("elements", "required"),
    [
        (some("a", None), False),
        (some("", "b"), False),
        (some(None, None), True),
        (some("", ""), True),
        (some(None, None, failed=0), True),
        (some("a", None), True),
    ],
)
def test_results_without_the_reference_that_others_have_are_not_taken(elements: list[Any], required: bool) -> None:
    finished = read_answer(json.dumps({"responses": elements}).encode())
    assert isinstance(finished, Finished)
    with pytest.raises(ForeignReply, match="lacks the references"):
        list(match(finished, OURS, references_required=required))


@pytest.mark.parametrize(
    ("elements", "required"),
    [(some(None, None), False), (some("a", "b"), True), (some("a", None, failed=1), True)],
)
def test_references_are_not_asked_of_a_request_that_failed(elements: list[Any], required: bool) -> None:
    finished = read_answer(json.dumps({"responses": elements}).encode())
    assert isinstance(finished, Finished)
    assert len(list(match(finished, OURS, references_required=required))) == 2


def test_a_synchronous_answer_never_has_references() -> None:
    answer = b'{"result":{"response":[{"id":0,"score":0.5},{"id":1,"score":0.25}]},"success":true}'
    (scored,) = match(read_run(answer), OURS[:1], references_required=True)
    assert isinstance(scored, Scored)


@pytest.mark.parametrize("name", ["request_id", "responses", "results"])
def test_the_answer_to_a_batch_is_none_to_a_single_request(name: str) -> None:
    with pytest.raises(ReplyError, match="answer to a batch"):
        read_run(json.dumps({"result": {"response": [], name: ["x"]}, "success": True}).encode())
    with pytest.raises(ReplyError, match="answer to a batch"):
        read_run(json.dumps({"result": {"response": []}, "request_id": "x", "success": True}).encode())


@pytest.mark.parametrize("score", ["1e308", "-1e308", "1000.5", "-1001"])
def test_a_score_that_no_model_gives_is_refused(score: str) -> None:
    text = f'{{"responses":[{{"id":0,"result":{{"response":[{{"id":0,"score":{score}}}]}}}}]}}'
    finished = read_answer(text.encode())
    assert isinstance(finished, Finished)
    with pytest.raises(ReplyError, match="out of bounds"):
        list(match(finished, [Expected("a", "scores", 1)]))


@pytest.mark.parametrize("usage", ["1e400", '{"total_tokens":1e400}', '"many"', "[1]", '{"total_tokens":"\\ud800"}'])
def test_a_usage_that_is_none_spoils_no_result(usage: str) -> None:
    text = f'{{"responses":[{{"id":0,"result":{{"response":[{{"id":0,"score":0.5}}]}}}}],"usage":{usage}}}'
    finished = read_answer(text.encode())
    assert isinstance(finished, Finished)
    assert finished.usage is None
    assert len(list(match(finished, [Expected("a", "scores", 1)]))) == 1


@pytest.mark.parametrize("text", [b'"no \\ud83d here"', b'"no \xed\xa0\xbd here"', b'{"message":"\\udead"}'])
def test_half_a_character_in_an_error_spoils_no_result(text: bytes) -> None:
    data = b'{"responses":[{"id":0,"result":{"response":[{"id":0,"score":0.5}]},"success":true},'
    data += b'{"id":1,"success":false,"error":%s}]}' % text
    finished = read_answer(data)
    assert isinstance(finished, Finished)
    scored, refused = match(finished, [Expected("a", "scores", 1), Expected("b", "scores", 1)])
    assert isinstance(scored, Scored) and isinstance(refused, Refused)
    assert "\ufffd" in refused.error or "\\ufffd" in refused.error  # an error that is an object is shown as JSON


def test_a_backslash_before_an_escape_is_no_surrogate() -> None:
    finished = read_answer(b'{"responses":[{"id":0,"success":false,"error":"C:\\\\ud800 \\ud83d\\ude00"}]}')
    assert isinstance(finished, Finished)
    (refused,) = match(finished, [Expected("a", "scores", 1)])
    assert isinstance(refused, Refused) and refused.error == "C:\\ud800 😀"


@pytest.mark.parametrize("frame", ['{{"result":{},"success":true}}', "{}"], ids=["enveloped", "bare"])
@pytest.mark.parametrize("rest", ['"status":"running"', '"responses":[]'])
def test_an_answer_says_which_batch_it_is_of(frame: str, rest: str) -> None:
    body = '{"request_id":"r-7",' + rest + "}"
    assert read_answer(frame.format(body).encode()).request_id == "r-7"


def test_an_answer_that_names_two_batches_is_none() -> None:
    with pytest.raises(ReplyError, match="names two batches"):
        read_answer(b'{"request_id":"a","result":{"request_id":"b","responses":[]},"success":true}')
