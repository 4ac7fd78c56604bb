"""The envelope of Cloudflare's v4 API, `{"result", "success", "errors", "messages"}`, and the forms without it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from cfbatch_gui.core.workers_ai.wire.decoding import NULL, decode, without_lone_surrogates


@dataclass(frozen=True, slots=True)
class ServiceError:
    """One entry of `errors`, unchanged. `code` is 0 when the service gave none."""

    code: int
    message: str


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """An answer without its envelope.

    `is_enveloped` is whether it had one: only then is a refusal known to come from Cloudflare and not from a proxy.
    Without an envelope `result` is the whole answer, and `ok` follows from the HTTP status alone.
    `result` is a view of the answer's bytes, not a copy.
    """

    ok: bool
    result: msgspec.Raw
    errors: tuple[ServiceError, ...]
    is_enveloped: bool


class _Error(msgspec.Struct):
    code: msgspec.Raw = NULL
    message: msgspec.Raw = NULL
    error_chain: list["_Error"] | None = None


_object_decoder: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_success_decoder: Final = msgspec.json.Decoder(bool | None)
_errors_decoder: Final = msgspec.json.Decoder(list[_Error] | None)
_error_decoder: Final = msgspec.json.Decoder(_Error | None)
_code_decoder: Final = msgspec.json.Decoder(int | str | float | None)
_text_decoder: Final = msgspec.json.Decoder(str)


def read_envelope(data: bytes, status: int) -> ServiceAnswer:
    """Unwrap an answer. `status` is the HTTP status.

    Errors in an `error_chain` follow the error that holds them. Raises ReplyError when the answer is not a JSON object,
    or when its envelope has values of wrong types.
    """
    answer = decode(_object_decoder, data, "answer")
    is_success_status = 200 <= status < 300
    success = decode(_success_decoder, answer.get("success", NULL), "success")
    if success is None or not answer.keys() & {"result", "errors"}:
        return ServiceAnswer(is_success_status, msgspec.Raw(data), (), is_enveloped=False)
    errors = decode(_errors_decoder, answer.get("errors", NULL), "errors")
    return ServiceAnswer(
        success and is_success_status, answer.get("result", NULL), _flat(errors or ()), is_enveloped=True
    )


def read_bare(data: bytes, status: int) -> ServiceAnswer:
    """Read an answer of the Workers Binding, which has no envelope, or a Worker's `{"error": {"code", "message"}}`.

    `is_enveloped` is whether the answer is in one of these two forms. Raises ReplyError when it is not a JSON object.
    """
    answer = decode(_object_decoder, data, "answer")
    if 200 <= status < 300 and "error" not in answer:
        return ServiceAnswer(True, msgspec.Raw(data), (), is_enveloped=True)
    error = decode(_error_decoder, answer.get("error", NULL), "error")
    return ServiceAnswer(False, NULL, _flat((error,)) if error else (), is_enveloped=error is not None)


def read_gateway(data: bytes, status: int) -> ServiceAnswer:
    """Read an answer that came through an AI Gateway: the service's, or a refusal by the gateway.

    The gateway's refusal is an envelope with `error` in place of `errors`, or an object with an `internalCode`.
    Raises ReplyError when the answer is not a JSON object.
    """
    answer = decode(_object_decoder, data, "answer")
    if status < 400 or answer.keys() & {"errors", "result"} == {"errors", "result"}:
        return read_envelope(data, status)
    if "internalCode" in answer:
        error = ServiceError(_code(answer["internalCode"]), raw_text(answer.get("message", NULL)))
        return ServiceAnswer(False, NULL, (error,), is_enveloped=True)
    if "error" in answer and "success" in answer:
        errors = decode(_errors_decoder, answer["error"], "error")
        return ServiceAnswer(False, NULL, _flat(errors or ()), is_enveloped=True)
    return read_envelope(data, status)


def _flat(errors: Sequence["_Error"]) -> tuple[ServiceError, ...]:
    flat: list[ServiceError] = []
    for error in errors:
        flat.append(ServiceError(_code(error.code), raw_text(error.message)))
        flat.extend(_flat(error.error_chain or ()))
    return tuple(flat)


def _code(raw: msgspec.Raw) -> int:
    try:
        code = _code_decoder.decode(raw)
    except ValueError:
        return 0
    if isinstance(code, int):
        return code
    return int(code) if isinstance(code, str) and code.isascii() and code.isdigit() else 0


def raw_text(raw: msgspec.Raw) -> str:
    """Return the text of a JSON string, any other value as the JSON that was sent, and "" for null."""
    try:
        return _text_decoder.decode(without_lone_surrogates(bytes(raw)) or raw)
    except ValueError:
        text = bytes(raw).decode("utf-8", errors="replace")
        return "" if text == "null" else text
