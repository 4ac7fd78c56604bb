"""Every layout in every format, in files as other programs write them: guessed correctly without a question, or with
the one that is necessary."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
import xlsxwriter

from cfbatch_gui.core.inputs.file_rows import preview, read_rows
from cfbatch_gui.core.inputs.input_values import (
    Context,
    Layout,
    Mapping,
    Problem,
    Query,
    Role,
    Text,
)
from cfbatch_gui.core.inputs.items import read_items
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.readers.formats import explain
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping

DATA = Path(__file__).parents[2] / "data" / "inputs"
Q, C, T, I, L, K, QI = Role.QUERY, Role.CONTEXT, Role.TEXT, Role.ID, Role.LABEL, Role.KEEP, Role.QUERY_ID  # noqa: E741
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


def by_openpyxl(path: Path, rows: Rows) -> None:
    """Write a workbook as pandas' to_excel does by default."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


def by_xlsxwriter(path: Path, rows: Rows) -> None:
    """Write a workbook as R and pandas' other engine do: with inline strings."""
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)


INDEXED = [("", *ENGLISH), *[(str(number), *row) for number, row in enumerate(PAIRS)]]
RECORDS = [dict(zip(ENGLISH, row, strict=True)) for row in PAIRS]
MYSQL = [(*row[:1], row[1].replace(" ", " "), *row[2:]) for row in LINES]
FILES: list[tuple[str, bytes, tuple[Role, ...], Rows]] = [
    ("excel-de-utf8.csv", table([GERMAN, *PAIRS], ";").encode("utf-8-sig"), (Q, C, L), PAIRS),
    ("excel-de.csv", table([GERMAN, *PAIRS], ";").encode("cp1252"), (Q, C, L), PAIRS),
    ("excel-de-mac.csv", table([GERMAN, *LINES], ";", "\r").encode("mac_roman"), (Q, C, L), LINES),
    ("excel-unicode.txt", table([GERMAN, *PAIRS], "\t").encode("utf-16"), (Q, C, L), PAIRS),
    ("excel-sep-line.csv", ("sep=;\r\n" + table([GERMAN, *PAIRS], ";")).encode("utf-8-sig"), (Q, C, L), PAIRS),
    ("google-sheets.csv", table([ENGLISH, *PAIRS]).encode(), (Q, C, L), PAIRS),
    ("google-sheets.tsv", table([ENGLISH, *LINES], "\t").encode(), (Q, C, L), LINES),
    ("libreoffice-quoted.csv", table([ENGLISH, *PAIRS], ",", "\n", csv.QUOTE_ALL).encode(), (Q, C, L), PAIRS),
    ("pandas-index.csv", table(INDEXED, ",", "\n").encode(), (K, Q, C, L), PAIRS),
    ("pandas.csv.gz", gzip.compress(table([ENGLISH, *PAIRS], ",", "\n").encode(), mtime=0), (Q, C, L), PAIRS),
    ("pandas-lines.jsonl", "".join(json.dumps(each) + "\n" for each in RECORDS).encode(), (Q, C, L), PAIRS),
    ("pandas-records.json", json.dumps(RECORDS).encode(), (Q, C, L), PAIRS),
    ("pandas-table.json", json.dumps({"schema": {"fields": []}, "data": RECORDS}).encode(), (Q, C, L), PAIRS),
    ("jq.json", json.dumps(RECORDS, indent=2, ensure_ascii=False).encode(), (Q, C, L), PAIRS),
    ("r-write-csv.csv", by_r([ENGLISH, *PAIRS], names_its_rows=True).encode(), (K, Q, C, L), PAIRS),
    ("r-write-table.csv", by_r([ENGLISH, *PAIRS], names_its_rows=False).encode(), (K, Q, C, L), PAIRS),
    ("postgresql-header.csv", table([ENGLISH, *PAIRS], ",", "\n").encode(), (Q, C, L), PAIRS),
    ("postgresql-copy.tsv", (bare([ENGLISH, *[(q, t.replace("\n", "\\n"), la) for q, t, la in PAIRS]], "\t") + "\\.\n")
     .replace("\t0\n", "\t\\N\n").encode(), (Q, C, L), [(q, t, la.replace("0", "")) for q, t, la in PAIRS]),
    ("psql-unaligned.csv", (bare([ENGLISH, *LINES], "|") + "(4 rows)\n").encode(), (Q, C, L), LINES),
    ("mysql-batch.tsv", bare([ENGLISH, *LINES], "\t").encode(), (Q, C, L), LINES),
    ("sqlite.csv", table([ENGLISH, *PAIRS], "|", "\n").encode(), (Q, C, L), PAIRS),
    ("report.csv", ("Export vom 3. Mai\r\nAlle Rechte vorbehalten\r\n\r\n" + table([GERMAN, *PAIRS], ";")).encode(),
     (Q, C, L), PAIRS),
    ("padded.csv", ("Report of May,,\r\n,,\r\n" + table([ENGLISH, *PAIRS])).encode(), (Q, C, L), PAIRS),
    ("source.csv", (table([ENGLISH, *PAIRS]) + "\r\nSource: help centre\r\n").encode(), (Q, C, L), PAIRS),
    *[(name, (DATA / name).read_bytes(), (Q, C, L), PAIRS)
      for name in ("libreoffice.csv", "libreoffice.xlsx", "libreoffice.ods", "libreoffice.xls")],
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "roles", "rows"), FILES, ids=[case[0] for case in FILES])
def test_one_table_from_every_program(
    tmp_path: Path, name: str, data: bytes, roles: tuple[Role, ...], rows: Rows
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    source = open_source(path)
    mapping = suggest_mapping(source, None, preview(source))
    assert (mapping.layout, mapping.roles) == (Layout.LONG, roles)
    assert check_mapping(mapping, source) == ""
    found = [
        tuple(cell.replace("\r\n", "\n") for cell in row.cells[-3:]) for row in read_rows(source) if any(row.cells)
    ]
    assert found == rows
    assert source.is_encoding_guessed == (name in ("excel-de.csv", "excel-de-mac.csv"))


@pytest.mark.parametrize("write", [by_openpyxl, by_xlsxwriter])
def test_workbooks_of_libraries(tmp_path: Path, write: Callable[[Path, Rows], None]) -> None:
    write(tmp_path / "a.xlsx", [ENGLISH, *PAIRS])
    source = open_source(tmp_path / "a.xlsx")
    assert suggest_mapping(source, None, preview(source)).roles == (Q, C, L)
    assert [row.cells for row in read_rows(source)] == PAIRS


def jsonl(*objects: object) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


REQUEST = {"query": "why", "contexts": [{"text": "because"}, {"text": "no"}], "external_reference": "r-1"}
OPENAI = {"custom_id": "a", "method": "POST", "url": "/v1/embeddings", "body": {"model": "m", "input": ["one", "two"]}}
RANK_LLM = {
    "query": {"text": "why", "qid": "7"},
    "candidates": [{"docid": "d", "score": 1.5, "doc": {"contents": "no"}}],
}
LIST = {"query": "why", "positive": ["because"], "negative": ["no", "never"]}
PROSE = "A lamp gives light to all of the room"
TREC = "q1 Q0 d1 1 9.5 bm25\nq1 Q0 d2 2 7.25 bm25\n"

LAYOUTS: list[tuple[str, str, Layout, tuple[Role, ...], int]] = [
    # name, text, layout, roles, items
    ("texts.txt", f"{PROSE}\n{PROSE}, too\n", Layout.TEXTS, (T,), 2),
    ("texts-id.csv", f"id,text\n001,{PROSE}\n002,so\n", Layout.TEXTS, (I, T), 2),
    ("texts-more.csv", f"sku,name,description,price\nA-1,Lamp,{PROSE},1.50\nA-2,Chair,{PROSE}!,2.50\n", Layout.TEXTS,
     (I, K, T, K), 2),
    ("texts.jsonl", jsonl({"id": 1, "text": PROSE}, {"id": 2, "text": "so"}), Layout.TEXTS, (I, T), 2),
    ("texts.json", json.dumps([PROSE, "so"]), Layout.TEXTS, (T,), 2),
    ("long.csv", f"query,text\nwhy,{PROSE}\nwhy,no\n", Layout.LONG, (Q, C), 2),
    ("long-full.csv", f"query_id,query,doc_id,text,initial_rank,label\n7,why,d1,{PROSE},1,2\n7,why,d2,no,2,0\n",
     Layout.LONG, (QI, Q, I, C, K, L), 2),
    ("wide.csv", f"query,context_1,context_2,context_3\nwhy,{PROSE},no,never\nwho,me,,you\n", Layout.WIDE,
     (Q, C, C, C), 2),
    ("wide-id.csv", f"id,question,answer a,answer b\n7,why,{PROSE},no\n8,who,me,you\n", Layout.WIDE, (I, Q, C, C), 2),
    ("nested.csv", 'query,contexts\nwhy,"[""because"", ""no""]"\nwho,"[""me"", ""you""]"\n', Layout.NESTED, (Q, C), 2),
    ("nested-lines.csv", 'query,contexts\nwhy,"because\nno"\nwho,"me\nyou"\n', Layout.NESTED, (Q, C), 2),
    ("nested.jsonl", jsonl({"query": "why", "contexts": ["because", "no"]}), Layout.NESTED, (Q, C), 1),
    ("service.json", json.dumps({"requests": [REQUEST]}), Layout.NESTED, (I, Q, C), 1),
    ("service.jsonl", jsonl(REQUEST, REQUEST | {"external_reference": "r-2"}), Layout.NESTED, (I, Q, C), 2),
    ("service-texts.json", json.dumps({"requests": [{"text": ["one", "two"]}]}), Layout.TEXTS, (T,), 2),
    ("hf-reranking.jsonl", jsonl(LIST, LIST | {"query": "who"}), Layout.JUDGED, (Q, C, C), 2),
    ("top1000.dev.tsv", f"7\t70\twhy is it\t{PROSE}\n7\t71\twhy is it\tno, {PROSE}\n8\t72\twho\t{PROSE}\n", Layout.LONG,
     (QI, I, Q, C), 3),
    ("rank_llm.jsonl", jsonl(RANK_LLM), Layout.NESTED, (I, Q, C), 1),
    ("openai.jsonl", jsonl(OPENAI), Layout.TEXTS, (I, T), 2),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "layout", "roles", "items"), LAYOUTS, ids=[case[0] for case in LAYOUTS])
