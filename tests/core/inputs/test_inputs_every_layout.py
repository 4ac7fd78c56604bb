"""Every layout in every format, in files as other programs write them: guessed correctly without a question, or with
the one that is necessary."""

import csv
import io
import json
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Layout, Query, Role, Text
from cfbatch_gui.core.inputs.items import read_items
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.messages import message
from tests.core.inputs.files import QI, C, I, K, L, Q, T, json_lines, opened, read, suggested

DATA = Path(__file__).parents[2] / "data" / "inputs"
Rows = list[tuple[str, ...]]
PAIRS: Rows = [
    ("Wie lange hält der Akku?", "Der Akku hält bis zu 12 Stunden; danach lädt er in 2,5 Stunden.", "1"),
    ("Wie lange hält der Akku?", 'Die Lieferung\ndauert "drei" Tage.', "0"),
    ("Was kostet der Versand?", "Der Versand kostet 4,90 €.", "1"),
    ("Was kostet der Versand?", "Das Gehäuse ist aus “Glas”.", "0"),
]
LINES = [tuple(cell.replace("\n", " ").replace('"', "”") for cell in row) for row in PAIRS]  # for unquoted formats
GERMAN, ENGLISH = ("Frage", "Antwort", "Bewertung"), ("query", "text", "label")


def table(rows: Rows, separator: str = ",", end: str = "\r\n", quoting: int = csv.QUOTE_MINIMAL) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    return text.getvalue()


def bare(rows: Rows, separator: str, end: str = "\n") -> str:
    return "".join(separator.join(row) + end for row in rows)


def by_r(rows: Rows, *, names_its_rows: bool) -> str:
    """R's write.csv, and write.table, which writes row names but no header for their column."""
    lines = [('"",' if names_its_rows else "") + ",".join(f'"{name}"' for name in rows[0])]
    for number, (query, text, label) in enumerate(rows[1:], 1):
        doubled = text.replace('"', '""')
        lines.append(f'"{number}","{query}","{doubled}",{label}')
    return "\n".join(lines) + "\n"


RECORDS = [dict(zip(ENGLISH, row, strict=True)) for row in PAIRS]
FILES: list[tuple[str, bytes, tuple[Role, ...], Rows]] = [
    ("excel-de-utf8.csv", table([GERMAN, *PAIRS], ";").encode("utf-8-sig"), (Q, C, L), PAIRS),
    ("excel-de.csv", table([GERMAN, *PAIRS], ";").encode("cp1252"), (Q, C, L), PAIRS),
    ("excel-unicode.txt", table([GERMAN, *PAIRS], "\t").encode("utf-16"), (Q, C, L), PAIRS),
    ("excel-sep-line.csv", ("sep=;\r\n" + table([GERMAN, *PAIRS], ";")).encode("utf-8-sig"), (Q, C, L), PAIRS),
    ("pandas-records.json", json.dumps(RECORDS).encode(), (Q, C, L), PAIRS),
    ("r-write-csv.csv", by_r([ENGLISH, *PAIRS], names_its_rows=True).encode(), (K, Q, C, L), PAIRS),
    ("r-write-table.csv", by_r([ENGLISH, *PAIRS], names_its_rows=False).encode(), (K, Q, C, L), PAIRS),
    ("postgresql-copy.tsv", (bare([ENGLISH, *[(q, t.replace("\n", "\\n"), la) for q, t, la in PAIRS]], "\t") + "\\.\n")
     .replace("\t0\n", "\t\\N\n").encode(), (Q, C, L), [(q, t, la.replace("0", "")) for q, t, la in PAIRS]),
    ("mysql-batch.tsv", bare([ENGLISH, *LINES], "\t").encode(), (Q, C, L), LINES),
    ("source.csv", (table([ENGLISH, *PAIRS]) + "\r\nSource: help centre\r\n").encode(), (Q, C, L), PAIRS),
    *[(name, (DATA / name).read_bytes(), (Q, C, L), PAIRS)
      for name in ("libreoffice.csv", "libreoffice.xlsx", "libreoffice.ods", "libreoffice.xls")],
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "roles", "rows"), FILES, ids=[case[0] for case in FILES])
def test_one_table_from_every_program(
    tmp_path: Path, name: str, data: bytes, roles: tuple[Role, ...], rows: Rows
) -> None:
    found, source = read(tmp_path / name, data)
    mapping = suggested(source)
    assert (mapping.layout, mapping.roles) == (Layout.LONG, roles)
    assert check_mapping(mapping, source) == ""
    filled = [row.cells[-3:] for row in found if any(row.cells)]
    assert [tuple(cell.replace("\r\n", "\n") for cell in cells) for cells in filled] == rows
    assert source.is_encoding_guessed == (name in ("excel-de.csv", "excel-de-mac.csv"))


PROSE = "A lamp gives light to all of the room"

