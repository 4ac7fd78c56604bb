"""Compressed files, documents, Parquet, OpenDocument sheets, plain text, and the table of formats."""

import base64
import gzip
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs import open_file
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import ProblemKind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from tests.core.inputs.files import I, K, T, read, suggested, zipped
from tests.support.sentences import refuses

LONG_TEXT = "The lamp stands on the desk, and its light is warm"
TEXTS = [("id", "title", "body"), *[(f"00{n}", f"Title {n}", f"{LONG_TEXT} {n}") for n in range(5)]]


def test_packed_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = "".join(";".join(cells) + "\r\n" for cells in TEXTS).encode()
    for name, packed in (
        ("a.csv.gz", gzip.compress(data)),
        ("a.zip", zipped(("folder/a.csv", data), ("__MACOSX/._a.csv", b"x"))),
    ):
        rows, source = read(tmp_path / name, packed)
        assert [row.cells for row in rows] == TEXTS[1:]
        assert source.size == len(data)
    monkeypatch.setattr(open_file, "_RATIO_COUNTS_FROM", 8 * 1024**2)
    with refuses(InputError, "name_unpacks_more_than_most_gb"):
        read(tmp_path / "b.txt.gz", gzip.compress((b"a" * 9_999 + b"\n") * 1_000))


DOCUMENT = (
    '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    "<w:p><w:r><w:t>First </w:t></w:r><w:r><w:t>paragraph</w:t></w:r></w:p><w:p/>"
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t><w:tab/><w:t>table</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    "</w:body></w:document>"
)


def test_documents(tmp_path: Path) -> None:
    rows, _ = read(tmp_path / "a.docx", zipped(("word/document.xml", DOCUMENT.encode())))
    assert [(row.number, row.cells) for row in rows] == [(1, ("First paragraph",)), (3, ("in\ttable",))]
    entities = DOCUMENT.replace("?>", '?><!DOCTYPE a [<!ENTITY x "y">]>')
    with refuses(InputError, "name_is_damaged_or_incomplete_cure"):
        read(tmp_path / "b.docx", zipped(("word/document.xml", entities.encode())))


PARAGRAPHS = [  # the inside of a paragraph, and what Word shows
    ("<w:r><w:t>an e</w:t><w:noBreakHyphen/><w:t>mail</w:t></w:r>", ["an e-mail"]),
    ('<w:r><w:t>one</w:t><w:sym w:font="Wingdings" w:char="F0E0"/><w:t>two</w:t></w:r>', ["one two"]),
    ("<w:r><w:t>so</w:t><w:softHyphen/><w:t>ft</w:t><w:br/><w:t>line</w:t></w:r>", ["soft\nline"]),
    ("<m:oMath><m:r><m:t>x=2</m:t></m:r></m:oMath><w:r><w:t> holds</w:t></w:r>", ["x=2 holds"]),
    ("<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:t>shown</w:t></w:r>", ["shown"]),
    ('<w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>a</w:t></w:r>', ["a"]),
    (
        "<w:r><w:ruby><w:rt><w:r><w:t>か</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby></w:r>",
        ["漢"],
    ),
    ("<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>", []),
    ("<w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo>", ["moved"]),
    (
        "<w:r><mc:AlternateContent><mc:Choice>{0}</mc:Choice><mc:Fallback>{0}</mc:Fallback></mc:AlternateContent></w:r>"
        "<w:r><w:t>around</w:t></w:r>".format(
            "<w:txbxContent><w:p><w:r><w:t>in a box</w:t></w:r></w:p></w:txbxContent>"
        ),
        ["in a box", "around"],
    ),
]


def test_a_document_has_the_texts_that_word_shows(tmp_path: Path) -> None:
    spaces = "".join(f' xmlns:{name}="urn:{name}"' for name in ("w", "m", "mc"))
    for inside, texts in PARAGRAPHS:
        xml = (
            f"<w:document{spaces}><w:body><w:p>{inside}</w:p><w:p><w:r><w:t>end</w:t></w:r></w:p></w:body></w:document>"
        )
        rows, _ = read(tmp_path / "a.docx", zipped(("word/document.xml", xml.encode())))
        assert [row.cells[0] for row in rows] == [*texts, "end"], inside


def parquet(path: Path, **columns: Sequence[str | None] | Sequence[float | None]) -> Path:
    core, arro = pytest.importorskip("arro3.core"), pytest.importorskip("arro3.io")
    kinds = {str: core.DataType.utf8(), float: core.DataType.float64()}
    arrays = {name: core.Array(cells, kinds[type(cells[0])]) for name, cells in columns.items()}
    arro.write_parquet(core.Table.from_pydict(arrays), str(path))
    return path


