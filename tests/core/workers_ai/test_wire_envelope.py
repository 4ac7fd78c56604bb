"""Answers with and without the envelope of the v4 API."""

import json

import pytest

from cfbatch_gui.core.errors import ReplyError
from cfbatch_gui.core.workers_ai.answers import ServiceError, read_envelope


def test_a_result_comes_out_of_its_frame() -> None:
    answer = read_envelope(b'{"result": {"a": [1]} ,"success":true,"errors":[],"messages":[{"code":10000}]}', 200)
    assert answer.ok
    assert answer.is_enveloped
    assert bytes(answer.result) == b'{"a": [1]}'
    assert answer.errors == ()


@pytest.mark.parametrize("status", [401, 429, 500, 200])
@pytest.mark.parametrize("result", ['"result":null,', '"result":{},', ""])
def test_a_refusal_comes_with_its_errors(status: int, result: str) -> None:
    data = f'{{{result}"success":false,"errors":[{{"code":10000,"message":"Authentication error"}}],"messages":null}}'
    answer = read_envelope(data.encode(), status)
    assert not answer.ok
    assert answer.is_enveloped
    assert answer.errors == (ServiceError(10000, "Authentication error"),)


def test_inner_errors_follow_their_outer_one() -> None:
    inner = [{"code": "6111", "message": "Invalid format for Authorization header"}]
    errors = [{"code": 6003, "message": "Invalid request headers", "error_chain": inner}, {"message": {"a": 1}}, {}]
    answer = read_envelope(json.dumps({"success": False, "errors": errors}).encode(), 400)
    assert answer.errors == (
        ServiceError(6003, "Invalid request headers"),
        ServiceError(6111, "Invalid format for Authorization header"),
        ServiceError(0, '{"a": 1}'),
        ServiceError(0, ""),
    )


def test_a_frame_that_says_success_under_an_error_status_is_not_ok() -> None:
    assert not read_envelope(b'{"result":{},"success":true,"errors":null}', 502).ok


@pytest.mark.parametrize("status", [200, 202, 403])
def test_an_answer_without_a_frame_is_itself_the_result(status: int) -> None:
    data = b'{"status":"queued","request_id":"1"}'
    answer = read_envelope(data, status)
    assert answer.ok == (status < 300)
    assert not answer.is_enveloped
    assert bytes(answer.result) == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<!DOCTYPE html><title>Sign in</title>",
        b"[1]",
        b"null",
        b'{"result":',
        b'{"success":"no","errors":[]}',
        b'{"success":false,"errors":"broken"}',
        b'{"a":' + b"[" * 100_000,
    ],
)
def test_what_is_no_answer_is_a_reply_error(data: bytes) -> None:
    with pytest.raises(ReplyError):
        read_envelope(data, 200)
