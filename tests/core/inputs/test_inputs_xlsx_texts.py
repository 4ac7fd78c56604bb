"""Texts of .xlsx come as they stand: with their blanks, and with what XML cannot hold."""

import io
from pathlib import Path

import openpyxl
import pytest
import xlsxwriter

from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import ReadOptions
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.results.exports import workbooks
from tests.core.inputs.test_inputs_xlsx import MAIN, sheet, workbook

# The inside of a text element, and the text that it is.
TEXTS = {
    "<t>as it is</t>": "as it is",
    "<t> before</t>": " before",
    "<t>after </t>": "after ",
    "<t>\ttab\n</t>": "\ttab\n",
    "<t>   </t>": "   ",
    "<t>&#32;as a reference&#xA;</t>": " as a reference\n",
    "<t>an entity &amp; </t>": "an entity & ",
    "<t>&quot;quoted&quot;</t>": '"quoted"',
    '<t xml:space="preserve"> said </t>': " said ",
    '<t xml:space="default"> said not to matter</t><t> </t>': " said not to matter ",
    "<r><t>two </t></r><r><t>formats</t></r>": "two formats",
    "<r><t>two</t></r><r><rPr><b/></rPr><t> formats</t></r>": "two formats",
    "<t><![CDATA[ <t> in a section ]]></t>": " <t> in a section ",
    "<t/>": "",
    "<t>_xFFFE_ and _xffff_</t>": "\ufffe and \uffff",
    "<t>_x005F_xFFFE_ and _x0041_</t>": "_xFFFE_ and A",
}
PREFIXED = {f"<x:t>{text}</x:t>": text for text in ("as it is", " before", "after ")}


@pytest.mark.parametrize(("xml", "text"), (TEXTS | PREFIXED).items())
@pytest.mark.parametrize("shared", [True, False])
def test_a_text_is_what_stands_in_the_file(tmp_path: Path, xml: str, text: str, shared: bool) -> None:
    path = tmp_path / "a.xlsx"
    x = "x:" if xml.startswith("<x:") else ""
    if shared:
        items = "".join(f"<{x}si>{each}</{x}si>" for each in (f"<{x}t>text</{x}t>", f"<{x}t>-</{x}t>", xml))
        strings = f'<{x}sst xmlns{":x" * bool(x)}="{MAIN}">{items}</{x}sst>'
        rows = "".join(f'<row r="{n + 1}"><c r="A{n + 1}" t="s"><v>{n}</v></c></row>' for n in range(3))
        workbook(path, sheet(rows), extra={"xl/sharedStrings.xml": strings.encode()})
    else:
        texts = (f"<{x}t>text</{x}t>", f"<{x}t>-</{x}t>", xml)
        cells = (f'<{x}c r="A{n}" t="inlineStr"><{x}is>{each}</{x}is></{x}c>' for n, each in enumerate(texts, 1))
        rows = "".join(f'<{x}row r="{n}">{cell}</{x}row>' for n, cell in enumerate(cells, 1))
        namespace = f'xmlns{":x" * bool(x)}="{MAIN}"'
        workbook(path, f"<{x}worksheet {namespace}><{x}sheetData>{rows}</{x}sheetData></{x}worksheet>".encode())
    source = open_source(path, ReadOptions(has_header=True))
    assert [row.cells for row in read_rows(source) if any(row.cells)] == [("-",), *([(text,)] if text else [])]


def test_only_the_sheet_that_is_read_has_to_be_sound(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["text"])
    book.active.append(["_xFFFE_"])
    book.create_sheet("More").append(["other"])
    book.save(path)
    assert [row.cells for row in read_rows(open_source(path))] == [("\ufffe",)]


def exported(path: Path, texts: list[str]) -> list[str]:
    """The texts as they come back from a workbook of this program's export."""
    stream = io.BytesIO()
    with workbooks.workbook(stream) as book:
        exporting = workbooks.Sheet(book, "Data", ("id", "text"))
        for number, text in enumerate(texts):
            exporting.add((str(number), text))
    path.write_bytes(stream.getvalue())
    return [row.cells[1] for row in read_rows(open_source(path, ReadOptions(has_header=True)))]


def test_every_character_comes_back_from_our_own_export(tmp_path: Path) -> None:
    codes = [code for code in range(1, 0x10000) if not 0xD800 <= code < 0xE000]
    texts = [f"{chr(code)}a{chr(code)}b{chr(code)}" for code in codes]
    assert exported(tmp_path / "a.xlsx", texts) == texts


@pytest.mark.parametrize(
    "text",
    ["_x0041_", "_x005F_x0041_", "_x0041_x0042_", "__x0041__", "_xFFFE_", "_x0041\ufffe_", "_x005F_x005F_", "_x00e4_"],
)
def test_what_looks_like_an_escape_comes_back_from_our_own_export(tmp_path: Path, text: str) -> None:
    assert exported(tmp_path / "a.xlsx", [text]) == [text]


@pytest.mark.parametrize("in_cells", [True, False])
def test_an_escape_that_xlsxwriter_wrote_is_undone(tmp_path: Path, in_cells: bool) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path, {"constant_memory": in_cells}) as book:
        data = book.add_worksheet()
        for number, text in enumerate(("text", "\ufffe_x0041_\r", " b\ufffe")):
            data.write_string(number, 0, text)
    assert [row.cells[0] for row in read_rows(open_source(path))] == ["\ufffe_x0041_\r", " b\ufffe"]
