"""Vectors as CSV with a column for each number: `id`, the user's own columns, `dim_0` and so on."""

from cfbatch_gui.core.results.exports.base import Work, Written
from cfbatch_gui.core.results.exports.checked_stream import CheckedStream
from cfbatch_gui.core.results.exports.delimited import Dialect
from cfbatch_gui.core.results.exports.vector_rows import VectorRows
from cfbatch_gui.core.results.exports.vector_text import vector_texts
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.system.files import atomic_writer


def write(work: Work) -> Written:
    """Write and read back; each number is the shortest decimal that reads back as the same float32."""
    dimension = Embeddings(work.folder).dimension
    numbers = [f"dim_{index}" for index in range(dimension)]
    table = VectorRows(work, reserved=("id", *numbers))
    dialect = Dialect(work.options)
    header = ["id", *table.columns]
    done = 0
    with atomic_writer(work.path) as raw:
        stream = CheckedStream(raw, work.path)
        stream.write(dialect.start + dialect.encode([[*header, *numbers]]))
        for texts, vectors in table.blocks():
            lines = []
            for text, decimals in zip(texts, vector_texts(vectors), strict=True):
                cells = (table.id_of(text), *table.cells(text))
                lines.append(dialect.encode_start(cells) + _separated(decimals, dialect) + dialect.line_end)
            stream.write(b"".join(lines))
            done += len(texts)
            work.tick(done)
        stream.compare(work, done)
        work.tick_end()
    return Written(done, (work.path,), {**dialect.notes(header), **table.notes})


def _separated(decimals: bytes, dialect: Dialect) -> bytes:
    numbers = decimals[1:-1]
    if dialect.separator != ",":
        numbers = numbers.replace(b",", dialect.separator.encode())
    return numbers if dialect.decimal_point == "." else numbers.replace(b".", dialect.decimal_point.encode())
