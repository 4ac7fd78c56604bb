"""Text by line and by paragraph, CSV, and ASCII tables: cells exactly as written, lines as row numbers."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, Quoting, ReadOptions, Row, Source
from cfbatch_gui.core.inputs.readers.decoded_text import PIECE
from cfbatch_gui.core.inputs.readers.formats import explain
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.messages import message, quoted
from tests.core.inputs.files import wrong_width
from tests.support.sentences import code_of, refuses
from tests.thorough import tries

Write = Callable[[str, bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def read(path: Path, options: ReadOptions | None = None) -> list[Row]:
    return list(read_rows(open_source(path, options or ReadOptions())))


def cells(path: Path, options: ReadOptions | None = None) -> list[tuple[str, ...]]:
    return [row.cells for row in read(path, options)]


def test_a_text_file_may_have_a_header_and_may_be_read_as_a_table(write: Write) -> None:
    path = write("a.txt", b"Story\na;b\nc;d\n")
    source = open_source(path, ReadOptions(has_header=True))
    assert source.columns == ("Story",)
    assert [row.number for row in read_rows(source)] == [2, 3]
    assert cells(path, ReadOptions(separator=";", has_header=False)) == [("Story", ""), ("a", "b"), ("c", "d")]


def test_ragged_rows_are_problems_shown_as_they_stand(write: Write) -> None:
    rows = read(write("a.csv", b"id,text,note\n1,a,b\n2,a\n3,a,b,c\n4,a,b,,\n5,a,b\n"))
    assert [(row.problem, row.raw) for row in rows] == [
        ("", ""),
        (wrong_width(2, 3), "2,a"),
        (wrong_width(4, 3), "3,a,b,c"),
        (wrong_width(5, 3), "4,a,b,,"),
        ("", ""),
    ]
    assert {len(row.cells) for row in rows} == {3}


def test_empty_cells_too_many_are_a_habit_of_the_file_or_a_problem(write: Write) -> None:
    """A row that is shifted by one separator may end with an empty cell, as every row of some programs does."""
    shifted = read(write("a.csv", b"name,text,note\nAnn,first text,x\nBob,,second text,\nEve,third text,y\n"))
    assert [row.problem for row in shifted] == ["", wrong_width(4, 3), ""]
    path = write(
        "b.csv", b"name,text,note\nAnn,first text,x,\nBob,second text,,\nEve,third text,y,\nIda,,fourth text,,\n"
    )
    assert open_source(path).columns == ("name", "text", "note")
    assert [(row.cells[1], bool(row.problem)) for row in read(path)] == [
        ("first text", False),
        ("second text", False),
        ("third text", False),
        ("", True),
    ]
    less = write(
        "c.csv", b"name,text,note\nAnn,first text,x,\nBob,second text,,\nEve,third text,y,\nIdafourth text,,\n"
    )
    assert [bool(row.problem) for row in read(less)] == [False, False, False, True]


@pytest.mark.parametrize("below", ["", '4,"closed, again"\n5,five\n'])
def test_an_unclosed_quote_costs_no_row_but_its_own(write: Write, below: str) -> None:
    rows = read(write("a.csv", f'id,text\n1,one\n2,"two\n3,three\n{below}'.encode()))
    assert [row.number for row in rows] == [2, 3, *range(4, 5 + below.count("\n"))]
    assert (rows[1].raw, rows[1].cells) == ('2,"two', ("", ""))
    assert code_of(rows[1].problem) == "quotation_mark_opens_row_is_not"
    assert [row.number for row in rows if row.problem] == [3]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_marks_of_files_that_were_put_one_below_the_other(write: Write, encoding: str) -> None:
    one = 'id;text\r\n"1";"grün; \u200b\ufeffzwei"\r\n'.encode(encoding)
    path = write("a.csv", one * 3)
    source = open_source(path)
    assert (source.columns, source.quoting) == (("id", "text"), Quoting.DOUBLED)
    assert source.notices == (message("n_byte_order_marks_within_file", n=2),)
    rows = list(read_rows(source))
    assert [row.cells for row in rows if not row.problem] == [("1", "grün; \u200b\ufeffzwei")] * 3
    assert {row.problem for row in rows} == {"", message("row_repeats_names_columns")}


def test_signs_that_are_replaced_are_counted(write: Write) -> None:
    assert open_source(write("a.csv", b"id,text\n1,one\n")).notices == ()
    one = open_source(write("b.csv", b"id,text\n1,a\0b\n"))
    assert one.notices == (message("n_characters_are_damaged_file_or", n=1),)
    several = open_source(write("c.csv", b"id,text\n" + b"1,a\0b\n2,plain and longer\n" * 2_000))
    assert several.notices == (message("n_characters_are_damaged_file_or", n=2000),)


def test_characters_and_line_ends_cut_by_a_piece_come_whole(write: Write) -> None:
    for shift in range(4):
        lines = ["x" * shift] + ["äöü€🦙" * 3] * (PIECE // 30)
        path = write("a.txt", "\r\n".join(lines).encode())
        assert cells(path) == [(line,) for line in lines if line]
        path = write("b.txt", "\r".join(lines[1:]).encode())
        assert cells(path) == [(line,) for line in lines[1:]]


def test_a_line_too_long_for_any_request_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cfbatch_gui.core.inputs.readers.decoded_text.LONGEST_LINE", 3 * PIECE)
    path = write("a.txt", b"x" * (5 * PIECE))
    with refuses(InputError, "name_line_more_than_most_characters", name="a.txt"):
        read(path)


# Encodings


def test_a_few_broken_bytes_leave_a_file_utf_8_and_are_counted(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cfbatch_gui.core.inputs.encodings._PIECE", 5_000)
    path = write("a.csv", b"id,text\n" + "1,schön\n".encode() * 1_000 + b"2,\xff\n")
    source = open_source(path)
    assert (source.encoding, source.is_encoding_guessed) == ("utf-8", False)
    assert source.notices == (message("n_characters_are_damaged_file_or", n=1),)
    assert read(path)[-1].cells == ("2", "\ufffd")


@pytest.mark.parametrize("name", ["no-such", "rot13", "hex", "idna\0", "undefined"])
def test_an_encoding_that_does_not_exist(write: Write, name: str) -> None:
    with refuses(UsageError, "name_is_not_name_encoding_try"):
        open_source(write("a.csv", b"id,text\n1,a\n"), ReadOptions(encoding=name))


# JSON Lines


# Properties


@given(st.binary(max_size=400), st.sampled_from(["a.csv", "a.txt", "a.jsonl", "a.xlsx", "a", "a.tsv"]))
@pytest.mark.thorough
@settings(max_examples=tries(30, 5_000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_rows_or_a_sentence(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    for options in (ReadOptions(), ReadOptions(encoding="cp1252"), ReadOptions(encoding="utf-16")):
        try:
            source = open_source(path, options)
        except (InputError, UsageError) as exc:
            assert exc.message.endswith((".", "!", "}."))
            continue
        for row in read_rows(source):
            assert len(row.cells) == len(source.columns)
            assert "\0" not in "".join(row.cells)
            "".join(row.cells).encode()


ENGLISH = (
    "Solar panels turn light into electricity. They work best in full sun and need little care over the twenty years "
    "that most of them last.",
    "Wind turbines need a steady wind. They are often built at sea, where nothing is in its way, and where nobody has "
    "to listen to them.",
    "Water has driven mills for two thousand years, and drives turbines today.",
)
GERMAN = (
    "Die Lampe besteht aus geölter Eiche und gibt ein warmes Licht. Das Kabel ist zwei Meter lang, der Schalter sitzt "
    "am Fuß der Lampe und nicht am Kabel.",
    "Der Stuhl hat eine Lehne aus Buche und einen Sitz aus Leder. Er trägt hundert Kilogramm und wiegt selbst fünf.",
)
JAPANESE = (
    "このランプはオーク材でできており、暖かい光を出します。コードの長さは二メートルで、スイッチは台座にあります。",
    "この椅子はブナ材でできており、座面は革です。百キログラムまで耐えられ、重さはわずか五キログラムです。",
)


def wrapped(paragraphs: tuple[str, ...], width: int, between: str = "\n\n") -> str:
    return between.join(textwrap.fill(paragraph, width) for paragraph in paragraphs) + "\n"


@pytest.mark.parametrize("width", [40, 76])
@pytest.mark.parametrize("paragraphs", [ENGLISH, GERMAN])
def test_paragraphs_of_several_lines(tmp_path: Path, paragraphs: tuple[str, ...], width: int) -> None:
    source = opened(tmp_path / "texts.txt", wrapped(paragraphs, width))
    assert source.format == FileFormat.PARAGRAPHS
    assert [row.cells[0].replace("\n", " ") for row in read_rows(source)] == list(paragraphs)
    assert explain(source) == "Plain text, one text per paragraph, with blank lines between them, in UTF-8."
    assert open_source(source.path, ReadOptions(unit=FileFormat.LINES)).format == FileFormat.LINES


def test_paragraphs_without_spaces_between_words(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text(
        "\n\n".join("\n".join(each[at : at + 20] for at in range(0, len(each), 20)) for each in JAPANESE), "utf-8"
    )
    assert [row.cells[0].replace("\n", "") for row in read_rows(open_source(path))] == list(JAPANESE)


@pytest.mark.parametrize(
    "text", [wrapped(ENGLISH, 50, "\n\n\n").replace("\n", "\r\n"), "Energy\n\n" + wrapped(ENGLISH, 60)]
)
def test_paragraphs_as_people_and_editors_leave_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "texts.md"
    path.write_bytes(text.encode())
    assert open_source(path).format == FileFormat.PARAGRAPHS


LISTS = {
    "words, in groups": "apple\npear\nplum\n\ncarrot\nonion\n\nbread\nroll\n",
    "questions, in groups": "where is my order?\nhow do I pay?\n\ncan I send it back?\nwho pays for that?\n",
    "sentences, with a blank line here and there": "".join(
        f"This is the sentence with the number {n}.\n" + ("\n" if n % 17 == 5 else "") for n in range(200)
    ),
    "codes of one width": "AB-1234 red\nAB-1235 red\n\nAB-2234 red\nAB-2235 red.\n",
    "one long line each": "\n\n".join(ENGLISH) + "\n",
    "one long line each, and two together": f"{ENGLISH[0]}\n{ENGLISH[1]}\n\n{ENGLISH[2]}\n\n{ENGLISH[0]}\n",
    "one paragraph": wrapped(ENGLISH[:1], 40),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_stays_a_text_a_line(tmp_path: Path, name: str) -> None:
    source = opened(tmp_path / "texts.txt", LISTS[name])
    assert source.format == FileFormat.LINES
    texts = [(number, line) for number, line in enumerate(LISTS[name].split("\n"), 1) if line]  # no blank lines
    assert [(row.number, *row.cells) for row in read_rows(source)] == texts


PSQL = """ id |      text       | label
----+-----------------+-------
  1 | C++             |     1
  2 | 日本語の文      |
 30 | It's "fine", no |     0
