"""Text by line and by paragraph, CSV, and ASCII tables: cells exactly as written, lines as row numbers."""

import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, Quoting, ReadOptions
from cfbatch_gui.core.inputs.readers.decoded_text import PIECE
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.messages import message, quoted
from tests.core.inputs.files import opened, read, wrong_width
from tests.support.sentences import code_of, refuses
from tests.thorough import tries


def test_a_text_file_may_have_a_header_and_may_be_read_as_a_table(tmp_path: Path) -> None:
    rows, source = read(tmp_path / "a.txt", "Story\na;b\nc;d\n", ReadOptions(has_header=True))
    assert (source.columns, [row.number for row in rows]) == (("Story",), [2, 3])
    rows = list(read_rows(open_source(source.path, ReadOptions(separator=";", has_header=False))))
    assert [row.cells for row in rows] == [("Story", ""), ("a", "b"), ("c", "d")]


# Rows below three names, and how many cells are said to be too few or too many in each; 0 where nothing is said.
# A row that is shifted by one separator may end with an empty cell, as every row of some programs does.
RAGGED = [
    ("1,a,b\n2,a\n3,a,b,c\n4,a,b,,\n5,a,b\n", [0, 2, 4, 5, 0]),
    ("Ann,first text,x\nBob,,second text,\nEve,third text,y\n", [0, 4, 0]),
    ("Ann,first text,x,\nBob,second text,,\nEve,third text,y,\nIda,,fourth text,,\n", [0, 0, 0, 5]),
    ("Ann,first text,x,\nBob,second text,,\nEve,third text,y,\nIdafourth text,,\n", [0, 0, 0, 3]),
]


@pytest.mark.parametrize(("below", "said"), RAGGED)
def test_ragged_rows_are_problems_shown_as_they_stand(tmp_path: Path, below: str, said: list[int]) -> None:
    rows, source = read(tmp_path / "a.csv", f"name,text,note\n{below}")
    assert source.columns == ("name", "text", "note")
    assert [(row.problem, row.raw) for row in rows] == [
        (wrong_width(cells, 3), line) if cells else ("", "")
        for cells, line in zip(said, below.splitlines(), strict=True)
    ]
    assert {len(row.cells) for row in rows} == {3}


@pytest.mark.parametrize("below", ["", '4,"closed, again"\n5,five\n'])
def test_an_unclosed_quote_costs_no_row_but_its_own(tmp_path: Path, below: str) -> None:
    rows, _ = read(tmp_path / "a.csv", f'id,text\n1,one\n2,"two\n3,three\n{below}')
    assert [row.number for row in rows] == [2, 3, *range(4, 5 + below.count("\n"))]
    assert (rows[1].raw, rows[1].cells) == ('2,"two', ("", ""))
    assert code_of(rows[1].problem) == "quotation_mark_opens_row_is_not"
    assert [row.number for row in rows if row.problem] == [3]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_marks_of_files_that_were_put_one_below_the_other(tmp_path: Path, encoding: str) -> None:
    one = 'id;text\r\n"1";"grün; \u200b\ufeffzwei"\r\n'.encode(encoding)
    rows, source = read(tmp_path / "a.csv", one * 3)
    assert (source.columns, source.quoting) == (("id", "text"), Quoting.DOUBLED)
    assert source.notices == (message("n_byte_order_marks_within_file", n=2),)
    assert [row.cells for row in rows if not row.problem] == [("1", "grün; \u200b\ufeffzwei")] * 3
    assert {row.problem for row in rows} == {"", message("row_repeats_names_columns")}


