"""ASCII tables as printed by psql, MySQL's client, Markdown and others."""

from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import read_rows
from cfbatch_gui.core.inputs.input_values import FileFormat, ReadOptions, Source
from cfbatch_gui.core.inputs.readers.formats import explain
from cfbatch_gui.core.inputs.recognise.recogniser import open_source

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
     ("1 line above the table is not read: “# Products”.",)),
    ("bare.md", MARKDOWN_BARE, [("1", "one"), ("2", "two")], ()),
    ("sap.txt", SAP, [("0000000012", "Lampe; blau"), ("0000000013", "Stuhl")],
     ("2 lines above the table are not read: “Table: MAKT” and more.",)),
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
    said = "This line is no row of the table."
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
    with pytest.raises(InputError, match="header"):
        opened(tmp_path / "a.csv", " id | text \n----+------\n(0 rows)\n")
