"""Faulty replies: made up, or made from the practice service's correct one."""

import email.utils
import gzip
import random
import zlib
from typing import Final, get_args

import msgspec

from cfbatch_gui.core.practice.faults import script
from cfbatch_gui.core.practice.faults.http import Answer
from cfbatch_gui.core.practice.faults.mutations import mutate, of_another_job, with_failures
from cfbatch_gui.core.practice.faults.vectorize_mutations import mutate_vectorize

JSON: Final = (("content-type", "application/json"),)
_MEGABYTE: Final = 1 << 20
_PAGE: Final = (
    b"<!doctype html>\n<html><head><title>Sign in</title></head><body><h1>Welcome</h1>"
    b"<p>Please accept the terms of this network.</p></body></html>\n"
)


def refused(status: int, code: int, message: str, *, envelope: bool = True) -> bytes:
    """Encode a refusal of the v4 API; code 0 leaves the list of errors empty."""
    errors = [{"code": code, "message": message}] if code else []
    frame = {"result": None, "success": False, "errors": errors, "messages": []}
    return msgspec.json.encode(frame if envelope else {"status": status, "error": message or "refused", "code": code})


NO_CAPACITY: Final = Answer(429, JSON, refused(429, 3040, "AiError: No more data centers to forward the request to"))


TOO_MANY_REQUESTS: Final = Answer(429, JSON, refused(429, 40041, "Too Many Requests"))


def unasked(kind: script.Kind) -> Answer:
    """The refusal that stands for the practice service's answer to a request that it did not get."""
    return TOO_MANY_REQUESTS if kind in get_args(script.VectorizeKind) else NO_CAPACITY


def reply_to(fault: script.ReplyFault, answer: Answer, *, now: float) -> Answer:
    """Return the reply to send for a fault. `answer` is the practice service's, or what stands for it."""
    match fault:
        case script.CutReply():
            return Answer(answer.status, answer.headers, answer.body[: fault.byte])
        case script.Garbage():
            return Answer(answer.status, answer.headers, noise())
        case script.BadGzip():
            return _encoded(answer, "gzip", answer.body)
        case script.CutGzip():
            packed = gzip.compress(answer.body)
            return _encoded(answer, "gzip", packed[: len(packed) // 2])
        case script.UnknownEncoding():
            return _encoded(answer, fault.name, answer.body)
        case script.Gzip():
            return _encoded(answer, "gzip", gzip.compress(answer.body))
        case script.GzipBomb():
            return _encoded(Answer(200, JSON, b""), "gzip", _bomb(fault.megabytes))
        case script.LargeReply():
            return Answer(200, JSON, b" " * _MEGABYTE, repeated=fault.megabytes)
        case script.Page():
            return Answer(fault.status, (("content-type", "text/html; charset=utf-8"),), _PAGE)
        case script.Redirect():
            return Answer(fault.status, (("content-type", "text/html"), ("location", fault.location)), b"")
        case script.Refusal():
            return _refusal(fault, now)
        case script.AnyReply():
            return Answer(fault.status, (("content-type", fault.content_type),), fault.body.encode())
        case script.WrongType():
            others = tuple(header for header in answer.headers if header[0] != "content-type")
            return Answer(answer.status, (*others, ("content-type", fault.content_type)), answer.body)
        case script.Mutate():
            return Answer(answer.status, answer.headers, mutate(answer.body, fault.how))
        case script.MutateVectorize():
            return Answer(answer.status, answer.headers, mutate_vectorize(answer.body, fault.how))
        case script.FailRequests():
            return Answer(answer.status, answer.headers, with_failures(answer.body, fault.requests, fault.error))
        case script.AnotherAnswer():
            return Answer(answer.status, answer.headers, of_another_job(answer.body))
    return answer


def blocked(left: float, *, told: bool) -> Answer:
    """The v4 API's refusal of all calls of a token over its rate limit; `told` adds a Retry-After of `left` seconds."""
    headers = (*JSON, ("retry-after", str(int(left) + 1))) if told else JSON
    return Answer(429, headers, refused(429, 0, ""))


def noise(count: int = 500) -> bytes:
    """Pseudo-random bytes, the same every time."""
    return random.Random("noise").randbytes(count)  # noqa: S311


def _encoded(answer: Answer, name: str, body: bytes) -> Answer:
    return Answer(answer.status, (*answer.headers, ("content-encoding", name)), body)


def _refusal(fault: script.Refusal, now: float) -> Answer:
    wait = fault.retry_after
    if fault.retry_date is not None:
        wait = email.utils.formatdate(now + fault.retry_date, usegmt=True)
    headers = (*JSON, ("retry-after", wait)) if wait else JSON
    return Answer(fault.status, headers, refused(fault.status, fault.code, fault.message, envelope=fault.envelope))


def _bomb(megabytes: int) -> bytes:
    """Well-formed gzip of so many megabytes of spaces, made in the time and the memory of one."""
    block = b" " * _MEGABYTE
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)  # after a full flush it can be repeated as it is
    checksum = 0
    for _ in range(megabytes):
        checksum = zlib.crc32(block, checksum)
    size = megabytes * _MEGABYTE % (1 << 32)
    head, end = b"\x1f\x8b\x08\0\0\0\0\0\0\xff", packer.flush(zlib.Z_FINISH)
    return head + packed * megabytes + end + checksum.to_bytes(4, "little") + size.to_bytes(4, "little")
