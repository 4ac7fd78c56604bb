"""Workbooks written by other libraries, malicious ones, and those in Excel's old format; the choice of a sheet."""

import asyncio
import base64
import datetime
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import xlsxwriter

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import ProblemKind, ReadOptions, Row
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.messages import message
from tests.core.inputs.files import opened
from tests.core.results import folders
from tests.support.sentences import refuses

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def read(path: Path, options: ReadOptions | None = None) -> list[Row]:
    return list(read_rows(open_source(path, options or ReadOptions())))


def test_values_are_written_as_excel_shows_them(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        day, moment = book.add_format({"num_format": "yyyy-mm-dd"}), book.add_format({"num_format": "d.m.yy hh:mm"})
        clock, span = book.add_format({"num_format": "hh:mm"}), book.add_format({"num_format": "[h]:mm:ss"})
        sheet.write_row(0, 0, ["id", "text"])
        for row, value in enumerate([42, -3, 0.1, 1e21, 2.5, True, False, "007"], 1):
            sheet.write(row, 1, value)
        sheet.write_datetime(9, 1, datetime.datetime(2024, 3, 5), day)
        sheet.write_datetime(10, 1, datetime.datetime(2024, 3, 5, 10, 20), moment)
        sheet.write_datetime(11, 1, datetime.time(10, 20), clock)
        sheet.write_number(12, 1, 1.5, span)
        sheet.write_formula(13, 1, '="a"&"b"', None, "ab")
    assert [row.cells[1] for row in read(path)] == [
        *("42", "-3", "0.1", "1e+21", "2.5", "TRUE", "FALSE", "007"),
        *("2024-03-05", "2024-03-05T10:20:00", "10:20:00", "36:00:00", "ab"),
    ]


def test_rows_have_excels_numbers_wherever_the_table_stands(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(4, 2, ["id", "text"])
        sheet.write_row(5, 2, ["1", "one"])
        sheet.write_row(8, 2, ["2", "two"])
    source = open_source(path)
    assert (source.format, source.columns, source.has_header) == ("workbook", ("id", "text"), True)
    assert list(read_rows(source)) == [Row(6, ("1", "one")), Row(7, ("", "")), Row(8, ("", "")), Row(9, ("2", "two"))]


def test_sheets_can_be_chosen_and_the_first_that_holds_something_is(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Empty")
        hidden = book.add_worksheet("Hidden")
        hidden.write_column(0, 0, ["text", "secret"])
        hidden.hide()
        book.add_worksheet("Fragen & Antworten").write_column(0, 0, ["text", "eins", "zwei"])
        chart = book.add_chart({"type": "bar"})
        chart.add_series({"values": "='Fragen & Antworten'!$A$1:$A$2"})
        book.add_chartsheet("Chart").set_chart(chart)
    source = open_source(path)
    assert (source.sheet, source.sheets) == ("Fragen & Antworten", ("Empty", "Hidden", "Fragen & Antworten"))
    assert [row.cells for row in read(path, ReadOptions(sheet="Hidden"))] == [("secret",)]
    with refuses(InputError, "name_no_sheet_sheet_list", name="a.xlsx", sheet="Daten"):
        open_source(path, ReadOptions(sheet="Daten"))
    with refuses(InputError, "sheet_sheet_name_is_empty_choose", sheet="Empty", name="a.xlsx"):
        open_source(path, ReadOptions(sheet="Empty"))
    with refuses(UsageError, "name_is_workbook_no_separator_no"):
        open_source(path, ReadOptions(separator=";"))


@pytest.mark.parametrize(
    ("formula", "cached", "cell"),
    [
        ('="t"&A2', None, ""),  # XlsxWriter stores 0 for what it cannot compute
        ("=1-1", 0, ""),  # which cannot be told from the one above
        ("=1+1", 2, "2"),
        ('=""', "", ""),
    ],
)
def test_a_formula_that_was_never_computed_is_no_text(tmp_path: Path, formula: str, cached: object, cell: str) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["id", "text"])
        sheet.write_row(1, 0, ["1"])
        sheet.write_formula(1, 1, formula, None, *([cached] if cached is not None else []))
        sheet.write_row(2, 0, ["2", "typed"])
    rows = read(path)
    assert [(row.number, row.cells) for row in rows] == [(2, ("1", cell)), (3, ("2", "typed"))]
    problems = [row.problem_kind for row in rows if row.problem]
    assert problems == ([] if cell else [ProblemKind.FORMULA_WITHOUT_VALUE])


@pytest.mark.parametrize(
    ("names", "are_said"),
    [(("id", "title", "text"), True), (("id", "text", "price"), False), (("text", "note"), False)],
)
def test_a_column_of_texts_without_any_is_said(tmp_path: Path, names: tuple[str, ...], are_said: bool) -> None:
    rows = [names, *[[f"value {row}"] * (len(names) - 1) for row in range(1, 5)]]
    path = book(tmp_path / "a.xlsx", ("S", rows))  # as old workbooks keep formulas that were never computed
    assert bool(open_source(path).notices) == are_said


@pytest.mark.parametrize("name", ["a.xls", "a.csv"])
def test_the_content_counts_and_not_the_name(tmp_path: Path, name: str) -> None:
    source = open_source(book(tmp_path / "a.xlsx", ("S", [["id", "text"], ["1", "one"]])).rename(tmp_path / name))
    assert (source.format, [row.cells for row in read_rows(source)]) == ("workbook", [("1", "one")])


# Archives built byte by byte


def workbook(path: Path, sheet_xml: bytes, *, extra: dict[str, bytes] | None = None) -> Path:
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parts = {
        "[Content_Types].xml": b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{relations}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>".encode(),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{relations}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>'.encode(),
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        f'relationships"><Relationship Id="rId1" Type="{relations}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>".encode(),
        "xl/worksheets/sheet1.xml": sheet_xml,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (parts | (extra or {})).items():
            archive.writestr(name, data)
    return path


def sheet(rows: str) -> bytes:
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'.encode()


def inline(address: str, text: str) -> str:
    return f'<c r="{address}" t="inlineStr"><is><t>{text}</t></is></c>'


def test_cells_written_in_unusual_ways_are_read(tmp_path: Path) -> None:
    xml = (
        '<row><c t="inlineStr"><is><t>text</t></is></c></row>'
        "<row r='2'><c t='inlineStr' r='A2'><is><t>one</t></is></c></row>"
        '<row r="3"><c r="A3"><f>1+1</f></c></row>'
        '<row r="4"><c r="A4" t="str"><f>""</f><v></v></c><c r="B4"><f t="shared" si="0"/><v>5</v></c></row>'
    )
    rows = read(workbook(tmp_path / "a.xlsx", sheet(xml)), ReadOptions(has_header=True))
    found = [(row.number, row.cells, bool(row.problem)) for row in rows]
    assert found == [(2, ("one", ""), False), (3, ("", ""), True), (4, ("", "5"), False)]


def numbered(*cells: str) -> str:
    return "".join(f'<row r="{number}">{cell}</row>' for number, cell in enumerate(cells, 1))


def test_formulas_without_addresses_are_found_in_their_rows(tmp_path: Path) -> None:
    xml = "<row><c><v>1</v></c></row><row/><row><c><v>2</v></c><c><f>A1</f></c></row><row><c><v>3</v></c></row>"
    rows = read(workbook(tmp_path / "a.xlsx", sheet(xml)), ReadOptions(has_header=False))
    assert [row.number for row in rows if row.problem] == [3]
    assert "B3" in rows[2].problem


TARGETS = ["./worksheets/sheet1.xml", "../xl/worksheets/sheet1.xml", "/xl/worksheets/../worksheets/SHEET1.xml",
           "worksheets\\sheet1.xml", "/xl/worksheets/sheet1.xml"]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("folder_sign", ["/", "\\"])
def test_parts_are_found_however_their_names_are_written(tmp_path: Path, target: str, folder_sign: str) -> None:
    path = workbook(tmp_path / "b.xlsx", sheet(numbered(inline("A1", "text"), inline("A2", "one"))))
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as copy:
        for name in archive.namelist():
            data = archive.read(name).replace(b"worksheets/sheet1.xml", target.encode())
            info = zipfile.ZipInfo()
            info.filename = name.replace("/", folder_sign)
            copy.writestr(info, data)
    assert [row.cells for row in read(tmp_path / "a.xlsx", ReadOptions(has_header=True))] == [("one",)]


@pytest.mark.parametrize("value", ["#GETTING_DATA", "#SPILL!", "#N/A", "#WHATEVER"])
def test_an_error_in_a_cell_is_an_empty_cell(tmp_path: Path, value: str) -> None:
    cells = (inline("A1", "text"), f'<c r="A2" t="e"><v>{value}</v></c><c r="B2"><v>5</v></c>', inline("A3", "#one"))
    rows = read(workbook(tmp_path / "a.xlsx", sheet(numbered(*cells))), ReadOptions(has_header=True))
    assert [row.cells for row in rows] == [("", "5"), ("#one", "")]


def test_numbers_keep_the_zeros_that_they_are_shown_with(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        padded, money = book.add_format({"num_format": "00000"}), book.add_format({"num_format": "0.00"})
        found = book.add_worksheet()
        found.write_row(0, 1, ["sku", "price", "text"])
        for row, number in enumerate([7, 123456, -3, 1.5, "x"], 1):
            found.write(row, 1, number, padded)
            found.write(row, 2, 7, money)
            found.write(row, 3, "a text")
    assert [row.cells[:2] for row in read(path)] == [
        ("00007", "7"), ("123456", "7"), ("-3", "7"), ("1.5", "7"), ("x", "7")
    ]  # fmt: skip


def test_a_cell_merged_over_several_rows_fills_them(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        found = book.add_worksheet()
        found.merge_range(0, 1, 0, 2, "Questions and answers")
        found.write_row(2, 1, ["query", "context"])
        found.merge_range(3, 1, 5, 1, "why")
        found.write_column(3, 2, ["a", "b", "c", "d"])
        found.write(6, 1, "who")
    assert [row.cells for row in read(path)] == [("why", "a"), ("why", "b"), ("why", "c"), ("who", "d")]


def test_a_header_merged_over_two_rows_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        found = book.add_worksheet()
        for column, name in enumerate(["id", "text"]):
            found.merge_range(0, column, 1, column, name)
        found.write_column(0, 2, ["size", "in cm"])
        found.write_row(2, 0, ["1", "a lamp", "5"])
    assert [row.cells for row in read(path)] == [("", "", "in cm"), ("1", "a lamp", "5")]


@pytest.mark.parametrize(
    "rows",
    [
        f'<row r="1">{inline("A1", "a")}</row><row r="1048576">{inline("XFD1048576", "b")}</row>',
        f'<row r="1">{inline("A1", "a")}</row><row r="2">{inline("AAAAAAAA99999999999", "b")}</row>',
    ],
)
def test_two_cells_in_far_corners_do_not_end_the_process(tmp_path: Path, rows: str) -> None:
    with refuses(InputError, "sheet_sheet_name_spreads_over_rows"):
        open_source(workbook(tmp_path / "a.xlsx", sheet(rows)))


def shown_as_time(value: str) -> dict[str, bytes]:
    """A sheet with the texts “a” and “b” around a number that is shown as a span of time."""
    cells = (inline("A1", "a"), f'<c r="A2" s="1"><v>{value}</v></c>', inline("A3", "b"))
    styles = f'<styleSheet xmlns="{MAIN}"><cellXfs count="2"><xf/><xf numFmtId="46"/></cellXfs></styleSheet>'
    return {"xl/styles.xml": styles.encode(), "xl/worksheets/sheet1.xml": sheet(numbered(*cells))}


def test_a_time_that_python_cannot_hold_is_a_problem_row(tmp_path: Path) -> None:
    rows = read(workbook(tmp_path / "a.xlsx", b"", extra=shown_as_time("4006381333931")), ReadOptions(has_header=False))
    assert [row.cells for row in rows] == [("a",), ("",), ("b",)]
    assert [row.problem[:54] for row in rows] == ["", "This row has a number that is shown as a time, and is ", ""]


def test_whoever_ends_the_reading_is_not_told_of_damage(tmp_path: Path) -> None:
    many: Rows = [["id", "text"], ["1", "one"], *[["2", "two"]] * 40_000]
    rows = read_rows(open_source(book(tmp_path / "a.xlsx", ("S", many))))
    assert next(rows).cells == ("1", "one")
    with pytest.raises(asyncio.CancelledError):
        rows.throw(asyncio.CancelledError())


def test_a_panic_of_the_library_is_a_sentence(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", b"", extra=shown_as_time("-1e15"))
    with refuses(InputError, "name_is_damaged_or_incomplete_cure", name="a.xlsx") as raised:
        read(path, ReadOptions(has_header=False))
    assert "panicked" in raised.value.detail


def test_a_zip_bomb_is_refused_by_its_directory_or_by_unpacking(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", sheet(inline("A1", "x")), extra={"xl/sharedStrings.xml": bytes(80_000_000)})
    assert path.stat().st_size < 200_000
    with refuses(InputError, "name_would_unpack_total_gb_far"):
        open_source(path)
    true, false = (80_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(true, false))  # a directory that lies
    with refuses(InputError, "name_is_damaged_or_incomplete_cure", name="a.xlsx"):
        open_source(path)


@pytest.mark.parametrize(
    "xml",
    [
        b"<worksheet>",
        sheet('<row r="1"><c r="A1" t="s"><v>99</v></c></row>'),
        sheet('<row r="x"><c r="1A"><v>1</v></c></row>'),
        sheet('<row r="0"><c r="A0"><v>1</v></c></row>'),
        sheet('<row r="1"><c r="A1" s="77"><v>1</v></c></row>'),
        sheet(inline("A1", "&bomb;")),
        b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + sheet(inline("A1", "&a;")),
    ],
)
def test_a_broken_sheet_is_rows_or_a_sentence(tmp_path: Path, xml: bytes) -> None:
    path = workbook(tmp_path / "a.xlsx", xml)
    try:
        rows = read(path)
    except InputError as exc:
        assert re.search(r"a\.xlsx (is damaged|is empty|has a header)|spreads over", exc.message)
    else:
        for row in rows:
            assert "\0" not in "".join(row.cells)
            "".join(row.cells).encode()


# The inside of a text element, and the text that it is.
TEXTS = {
    "<t>as it is</t>": "as it is",
    '<t xml:space="preserve"> said </t>': " said ",
    '<r><t>two</t></r><r><rPr><b/></rPr><t xml:space="preserve"> formats</t></r>': "two formats",
    "<t/>": "",
    "<t>_x005F_xFFFE_ and _x0041_</t>": "_xFFFE_ and A",
}


@pytest.mark.parametrize(("xml", "text"), TEXTS.items())
@pytest.mark.parametrize("shared", [True, False])
def test_a_text_is_what_stands_in_the_file(tmp_path: Path, xml: str, text: str, shared: bool) -> None:
    path, texts = tmp_path / "a.xlsx", ("<t>text</t>", "<t>-</t>", xml)
    if shared:
        strings = f'<sst xmlns="{MAIN}">{"".join(f"<si>{each}</si>" for each in texts)}</sst>'
        cells = (f'<c r="A{n + 1}" t="s"><v>{n}</v></c>' for n in range(3))
        workbook(path, sheet(numbered(*cells)), extra={"xl/sharedStrings.xml": strings.encode()})
    else:
        cells = (f'<c r="A{n}" t="inlineStr"><is>{each}</is></c>' for n, each in enumerate(texts, 1))
        workbook(path, sheet(numbered(*cells)))
    source = open_source(path, ReadOptions(has_header=True))
    assert [row.cells for row in read_rows(source) if any(row.cells)] == [("-",), *([(text,)] if text else [])]


def test_every_character_comes_back_from_our_own_export(tmp_path: Path) -> None:
    codes = [*range(1, 0x300), *range(0x301, 0xD800, 97), *range(0xE000, 0xFFF0, 97), *range(0xFFF0, 0xFFFE)]
    texts = [f"{chr(code)}a{chr(code)}b{chr(code)}" for code in codes]
    pairs = [folders.Pair("q", text, -float(number)) for number, text in enumerate(texts)]
    folders.Table(tmp_path / "job").rank(pairs).export(tmp_path / "a.xlsx")
    rows = read_rows(open_source(tmp_path / "a.xlsx", ReadOptions(has_header=True)))
    assert [row.cells[3] for row in rows] == texts


Rows = Sequence[Sequence[str]]
TABLE: Rows = [["sku", "text"], *[[f"A-{n}", f"A lamp with {n} bulbs"] for n in range(5)]]
NOTE: Rows = [["Lamps of the year"], [], ["This workbook holds all lamps."]]


def book(path: Path, *sheets: tuple[str, Rows], hidden: Sequence[str] = ()) -> Path:
    with xlsxwriter.Workbook(path) as written:
        for name, rows in sheets:
            sheet = written.add_worksheet(name)
            for number, cells in enumerate(rows):
                sheet.write_row(number, 0, cells)
            if name in hidden:
                sheet.hide()
            else:
                sheet.activate()  # Excel requires a visible sheet
    return path


def test_hidden_sheets_come_last(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", ("Lookup", TABLE), ("Sheet1", NOTE), hidden=["Lookup"])
    assert open_source(path).sheet == "Sheet1"
    path = book(tmp_path / "c.xlsx", ("Sheet1", []), ("Old", []), ("Lookup", TABLE), hidden=["Old", "Lookup"])
    source = open_source(path)
    assert source.sheet == "Lookup"
    assert source.notices == (message("sheet_name_is_hidden_those_are", name="Lookup"),)
    with refuses(InputError, "name_is_empty_choose_file_least"):
        open_source(book(tmp_path / "d.xlsx", ("Sheet1", []), ("Old", []), hidden=["Old"]))


TITLED: Rows = [["Lamps of May"], ["As of 2024-05-31"], [], *TABLE]


def test_titles_above_the_table_are_left_aside(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ("Sheet1", TITLED))
    source = open_source(path)
    assert (source.columns, source.has_header) == (("sku", "text"), True)
    above = message("n_lines_above_table_are_not", n=2, first=message("text_more", text="Lamps of May"))
    assert source.notices == (above,)
    rows = list(read_rows(source))
    assert [(row.number, row.cells[0]) for row in rows] == [(n + 5, f"A-{n}") for n in range(5)]
    again = open_source(path, ReadOptions(has_header=False))
    assert [row.number for row in read_rows(again)] == list(range(4, 10))


# The sheet “S” with “text” and “one”, as xlwt 1.3.0 writes it.
WORKBOOK = zlib.decompress(
    base64.b85decode(
        b"c-p&gUhu)fjZzO8(10BSGsD0CoD6J8VvIn{3F8Pb0OkMx2QgtZ2N3@s1w#sOasVTejg?_H?-_Pb9D?HeAp;Y`29|?Bl7Zn75XUeSF!<%?r7F"
        b"-7IDy@e$Ov+SEs$hnm;)5yV~_;9N(f9QgGpg9xgM-?514cSi}Zp?TcFwpj8P2d?ftYYps6^5NeL{+#{e>SJ6O*xu!tdpD8mU*Dz2Zv2vN(*;"
        b"8>KIm@_yf<XCtZmM{S0%{?_QwJ0&?0fPuI0+%p+{jb2l@CBAr4=9X^(^s640Vw_hRh%7*_+%y)28ITP{|Vp(-U=*Sw=zQ_IQS1R&Os>>gn^1"
        b"mQY%V;Qou~e1uBHWnN|QL)AE87GY^nVVc-X|1;LsHfW`8kl^-wpCI#5XgGCy^1vR8NR|UC%;XgwoNC!|eA6SM7F0Tb<YlF!qu&L5uwiK8Y0V"
        b"YHstrj2(Ww<qi)wF<R)qwUGgTZBcbtJY1klp$^aEDy$V|z^?d!75kDv@>9?H4jA0Ye}Ks2>EI8FUzR7-!7{ft~g+nh~1y?}AB5jADR;NdW5h"
        b"|Ij*%pW!b97nmssCP69~v8Z4Ks{oO9OhOFXz(L@ERQYi+jDk@x3P!;w7zLwX6pVsVFysLvw7Jg=>1P1j@sREWJ9J#<FA)D59VQvJAc!F!2up"
        b"w+Q&)yOAYH^zNmBX|V_;>3nZ-z?9@uyx2!sP|FJj1MNCLYfo8<Hh><%&_`-f<a0@TYwq}u<F6nE0tegLK=y5a"
    )
)
_ENTRY = WORKBOOK.index("Workbook".encode("utf-16-le"))


def patched(at: int, new: bytes) -> bytes:
    return WORKBOOK[:at] + new + WORKBOOK[at + len(new) :]


def named(name: str) -> bytes:
    return patched(_ENTRY, name.encode("utf-16-le").ljust(64, b"\0") + struct.pack("<H", 2 * len(name) + 2))


@pytest.mark.parametrize("name", ["WORKBOOK", "Book"])
def test_the_stream_is_found_whatever_its_program_called_it(tmp_path: Path, name: str) -> None:
    source = opened(tmp_path / "a.xls", named(name))
    assert (source.format, source.sheet, source.columns) == ("workbook", "S", ("text",))
    assert [row.cells for row in read_rows(source)] == [("one",)]


def test_one_that_is_too_large_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(WORKBOOK)
    os.truncate(path, 300_000_000)  # a hole, which takes no room
    with refuses(InputError, "name_size_mb_more_than_can", name="a.xls"):
        open_source(path)
    path.unlink()


DAMAGED: dict[str, Callable[[], bytes]] = {
    "a panic: a sheet that begins outside": lambda: patched(1424, b"\xff"),
    "an abort: a cell in row 4,278,190,080": lambda: patched(1553, b"\xff"),
    "a ring: the second sector of the stream follows itself": lambda: patched(4608 + 4, struct.pack("<I", 1)),
    "cut": lambda: WORKBOOK[:3000],
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_does_not_end_the_program(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(DAMAGED[name]())
    with refuses(InputError, "name_is_damaged_or_incomplete_cure", name="a.xls"):
        list(read_rows(open_source(path)))


def test_a_password(tmp_path: Path) -> None:
    path = tmp_path / "a.xls"
    stream = WORKBOOK[512 : 512 + 4096]
    after_first = 4 + struct.unpack_from("<H", stream, 2)[0]
    mark = struct.pack("<HHHHH", 0x2F, 6, 1, 1, 1)  # FILEPASS
    path.write_bytes(patched(512, stream[:after_first] + mark + stream[after_first : -len(mark)]))
    with refuses(InputError, "name_is_protected_password_remove_password", name="a.xls"):
        open_source(path)
    (tmp_path / "a.xlsx").write_bytes(named("EncryptedPackage"))
    with refuses(InputError, "name_is_protected_password_remove_password", name="a.xlsx"):
        open_source(tmp_path / "a.xlsx")