def test_parquet(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "a.parquet", id=["001", "002", None], text=["one", "two, three", "four"], n=[1.5, 2.0, None]
    )
    source = open_source(path)
    assert source.columns == ("id", "text", "n")
    assert [row.cells for row in read_rows(source)] == [
        ("001", "one", "1.5"), ("002", "two, three", "2.0"), ("", "four", "")
    ]  # fmt: skip
    assert suggested(source).roles == (I, T, K)


def test_parquet_columns_of_one_name_records_and_times_beyond_pythons_years(tmp_path: Path) -> None:
    core, arro = pytest.importorskip("arro3.core"), pytest.importorskip("arro3.io")
    kind, path = core.DataType, tmp_path / "a.parquet"
    text, numbers = core.Array(["one", "two"], kind.utf8()), core.Array([253402300800000000, 0], kind.int64())
    record = core.struct_array([text], fields=[core.Field("body", kind.utf8(), nullable=True)])
    far, unknown = numbers.cast(kind.timestamp("us")), numbers.cast(kind.timestamp("us", tz="Mars/Base"))
    names = ["text", "text", "", "far", "zone"]
    arro.write_parquet(core.Table.from_arrays([text, text, record, far, unknown], names=names), str(path))
    source = open_source(path)
    assert source.columns == ("text", "text (2)", "Column 3.body", "far", "zone")
    assert [row.cells for row in read_rows(source)] == [
        ("one", "one", "one", "", ""), ("two", "two", "two", "1970-01-01T00:00:00", "")
    ]  # fmt: skip


ODS = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="S&apos;s">{rows}</table:table>'
    "</office:spreadsheet></office:body></office:document-content>"
)
STRING = '<table:table-cell office:value-type="string"{more}>{inside}</table:table-cell>'


def cell(text: str) -> str:
    return STRING.format(more="", inside=f"<text:p>{text}</text:p>")


def ods(*rows: str) -> bytes:
    xml = "".join(
        row if row.startswith("<table:table-row") else f"<table:table-row>{row}</table:table-row>" for row in rows
    )
    xml += (
        '<table:table-row table:number-rows-repeated="1048000">'
        '<table:table-cell table:number-columns-repeated="1024"/></table:table-row>'
    )
    mime = b"application/vnd.oasis.opendocument.spreadsheet"
    manifest = b'<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    return zipped(
        ("mimetype", mime), ("META-INF/manifest.xml", manifest), ("content.xml", ODS.format(rows=xml).encode())
    )


NOTE = "<office:annotation><text:p>a<text:tab/>note</text:p></office:annotation>"
SHAPE = "<draw:custom-shape><text:p>on a shape</text:p></draw:custom-shape>"
GROUP = f"<draw:g><draw:g>{SHAPE}</draw:g>{SHAPE}</draw:g>"
CONTROL = '<draw:control draw:control="one"/>'  # has no end, unless it has a description
DESCRIBED = '<draw:control draw:control="two"><text:p>described</text:p></draw:control>'
TYPED = (
    '<table:table-cell office:value-type="{kind}" office:{attribute}="{value}"><text:p>{shown}</text:p>'
    "</table:table-cell>"
)
OWN_TEXTS = [
    ("one<text:tab/>two", "one\ttwo"),
    ("a<text:line-break></text:line-break>b", "a\nb"),
    ('<text:s text:c="2"/>c<text:tab text:x="1"/>', "  c\t"),
    ("\n  some <text:span>\n  words</text:span>\n here\n", "some words here"),
    ('see <text:a xlink:href="x">the page</text:a>', "see the page"),
    ("<text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>", "漢字"),
]
CELLS = [
    *[(cell(inside), text) for inside, text in OWN_TEXTS],
    (STRING.format(more="", inside=f"{NOTE}<text:p>own</text:p>{SHAPE}"), "own"),
    (STRING.format(more="", inside="\n  <text:p>own</text:p>\n  <text:p>two</text:p>\n"), "own\ntwo"),
    ("<table:table-cell><text:p>no type</text:p></table:table-cell>", "no type"),
    (f"<table:table-cell>{SHAPE}</table:table-cell>", ""),
    (STRING.format(more="", inside=f"<text:p>own</text:p>{GROUP}{CONTROL}"), "own"),
    (STRING.format(more="", inside=f"<text:p>after</text:p>{DESCRIBED}"), "after"),
    (STRING.format(more=' office:string-value="kept"', inside=""), "kept"),
    (STRING.format(more=' calcext:value-type="error"', inside="<text:p>#N/A</text:p>"), ""),
    ('<table:table-cell office:value-type="string" calcext:value-type="error"/>', ""),
    (TYPED.format(kind="float", attribute="value", value="7", shown="007"), "007"),
    (TYPED.format(kind="float", attribute="value", value="0.5", shown="0,50"), "0.5"),
    (TYPED.format(kind="currency", attribute="value", value="9", shown="9,00 €"), "9"),
    (TYPED.format(kind="boolean", attribute="boolean-value", value="true", shown="WAHR"), "TRUE"),
    (TYPED.format(kind="date", attribute="date-value", value="2024-03-05", shown="5.3.24"), "2024-03-05"),
    (TYPED.format(kind="time", attribute="time-value", value="-PT36H10M05S", shown="x"), "-36:10:05"),
]


