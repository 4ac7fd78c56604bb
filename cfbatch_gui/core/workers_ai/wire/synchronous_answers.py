"""The answer to one request that was run at once: the model's output, with or without the v4 envelope."""

from typing import Final

import msgspec

from cfbatch_gui.core.workers_ai.wire.answers import Element, Finished, Output, Usage, read_usage
from cfbatch_gui.core.workers_ai.wire.decoding import NULL, breach, decode


class _Output(Output, frozen=True):
    usage: msgspec.Raw = NULL


class _Frame(_Output, frozen=True):
    success: bool | None = None


_frame_decoder: Final = msgspec.json.Decoder(_Frame)
_output_decoder: Final = msgspec.json.Decoder(_Output)


def read_run(data: bytes) -> Finished:
    """Read it as the answer of a batch of one, so that it is checked and stored as any other.

    Scores and vectors stay undecoded views of `data`. Raises ReplyError.
    """
    frame = decode(_frame_decoder, data, "answer")
    if frame.success is False:
        raise breach("the service reports a failure where an answer was expected")
    output: _Output = frame
    if frame.success is not None:
        output = decode(_output_decoder, frame.result, "answer")
    usage: Usage | None = read_usage(output.usage)
    return Finished((Element(id=0, result=output, success=True),), usage)