@pytest.mark.parametrize(
    ("below", "count"),
    [(b"1,one\n", 0), (b"1,a\0b\n", 1), (b"1,a\0b\n2,plain and longer\n" * 2_000, 2_000),
     ("1,schön\n".encode() * 1_000 + b"2,\xff\n", 1)],
)  # fmt: skip
def test_signs_that_are_replaced_are_counted(
    tmp_path: Path, below: bytes, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cfbatch_gui.core.inputs.encodings._PIECE", 5_000)
    rows, source = read(tmp_path / "a.csv", b"id,text\n" + below)
    assert (source.encoding, source.is_encoding_guessed) == ("utf-8", False)
    assert source.notices == ((message("n_characters_are_damaged_file_or", n=count),) if count else ())
    assert sum("\ufffd" in row.cells[1] for row in rows) == count


def test_characters_and_line_ends_cut_by_a_piece_come_whole(tmp_path: Path) -> None:
    for shift in range(4):
        lines = ["x" * shift] + ["äöü€🦙" * 3] * (PIECE // 30)
        for end in ("\r\n", "\r"):
            rows, _ = read(tmp_path / "a.txt", end.join(lines))
            assert [row.cells for row in rows] == [(line,) for line in lines if line]


def test_a_line_too_long_for_any_request_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cfbatch_gui.core.inputs.readers.decoded_text.LONGEST_LINE", 3 * PIECE)
    with refuses(InputError, "name_line_more_than_most_characters", name="a.txt"):
        read(tmp_path / "a.txt", "x" * (5 * PIECE))


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
    rows, source = read(tmp_path / "texts.txt", wrapped(paragraphs, width))
    assert source.format == FileFormat.PARAGRAPHS
    assert [row.cells[0].replace("\n", " ") for row in rows] == list(paragraphs)
    assert open_source(source.path, ReadOptions(unit=FileFormat.LINES)).format == FileFormat.LINES


def test_paragraphs_without_spaces_between_words(tmp_path: Path) -> None:
    wrapped = ("\n".join(each[at : at + 20] for at in range(0, len(each), 20)) for each in JAPANESE)
    rows, _ = read(tmp_path / "texts.txt", "\n\n".join(wrapped))
    assert [row.cells[0].replace("\n", "") for row in rows] == list(JAPANESE)


@pytest.mark.parametrize(
    "text", [wrapped(ENGLISH, 50, "\n\n\n").replace("\n", "\r\n"), "Energy\n\n" + wrapped(ENGLISH, 60)]
)
def test_paragraphs_as_people_and_editors_leave_them(tmp_path: Path, text: str) -> None:
    assert opened(tmp_path / "texts.md", text).format == FileFormat.PARAGRAPHS


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
    rows, source = read(tmp_path / "texts.txt", LISTS[name])
    assert source.format == FileFormat.LINES
    texts = [(number, line) for number, line in enumerate(LISTS[name].split("\n"), 1) if line]  # no blank lines
    assert [(row.number, *row.cells) for row in rows] == texts


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
     (message("n_lines_above_table_are_not", n=1, first=quoted("mysql> select id, text from t")),)),
    ("notes.md", MARKDOWN, [("1", "a | b"), ("2", "-"), ("3", "---"), ("4", "**bold**, `x`")],
     (message("n_lines_above_table_are_not", n=1, first=quoted("# Products")),)),
    ("bare.md", MARKDOWN_BARE, [("1", "one"), ("2", "two")], ()),
    ("sap.txt", SAP, [("0000000012", "Lampe; blau"), ("0000000013", "Stuhl")],
     (message("n_lines_above_table_are_not", n=2, first=message("text_more", text="Table: MAKT")),)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "rows", "notices"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize(("encoding", "end"), [("utf-8", "\n"), ("utf-8-sig", "\r\n"), ("utf-16", "\r\n")])
def test_rows_without_bars_and_rules(
    tmp_path: Path, name: str, text: str, rows: list[tuple[str, ...]], notices: tuple[str, ...], encoding: str, end: str
) -> None:
    found, source = read(tmp_path / name, text.replace("\n", end).encode(encoding))
    assert source.format == FileFormat.ASCII_TABLE
    assert [(row.problem, tuple(cell.replace("\r\n", "\n") for cell in row.cells)) for row in found] == [
        ("", row) for row in rows
    ]
    assert source.notices == notices


def test_a_long_one_and_what_is_no_row_of_it(tmp_path: Path) -> None:
    body = "".join(f"| {number:5} | Text number {number:5} |\n" for number in range(5_000))
    line = "+-------+-------------------+\n"
    wrong = "| 1 | 2 | 3 |\nwhat is this?\n| 7 | first\nsecond |\n"
    text = f"{line}| id    | text              |\n{line}{body}{wrong}{body}{line}10000 rows in set (0.01 sec)\n"
    rows, _ = read(tmp_path / "a.txt", f"{text}\n{line}| no    | name              |\n{line}")
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
        rows, source = read(tmp_path / name, text)
        assert (source.format, len(rows)) == (wanted, count), name
    assert opened(tmp_path / "a.md", MARKDOWN, ReadOptions(unit=FileFormat.LINES)).format == FileFormat.LINES
    assert opened(tmp_path / "a.md", MARKDOWN, ReadOptions(separator="|")).format == FileFormat.DELIMITED


def test_an_ascii_table_without_rows_is_refused(tmp_path: Path) -> None:
    with refuses(InputError, "name_header_but_no_rows_below"):
        opened(tmp_path / "a.csv", " id | text \n----+------\n(0 rows)\n")