(3 rows)

"""
PSQL_LINES = """ id |     text
----+---------------
  1 | line one     +
    | line two, C+++
    |              +
    | last
  2 | C++
(2 rows)
"""
DUCKDB = """┌───────┬───────────┐
│  id   │   text    │
│ int32 │  varchar  │
├───────┼───────────┤
│     1 │ one thing │
│     2 │ Äpfel     │
└───────┴───────────┘
"""
MYSQL = """mysql> select id, text from t;
+----+-----------+
| id | text      |
+----+-----------+
|  1 | one thing |
|  3 | a, b      |
|  4 | NULL      |
+----+-----------+
4 rows in set (0.00 sec)

"""
MARKDOWN = """# Products

| id | text           |
|---:|:---------------|
| 1  | a \\| b        |
| 2  | - |
| 3  | --- |
| 4  | **bold**, `x`  |
"""
MARKDOWN_BARE = "id | text\n---|---\n1 | one\n2 | two\n"
SAP = """Table: MAKT
Displayed Fields: 2 of 2

------------------------------
|MATNR     |MAKTX            |
------------------------------
|0000000012|Lampe; blau      |
|0000000013|Stuhl            |
------------------------------
"""
CASES: list[tuple[str, str, list[tuple[str, ...]], tuple[str, ...]]] = [
    ("psql.txt", PSQL, [("1", "C++", "1"), ("2", "日本語の文", ""), ("30", 'It\'s "fine", no', "0")],
     ()),
    ("psql.csv", PSQL_LINES, [("1", "line one\nline two, C++\n\nlast"), ("2", "C++")],
     ()),
    ("duckdb.txt", DUCKDB, [("1", "one thing"), ("2", "Äpfel")], ()),
    ("mysql.txt", MYSQL, [("1", "one thing"), ("3", "a, b"), ("4", "NULL")],
     ("1 line above the table is not read: “mysql> select id, text from t”.",)),
    ("notes.md", MARKDOWN, [("1", "a | b"), ("2", "-"), ("3", "---"), ("4", "**bold**, `x`")],
     (message("n_lines_above_table_are_not", n=1, first=quoted("# Products")),)),
    ("bare.md", MARKDOWN_BARE, [("1", "one"), ("2", "two")], ()),
    ("sap.txt", SAP, [("0000000012", "Lampe; blau"), ("0000000013", "Stuhl")],
     (message("n_lines_above_table_are_not", n=2, first="“Table: MAKT” and more"),)),
]  # fmt: skip


def opened(path: Path, text: str, encoding: str = "utf-8", end: str = "\n") -> Source:
    path.write_bytes(text.replace("\n", end).encode(encoding))
    return open_source(path)


@pytest.mark.parametrize(("name", "text", "rows", "notices"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize(("encoding", "end"), [("utf-8", "\n"), ("utf-8-sig", "\r\n"), ("utf-16", "\r\n")])
def test_rows_without_bars_and_rules(
    tmp_path: Path, name: str, text: str, rows: list[tuple[str, ...]], notices: tuple[str, ...], encoding: str, end: str
) -> None:
    source = opened(tmp_path / name, text, encoding, end)
    assert source.format == FileFormat.ASCII_TABLE
    found = [(row.problem, tuple(cell.replace("\r\n", "\n") for cell in row.cells)) for row in read_rows(source)]
    assert found == [("", row) for row in rows]
    assert source.notices == notices
    assert explain(source).startswith("A table drawn with bars and lines")


def test_a_long_one_and_what_is_no_row_of_it(tmp_path: Path) -> None:
    body = "".join(f"| {number:5} | Text number {number:5} |\n" for number in range(5_000))
    line = "+-------+-------------------+\n"
    wrong = "| 1 | 2 | 3 |\nwhat is this?\n| 7 | first\nsecond |\n"
    text = f"{line}| id    | text              |\n{line}{body}{wrong}{body}{line}10000 rows in set (0.01 sec)\n"
    rows = list(read_rows(opened(tmp_path / "a.txt", f"{text}\n{line}| no    | name              |\n{line}")))
    said = message("line_is_no_row_table")
    assert {row.number: (row.problem, row.raw) for row in rows if row.problem} == {
        number: (said, each)
        for number, each in [*enumerate(wrong.splitlines(), 5_004), (10_012, "| no    | name              |")]
    }
    assert len(rows) == 10_005


def test_other_files_stay_what_they_are(tmp_path: Path) -> None:
    prose = "A sentence of a text that has a table somewhere.\n"
    for name, text, wanted, count in (
        ("notes.md", prose * 9 + "\n" + MARKDOWN_BARE + "\n" + prose * 9, FileFormat.LINES, 22),
        ("headed.md", "Title\n-----\n" + prose * 3, FileFormat.LINES, 5),
        ("a.csv", "id,text\n-,---\n1,one\n2,two\n", FileFormat.DELIMITED, 3),
        ("b.csv", "id|text\n-|one\n--|two\n3|---\n", FileFormat.DELIMITED, 3),
        ("bars.txt", "a | b\nc | d\ne | f\n", FileFormat.LINES, 3),
    ):
        source = opened(tmp_path / name, text)
        assert (source.format, len(list(read_rows(source)))) == (wanted, count), name
    path = tmp_path / "a.md"
    path.write_text(MARKDOWN)
    assert open_source(path, ReadOptions(unit=FileFormat.LINES)).format == FileFormat.LINES
    assert open_source(path, ReadOptions(separator="|")).format == FileFormat.DELIMITED


def test_an_ascii_table_without_rows_is_refused(tmp_path: Path) -> None:
    with refuses(InputError, "name_header_but_no_rows_below"):
        opened(tmp_path / "a.csv", " id | text \n----+------\n(0 rows)\n")