def test_every_layout_in_one_file(
    tmp_path: Path, name: str, text: str, layout: Layout, roles: tuple[Role, ...], items: int
) -> None:
    path = tmp_path / name
    path.write_text(text, newline="")
    mapping, found = everything(path)
    assert (mapping.layout, mapping.roles, len(found)) == (layout, roles, items)
    assert all(isinstance(item, Text | Query) for item in found)


def everything(path: Path, second: Path | None = None) -> tuple[Mapping, list[Text | Query | Problem | Context]]:
    source = open_source(path)
    other = open_source(second) if second else None
    mapping = suggest_mapping(source, None, preview(source), other, preview(other) if other else ())
    assert check_mapping(mapping, source, other) == ""
    assert explain(source).endswith(".")
    return mapping, list(read_items(source, mapping, other))


CORPUS = {"corpus.jsonl": jsonl(*[{"_id": f"d{n}", "title": f"T{n}", "text": PROSE} for n in range(4)])}
BEIR = CORPUS | {"queries.jsonl": jsonl({"_id": "q1", "text": "why"})}
FOLDERS: list[tuple[str, dict[str, str], str, str, Layout]] = [
    # name, files, first file ("" for the folder), second file, layout
    ("beir", BEIR | {"qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n"}, "", "", Layout.LONG),
    ("mteb", BEIR | {"top_ranked.jsonl": jsonl({"query-id": "q1", "corpus-ids": ["d1", "d2"]})}, "", "", Layout.LONG),
    ("nanobeir", BEIR | {"bm25.jsonl": jsonl({"query-id": "q1", "corpus-ids": ["d3"]})}, "", "", Layout.LONG),
    ("trec-run", BEIR | {"bm25.run": TREC}, "bm25.run", "", Layout.LONG),
    ("trec-qrels", BEIR | {"qrels.txt": "q1 0 d1 1\n", "bm25.trec": TREC}, "", "", Layout.LONG),
    ("two-files", {"queries.csv": "query\nwhy\nwho\n", "contexts.csv": f"id,text\n1,{PROSE}\n2,no\n"}, "queries.csv",
     "contexts.csv", Layout.SHARED),
    ("quepid", {"ratings.csv": "query,docid,rating\nlamp,1,3\nlamp,2,0\n", "docs.csv": f"id,text\n1,{PROSE}\n2,no\n"},
     "ratings.csv", "docs.csv", Layout.CANDIDATES),
    ("notes", {"a.md": "# One", "b.txt": "Two"}, "", "", Layout.TEXTS),
]  # fmt: skip


