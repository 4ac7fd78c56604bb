"""Files as the tests of inputs write, open and read them."""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

from cfbatch_gui.core.inputs.file_rows import preview, read_rows
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Mapping, ReadOptions, Role, Row, Source
from cfbatch_gui.core.inputs.items import read_items
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.messages import Message, message

Q, C, T, I, L, K, QI = Role.QUERY, Role.CONTEXT, Role.TEXT, Role.ID, Role.LABEL, Role.KEEP, Role.QUERY_ID  # noqa: E741
NO_OPTIONS = ReadOptions()


def opened(path: Path, data: str | bytes, options: ReadOptions = NO_OPTIONS) -> Source:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return open_source(path, options)


def read(path: Path, data: str | bytes, options: ReadOptions = NO_OPTIONS) -> tuple[list[Row], Source]:
    source = opened(path, data, options)
    return list(read_rows(source)), source


def zipped(*members: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def json_lines(*objects: object) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


def suggested(source: Source, kind: Kind | None = None, second: Source | None = None) -> Mapping:
    return suggest_mapping(source, kind, preview(source), second, preview(second) if second else ())


def everything(
    path: Path, kind: Kind | None = None, options: ReadOptions = NO_OPTIONS
) -> tuple[object, Layout, list[object]]:
    """The shape of a file, and the layout and the items as they are suggested."""
    source = open_source(path, options)
    mapping = suggested(source, kind)
    assert check_mapping(mapping, source) == ""
    return source.shape, mapping.layout, list(read_items(source, mapping))


Labels = dict[str, dict[str, int]]
POSITIVES: Labels = {"q1": {"d007": 1, "d050": 1}, "q2": {"d099": 1}}
GRADED: Labels = {"q1": {"d007": 1, "d050": 0}, "q2": {"d099": 1}}


def data_set(folder: Path, labels: Labels = POSITIVES, *, texts: Sequence[str] = (), reverse: bool = False) -> Path:
    """A data set with 120 documents, d000 to d119, or with `texts`; it has one query more than are judged."""
    folder.mkdir(parents=True)
    texts = texts or [f"text number {number}" for number in range(120)]
    documents = [{"_id": f"d{number:03}", "text": text} for number, text in enumerate(texts)]
    queries = [{"_id": name, "text": f"what is {name}"} for name in (*labels, "not judged")]
    _write(folder / "corpus.jsonl", documents[::-1] if reverse else documents)
    _write(folder / "queries.jsonl", queries)
    pairs = [(query, document, label) for query, judged in labels.items() for document, label in judged.items()]
    (folder / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join("\t".join(map(str, pair)) + "\n" for pair in pairs)
    )
    return folder


def _write(path: Path, objects: Sequence[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in objects))


def wrong_width(cells: int, columns: int) -> Message:
    """What is said of a row with more or fewer cells than the file has columns."""
    return message(
        "row_cells_but_file_columns", cells=message("n_cells", n=cells), columns=message("n_columns", n=columns)
    )
