"""Vectors as CSV with each vector in one cell: `id,text,embedding`, the vector as `[0.1,0.2]`.

pgvector, Spotlight and Oracle read this format.
"""

from cfbatch_gui.core.results.exports.base import Work, Written
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.delimited import Dialect
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.results.exports.vector_text import vector_texts
from cfbatch_gui.core.system.files import atomic_writer

COLUMNS = ("id", "text", "embedding")


def write(work: Work) -> Written:
    """Write and read back; each number is the shortest decimal that reads back as the same float32."""
    table = VectorRows(work)
    dialect = Dialect(work.options)
    done = 0
    with atomic_writer(work.path) as raw:
        stream = CheckedStream(raw, work.path)
        stream.write(dialect.start + dialect.encode([COLUMNS]))
        for texts, vectors in table.blocks():
            rows = zip(texts, vector_texts(vectors), strict=True)
            stream.write(dialect.encode((table.id_of(text), text.text, vector.decode()) for text, vector in rows))
            done += len(texts)
            work.tick(done)
        stream.compare(work, done)
        work.tick_end()
    return Written(done, (work.path,), {**dialect.notes(COLUMNS), **table.notes})
