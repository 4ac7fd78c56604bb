"""JSON Lines in the format of OpenAI's batch answers: an object for each text, with the text's id as `custom_id`.

As in those answers, only texts with a result are in the file; the manifest counts the others.
"""

import msgspec

from cfbatch_gui.core.results.exports.base import Work, Written
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.results.exports.vector_text import vector_texts
from cfbatch_gui.core.system.files import atomic_writer

_LINE = (
    b'{"id":%b,"custom_id":%b,"response":{"status_code":200,"request_id":%b,"body":{"object":"list","data":'
    b'[{"object":"embedding","index":0,"embedding":%b}],"model":%b}},"error":null}\n'
)


def write(work: Work) -> Written:
    """Write and read back."""
    table = VectorRows(work)
    encode = msgspec.json.Encoder().encode
    model = encode(work.metadata.model)
    done = 0
    with atomic_writer(work.path) as raw:
        stream = CheckedStream(raw, work.path)
        for texts, vectors in table.blocks():
            lines = []
            for text, vector in zip(texts, vector_texts(vectors), strict=True):
                request = encode(work.metadata.request_ids.get(text.batch, ""))
                number = encode(f"{work.metadata.id}-{text.item_no}")
                lines.append(_LINE % (number, encode(table.id_of(text)), request, vector, model))
            stream.write(b"".join(lines))
            done += len(texts)
            work.tick(done)
        stream.compare(work, done)
        work.tick_end()
    return Written(done, (work.path,), table.notes)