@pytest.mark.parametrize(("name", "files", "first", "second", "layout"), FOLDERS, ids=[case[0] for case in FOLDERS])
def test_every_layout_in_several_files(
    tmp_path: Path, name: str, files: dict[str, str], first: str, second: str, layout: Layout
) -> None:
    folder = tmp_path / name
    for each, text in files.items():
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text(text)
    mapping, found = everything(folder / first if first else folder, folder / second if second else None)
    assert mapping.layout is layout
    assert found and not any(isinstance(item, Problem) for item in found)


def test_notepad_writes_utf_16_utf_8_with_a_mark_and_ansi(tmp_path: Path) -> None:
    path = tmp_path / "notepad.txt"
    text = "erste Zeile, größer\r\nzweite Zeile\r\n"
    for encoding, question in (("utf-16", False), ("utf-8-sig", False), ("utf-8", False), ("cp1252", True)):
        path.write_bytes(text.encode(encoding))
        source = open_source(path)
        assert [row.cells[0] for row in read_rows(source)] == text.splitlines()
        assert source.is_encoding_guessed is question


def test_what_has_no_texts_says_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "qrels.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td3\t1\n")
    source = open_source(path)
    assert (
        check_mapping(suggest_mapping(source, None, preview(source)), source)
        == "Choose the column that holds the text."
    )