LAYOUTS: list[tuple[str, str, Layout, tuple[Role, ...], int]] = [
    # name, text, layout, roles, items
    ("texts.txt", f"{PROSE}\n{PROSE}, too\n", Layout.TEXTS, (T,), 2),
    ("texts-id.csv", f"id,text\n001,{PROSE}\n002,so\n", Layout.TEXTS, (I, T), 2),
    ("texts-more.csv", f"sku,name,description,price\nA-1,Lamp,{PROSE},1.50\nA-2,Chair,{PROSE}!,2.50\n", Layout.TEXTS,
     (I, K, T, K), 2),
    ("texts.jsonl", json_lines({"id": 1, "text": PROSE}, {"id": 2, "text": "so"}), Layout.TEXTS, (I, T), 2),
    ("texts.json", json.dumps([PROSE, "so"]), Layout.TEXTS, (T,), 2),
    ("long.csv", f"query,text\nwhy,{PROSE}\nwhy,no\n", Layout.LONG, (Q, C), 2),
    ("long-full.csv", f"query_id,query,doc_id,text,initial_rank,label\n7,why,d1,{PROSE},1,2\n7,why,d2,no,2,0\n",
     Layout.LONG, (QI, Q, I, C, K, L), 2),
    ("wide.csv", f"query,context_1,context_2,context_3\nwhy,{PROSE},no,never\nwho,me,,you\n", Layout.WIDE,
     (Q, C, C, C), 2),
    ("wide-id.csv", f"id,question,answer a,answer b\n7,why,{PROSE},no\n8,who,me,you\n", Layout.WIDE, (I, Q, C, C), 2),
    ("nested.csv", 'query,contexts\nwhy,"[""because"", ""no""]"\nwho,"[""me"", ""you""]"\n', Layout.NESTED, (Q, C), 2),
    ("nested-lines.csv", 'query,contexts\nwhy,"because\nno"\nwho,"me\nyou"\n', Layout.NESTED, (Q, C), 2),
    ("nested.jsonl", json_lines({"query": "why", "contexts": ["because", "no"]}), Layout.NESTED, (Q, C), 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "layout", "roles", "items"), LAYOUTS, ids=[case[0] for case in LAYOUTS])
def test_every_layout_in_one_file(
    tmp_path: Path, name: str, text: str, layout: Layout, roles: tuple[Role, ...], items: int
) -> None:
    source = opened(tmp_path / name, text)
    mapping = suggested(source)
    assert check_mapping(mapping, source) == ""
    found = list(read_items(source, mapping))
    assert (mapping.layout, mapping.roles, len(found)) == (layout, roles, items)
    assert all(isinstance(item, Text | Query) for item in found)


LIGHT = "このライトはオーク材でできており、暖かい光を出します。"


def lines(head: str, line: str, count: int = 5, end: str = "\r\n") -> str:
    return head + "".join(line.replace("{n}", str(number)) + end for number in range(1, count + 1))


# Name, text, encoding, the role of each column (- for KEEP, ? when the encoding is guessed), rows, a cell of
# the last row.
CASES: list[tuple[str, str, str, str, int, str]] = [
    ("excel-jp.csv", lines("商品コード,商品名,商品説明\r\n", f"A{{n}},机上ライト{{n}},{LIGHT}番号{{n}}"), "cp932",
     "? id - text", 5, f"{LIGHT}番号5"),
    ("excel-empty-columns.csv", lines("id,text,,,\r\n", "{n},a text {n},,,") + ",,,,\r\n", "utf-8",
     "id text", 6, ""),
    ("dos.csv", lines("id;text\r\n", "{n};Größe über Maß, schöne Grüße {n}"), "cp850", "? id text", 5,
     "Größe über Maß, schöne Grüße 5"),
    ("r-table.txt", lines('"query" "text" "label"\n', '"{n}" "what is it" "an answer, {n}" 1', end="\n"), "utf-8",
     "- query context label", 5, "an answer, 5"),
    ("r-table-escaped.dat", '"text" "n"\n"a b" "say \\"hi\\" now" 1.5\n"b c" "plain" 2\n"c d" "third" NA\n', "utf-8",
     "- text -", 3, "third"),
    ("sqlcmd.csv", lines("id,text\n--,----\n", "{n},one text", end="\n") + "\n(5 rows affected)\n", "utf-8", "id text",
     5, "one text"),
    ("shop.json", '{"products": [{"id": 1, "description": "one"}, {"id": 2, "description": "two"}], "page": 1}',
     "utf-8", "id text", 2, "two"),
    ("spaces.csv", 'id, text, label\n1, "one, and", 0\n2, "two, or", 1\n3, "three", 1\n', "utf-8", "id text label", 3,
     "three"),
    ("preamble.csv", lines("Bericht: Feedback\nZeitraum: 01.01. - 31.03.\n\nKundennr;Kommentar;Sterne\n",
     "K{n};War alles gut, danke {n};{n}", end="\n") + ";Gesamt;15\n", "utf-8",
     "id text -", 5, "War alles gut, danke 5"),
    ("groups.csv", lines("Lampen,,,\nid,text,price,\n", "{n},Eine Lampe {n},{n}.90,", end="\n"), "utf-8",
     "id text -", 5, "Eine Lampe 5"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "encoding", "roles", "count", "cell"), CASES, ids=[case[0] for case in CASES])
def test_read_as_it_is_meant(
    tmp_path: Path, name: str, text: str, encoding: str, roles: str, count: int, cell: str
) -> None:
    rows, source = read(tmp_path / name, text.encode(encoding))
    mapping = suggested(source)
    assert check_mapping(mapping, source) == ""
    found = " ".join("-" if role == "keep" else role for role in mapping.roles)
    assert ("? " if source.is_encoding_guessed else "") + found == roles
    assert (len(rows), [row.problem for row in rows]) == (count, [""] * count)
    assert cell in rows[-1].cells


def test_a_header_that_stands_once_more_is_a_problem_and_no_text(tmp_path: Path) -> None:
    data = "id,text\n1,one\n2,two\nid,text\n3,three\n" + "4,four\n" * 2_000 + "id,text\n5,five\n"
    rows, source = read(tmp_path / "together.csv", data)
    assert source.columns == ("id", "text")
    assert [(row.number, row.problem) for row in rows if row.problem] == [
        (4, message("row_repeats_names_columns")),
        (2_006, message("row_repeats_names_columns")),
    ]
    assert len(rows) == 2_006
    rows, _ = read(tmp_path / "list.csv", "text\none\ntext\ntwo\n")  # in a single column it may be part of a text
    assert not any(row.problem for row in rows)
