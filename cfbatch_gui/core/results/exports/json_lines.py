"""JSON Lines: one ranked query or one embedded text per line, or the lines that an OpenAI batch answers with."""

from collections.abc import Callable

import msgspec

from cfbatch_gui.core.results.embeddings import EmbeddedText
from cfbatch_gui.core.results.exports.base import PART, SOURCE_JOB, RowsOfTable, Work, Written, export_file
from cfbatch_gui.core.results.exports.rows import COLUMNS, ScoreRows, VectorRows, write_vector_lines

_OF_QUERY = ("query_id", "query")
_OF_CONTEXT = frozenset((*COLUMNS, PART, SOURCE_JOB)).difference(_OF_QUERY)


def write_rankings(work: Work) -> Written:
    """Scores are the shortest decimals that read back as the same double."""
    table = ScoreRows(work, work.options.columns)
    encode = msgspec.json.Encoder().encode
    # The columns of a query are written once. The user's columns are in an object of their own: they may have any name.
    of_query = [(name, index) for index, name in enumerate(table.columns) if name in _OF_QUERY]
    of_context = [(name, index) for index, name in enumerate(table.columns) if name in _OF_CONTEXT]
    own = [(table.own_names[name], index) for index, name in enumerate(table.columns) if name in table.own_names]
    lines = 0
    with export_file(work) as stream:
        for lines, (query, rows) in enumerate(table.by_query(), 1):  # noqa: B007
            found: list[dict[str, object]] = []
            for row in rows:
                context: dict[str, object] = {name: row[index] for name, index in of_context}
                found.append({**context, "columns": {name: row[index] for name, index in own}})
            line: dict[str, object] = {name: query[index] for name, index in of_query}
            stream.write(encode({**line, "contexts": found}) + b"\n")
    return Written(lines, (work.path,), table.notes)


def write_rows(work: Work, table_of: Callable[[Work], RowsOfTable]) -> Written:
    """An object for each row, with its cells by their columns."""
    table, encode, rows = table_of(work), msgspec.json.Encoder().encode, 0
    with export_file(work) as stream:
        for block in table.blocks():
            stream.write(b"".join([encode(dict(zip(table.columns, row, strict=True))) + b"\n" for row in block]))
            rows += len(block)
    return Written(rows, (work.path,), table.notes)


def write_vectors(work: Work) -> Written:
    """Numbers are the shortest decimals that read back as the same float32."""
    table = VectorRows(work)
    encode = msgspec.json.Encoder().encode

    def line(text: EmbeddedText, decimals: bytes) -> bytes:
        cells = dict(zip(table.columns, table.cells(text), strict=True))
        start = encode({"id": table.id_of(text), "text": text.text, "label": text.label, "columns": cells})
        return b'%b,"embedding":%b}\n' % (start.removesuffix(b"}"), decimals)

    write_vector_lines(work, table, line)
    return Written(table.count, (work.path,), table.notes)


_LINE = (
    b'{"id":%b,"custom_id":%b,"response":{"status_code":200,"request_id":%b,"body":{"object":"list","data":'
    b'[{"object":"embedding","index":0,"embedding":%b}],"model":%b}},"error":null}\n'
)


def write_openai(work: Work) -> Written:
    table = VectorRows(work)
    encode = msgspec.json.Encoder().encode
    model, request_ids = encode(work.job.model), work.job.request_ids

    def line(text: EmbeddedText, decimals: bytes) -> bytes:
        request = encode(request_ids.get(text.batch, ""))
        number = encode(f"{work.job.id}-{text.item_no}")
        return _LINE % (number, encode(table.id_of(text)), request, decimals, model)

    write_vector_lines(work, table, line)
    return Written(table.count, (work.path,), table.notes)
