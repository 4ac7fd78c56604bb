"""Whether the program can start itself once more, as it does to read some files."""

import zipfile
from importlib.util import find_spec
from pathlib import Path

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.self_test.findings import Check, Finding, failed, ok, skipped

_CELLS = (("id", "text"), ("007", "An orange cloud"), ("008", "A llama"))
_ODS = "application/vnd.oasis.opendocument.spreadsheet"
_NAMESPACE = "urn:oasis:names:tc:opendocument:xmlns"


def decoding_checks(folder: Path) -> tuple[Check, ...]:
    """The checks of this module; `folder` is a new one for what they write."""
    return (
        Check(message("Reading a workbook"), lambda: _workbook(folder / "self-test.ods")),
        Check(message("Reading Parquet"), lambda: _parquet(folder / "self-test.parquet")),
    )


def _workbook(path: Path) -> Finding:
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>' for cell in row
        )
        + "</table:table-row>"
        for row in _CELLS
    )
    content = (
        f'<office:document-content xmlns:office="{_NAMESPACE}:office:1.0" xmlns:table="{_NAMESPACE}:table:1.0"'
        f' xmlns:text="{_NAMESPACE}:text:1.0" office:version="1.2"><office:body><office:spreadsheet>'
        f'<table:table table:name="Sheet">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    manifest = (
        f'<manifest:manifest xmlns:manifest="{_NAMESPACE}:manifest:1.0"><manifest:file-entry manifest:full-path="/"'
        f' manifest:media-type="{_ODS}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", _ODS)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)
    return _read(path)


def _parquet(path: Path) -> Finding:
    if find_spec("arro3") is None:
        return skipped(
            message("Parquet is not installed. To install it: {command}", command="pip install 'cfbatch-gui[parquet]'")
        )
    from arro3.core import Array, DataType, RecordBatch
    from arro3.io import write_parquet

    header, *rows = _CELLS
    columns = [Array([row[index] for row in rows], type=DataType.string()) for index in range(len(header))]
    write_parquet(RecordBatch.from_arrays(columns, names=list(header)), path)
    return _read(path)


def _read(path: Path) -> Finding:
    source = open_source(path)
    found = (source.columns, *(row.cells for row in preview(source)))
    if found != _CELLS:
        return failed(message("The file was read as something else than was written in it."))
    return ok(message("A file was read by a second process of the program."))