def test_open_document_sheets(tmp_path: Path) -> None:
    rows, source = read(tmp_path / "c.ods", ods(cell("id") + cell("text"), *(cell("1") + each for each, _ in CELLS)))
    assert source.sheets == ("S's",)
    assert [row.cells for row in rows] == [("1", text) for _, text in CELLS]


def test_open_document_rows_and_what_they_do_not_show(tmp_path: Path) -> None:
    covered = STRING.format(more="", inside="<text:p>own</text:p>").replace("table-cell", "covered-table-cell")
    spanning = STRING.format(more=' table:number-rows-spanned="2"', inside="<text:p>why</text:p>")
    data = ods(
        cell("query") + cell("text"),
        f'<table:table-row table:number-rows-repeated="2">{cell("same") * 2}</table:table-row>',
        f'<table:table-row table:visibility="filter">{cell("q") + cell("t")}</table:table-row>',
        '<table:table-row table:number-rows-repeated="2"><table:table-cell/></table:table-row>',
        spanning + cell("a"),
        covered + cell("b"),
        cell("x") + '<table:table-cell table:formula="of:=A1" office:value-type="float"/>',
    )
    rows, source = read(tmp_path / "a.ods", data)
    assert source.hidden == 1
    assert [(row.number, row.cells) for row in rows if any(row.cells)] == [
        (2, ("same", "same")), (3, ("same", "same")), (4, ("q", "t")),
        (7, ("why", "a")), (8, ("why", "b")), (9, ("x", "")),
    ]  # fmt: skip
    assert [row.number for row in rows if row.problem_kind is ProblemKind.FORMULA_WITHOUT_VALUE] == [9]


# Eight texts in a file with one wrong byte in a data page, on which arro3-io 0.9.1 aborts its process (SIGABRT).
ENDS_ITS_READER = base64.b85decode(
    b"P(e~L6$BL&6%<Sr1Qh@h00031003bD0001D6#x|y6%s5J5ET#=1{DSX00IC20RI621F9Jk0vQ+qVHp?!Vif`z762(G01yBf92PhgG!_5=85R%#"
    b"6#^M7NDN_ea&LEEb7N>_ZDADx02K@+0vH5zWq5QY08AVJ000&c85|iLCIB223>h^51`rt-1axJ1bQJ&=5Ef(>WF|N!2pl#5C;?&^0bvml02wS502L4w"
    b"0ss{R6#x|i06Z2DDJB3A000)20Tmh+Y!xa17GxF>CI}W}6aWAy8E|28adl;MEpl@pc4cyNX>V>IH90OYE-)D!8~^|SqyPW_P(e~L"
)


def test_a_page_that_ends_its_reader_is_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("arro3.io")
    path = tmp_path / "a.parquet"
    path.write_bytes(ENDS_ITS_READER)
    with refuses(InputError, "name_is_damaged_or_incomplete_cure", name="a.parquet") as caught:
        list(read_rows(open_source(path)))
    assert "panicked" in caught.value.detail


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts processes as Linux shows them")
def test_whoever_stops_early_leaves_no_process(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", text=[f"text {n}" for n in range(50_000)])
    before = children()
    with closing(read_rows(open_source(path))) as rows:
        assert next(rows).cells == ("text 0",)
        assert len(children()) == len(before) + 1
    assert children() == before


def children() -> list[str]:
    tasks = Path("/proc/self/task").iterdir()
    return sorted(child for task in tasks for child in (task / "children").read_text().split())
