"""Files as other programs write them, and how each is read when nothing but the encoding is chosen by the user."""

from pathlib import Path

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.inputs.file_rows import preview, read_rows
from cfbatch_gui.core.inputs.input_values import ReadOptions
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping

OAK = "Der Schrank ist aus Eiche; er misst 1,80 m in der Höhe und 0,90 m in der Breite."
LIGHT = "このライトはオーク材でできており、暖かい光を出します。"


def lines(head: str, line: str, count: int = 5, end: str = "\r\n") -> str:
    return head + "".join(line.replace("{n}", str(number)) + end for number in range(1, count + 1))


# Name, text, encoding, the role of each column (- for KEEP, ? when the encoding is guessed), rows, a cell of
# the last row.
CASES: list[tuple[str, str, str, str, int, str]] = [
    ("excel-de.csv", lines("Artikelnr;Bezeichnung;Beschreibung;Preis\r\n", f'00{{n}};Schrank {{n}};"{OAK}";{{n}}9,90'),
     "cp1252", "? id - text -", 5, OAK),
    ("excel-fr.csv", lines("Référence;Désignation;Prix\r\n", "R{n};Armoire en chêne n° {n}, très belle;{n}49,90 €"),
     "cp1252", "? id text -", 5, "549,90 €"),
    ("excel-jp.csv", lines("商品コード,商品名,商品説明\r\n", f"A{{n}},机上ライト{{n}},{LIGHT}番号{{n}}"), "cp932",
     "? id - text", 5, f"{LIGHT}番号5"),
    ("excel-unicode.txt", lines("id\ttext\tprice\r\n", '00{n}\t"eins\nzwei {n}"\t1,5'), "utf-16", "id text -", 5,
     "eins\nzwei 5"),
    ("excel-empty-columns.csv", lines("id,text,,,\r\n", "{n},a text {n},,,") + ",,,,\r\n", "utf-8",
     "id text", 6, ""),
    ("excel-sep.csv", lines("sep=;\r\nFrage;Antwort\r\n", "Was ist das?;Eine Lampe, glaube ich, {n}"), "cp1252",
     "query context", 5, "Eine Lampe, glaube ich, 5"),
    ("excel-mac.csv", lines("id,text\r", "{n},some text {n}", end="\r"), "utf-8", "id text", 5, "some text 5"),
    ("excel-kr.csv", lines("번호,제목,상품설명\r\n", "{n},조명 {n},이 조명은 참나무로 만들어져 따뜻한 빛을 냅니다 {n}"),
     "cp949", "? id - text", 5, "조명 5"),
    ("excel-cn.csv", lines("编号,名称,商品描述\r\n", "{n},台灯{n},这款台灯由橡木制成，发出温暖的光，电线长两米。{n}"),
     "gbk", "? id - text", 5, "台灯5"),
    ("dos.csv", lines("id;text\r\n", "{n};Größe über Maß, schöne Grüße {n}"), "cp850", "? id text", 5,
     "Größe über Maß, schöne Grüße 5"),
    ("google-sheet.csv", lines("Question,Answer,Score\r\n", '"How, then?","Line 1\nLine ""2"" {n}",1'), "utf-8",
     "query context label", 5, 'Line 1\nLine "2" 5'),
    ("google-form.csv", lines('"Timestamp","What did you like?","What should we improve?"\n',
     '"2026/05/0{n} 3:04:05 PM GMT+2","The lamp was very nice and bright {n}","Nothing"', end="\n"), "utf-8",
     "- text -", 5, "The lamp was very nice and bright 5"),
    ("survey.csv", lines("Respondent ID;Start;Q1. Wie zufrieden?;Q2. Was fehlt Ihnen?\n",
     "10{n};2026-01-0{n} 10:00;{n};Mehr Lampen wären schön, finde ich {n}"), "utf-8", "id - - text", 5, "105"),
    ("numbers.csv", lines("Tabelle 1,,\nid,text,Preis\n", '{n},Ein Text über Lampen {n},"{n},90"', end="\n"), "utf-8",
     "id text -", 5, "5,90"),
    ("pandas-index.csv", lines(",text,score\n", '{n},"A text, so {n}",0.{n}', end="\n"), "utf-8", "- text label", 5,
     "A text, so 5"),
    ("r-csv2.csv", lines('"";"text";"score"\n', '"{n}";"ein Text {n}";0,{n}', end="\n"), "utf-8", "- text label", 5,
     "0,5"),
    ("r-table.txt", lines('"query" "text" "label"\n', '"{n}" "what is it" "an answer, {n}" 1', end="\n"), "utf-8",
     "- query context label", 5, "an answer, 5"),
    ("r-table-escaped.dat", '"text" "n"\n"a b" "say \\"hi\\" now" 1.5\n"b c" "plain" 2\n"c d" "third" NA\n', "utf-8",
     "- text -", 3, "third"),
    ("r-table-tabs.txt", lines("query\ttext\tlabel\n", "{n}\twhat is it\tan answer {n}\t1", end="\n"), "utf-8",
     "- query context label", 5, "an answer 5"),
    ("copy.txt", lines("", "{n}\tsome\\ttext {n}\t\\N", end="\n") + "\\.\n", "utf-8", "- text -", 5, "some\ttext 5"),
    ("copy-csv.csv", 'id,text,price\n1,"a ""b""",\n2,,""\n3,plain,x\n', "utf-8", "id text -", 3, "plain"),
    ("phpmyadmin.csv", lines('"id";"text";"n"\n', '"{n}";"Ein ""Text"" {n}";NULL', end="\n"), "utf-8", "id text -", 5,
     'Ein "Text" 5'),
    ("sqlcmd.csv", lines("id,text\n--,----\n", "{n},one text", end="\n") + "\n(5 rows affected)\n", "utf-8", "id text",
     5, "one text"),
    ("oracle.csv", '"ID","TEXT"\n1,"one"\n2,"two"\n\n2 rows selected. \n', "utf-8", "id text", 2, "two"),
    ("notepad.csv", "\ufeffid;text\r\n1;Erster äö\r\n2;Zweiter\r\n3;Dritter\r\n", "utf-16-be", "id text", 3, "Dritter"),
    ("no-mark.csv", "id;text\r\n1;Erster äö\r\n2;Zweiter\r\n3;Dritter\r\n", "utf-16-le", "id text", 3, "Dritter"),
    ("word.txt", lines("Frage\tAntwort\r\n", "Wie lange?\tZwei Tage, meist {n}"), "utf-16", "query context", 5,
     "Zwei Tage, meist 5"),
    ("jq.json", '{\n  "id": 1,\n  "text": "one"\n}\n{\n  "id": 2,\n  "text": "two"\n}\n', "utf-8", "id text", 2, "two"),
    ("nested-jq.json", '{"id": 1,\n"text": "a", "tags": [{"b": 1}, {"b": 2}]}\n{"id": 2,\n"text": "b", "tags": []}\n',
     "utf-8", "id text -", 2, "b"),
    ("shop.json", '{"products": [{"id": 1, "description": "one"}, {"id": 2, "description": "two"}], "page": 1}',
     "utf-8", "id text", 2, "two"),
    ("shop-indented.json", '{\n"total": 2,\n"products": [\n{"id": 1, "description": "one"},\n{"id": 2, "description": '
     '"two"}]}', "utf-8", "id text", 2, "two"),
    ("spaces.csv", 'id, text, label\n1, "one, and", 0\n2, "two, or", 1\n3, "three", 1\n', "utf-8", "id text label", 3,
     "three"),
    ("preamble.csv", lines("Bericht: Feedback\nZeitraum: 01.01. - 31.03.\n\nKundennr;Kommentar;Sterne\n",
     "K{n};War alles gut, danke {n};{n}", end="\n") + ";Gesamt;15\n", "utf-8",
     "id text -", 5, "War alles gut, danke 5"),
    ("decimal.csv", "x;y;text\n1,5;2,25;Erster Satz, hier\n2,5;3,25;Zweiter Satz\n", "utf-8", "- - text", 2, "3,25"),
    ("reviews.tsv", lines("review_id\tstar_rating\treview_headline\treview_body\n",
     'R{n}\t{n}\tGreat {n}\tI bought this "lamp" and it was 5" too long <br /> {n}', end="\n"), "utf-8",
     "id label - text", 5, 'I bought this "lamp" and it was 5" too long <br /> 5'),
    ("jira.csv", lines("Summary,Issue key,Status,Description,Comment,Comment\n",
     'Bug {n},AB-{n},Open,"Steps, to do this again at home:\n* one {n}",x,y', end="\n"), "utf-8",
     "- id - text - -", 5, "AB-5"),
    ("helpdesk.csv", lines('"Id","Subject","Description","Tags"\n',
     '"{n}","It is broken {n}","Hello, my lamp is broken since yesterday. Please help me {n}.","a b"', end="\n"),
     "utf-8", "id - text -", 5, "It is broken 5"),
    ("cafe.csv", lines('"Name","Address","Review"\n', '"Café {n}","Rue {n}, Paris","Très bon café, un peu cher {n}"'),
     "mac_roman", "? - - text", 5, "Café 5"),
    ("groups.csv", lines("Lampen,,,\nid,text,price,\n", "{n},Eine Lampe {n},{n}.90,", end="\n"), "utf-8",
     "id text -", 5, "Eine Lampe 5"),
    ("two-marks.csv", "\ufeff\ufeffid,text\n1,one\n2,two\n3,three\n", "utf-8", "id text", 3, "three"),
    ("mixed-ends.csv", "id,text\r\n1,one\n2,two\r3,three\r\n4,four\n", "utf-8", "id text", 4, "four"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "encoding", "roles", "count", "cell"), CASES, ids=[case[0] for case in CASES])
def test_read_as_it_is_meant(
    tmp_path: Path, name: str, text: str, encoding: str, roles: str, count: int, cell: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    source = open_source(path)
    mapping = suggest_mapping(source, None, preview(source))
    assert check_mapping(mapping, source) == ""
    found = " ".join("-" if role == "keep" else role for role in mapping.roles)
    assert ("? " if source.is_encoding_guessed else "") + found == roles
    rows = list(read_rows(source))
    assert (len(rows), [row.problem for row in rows]) == (count, [""] * count)
    assert cell in rows[-1].cells


def test_a_header_that_stands_once_more_is_a_problem_and_no_text(tmp_path: Path) -> None:
    path = tmp_path / "together.csv"
    path.write_text("id,text\n1,one\n2,two\nid,text\n3,three\n" + "4,four\n" * 9_000 + "id,text\n5,five\n")
    source = open_source(path)
    rows = list(read_rows(source))
    assert source.columns == ("id", "text")
    assert [(row.number, row.problem) for row in rows if row.problem] == [
        (4, "This row repeats the names of the columns."),
        (9_006, "This row repeats the names of the columns."),
    ]
    assert len(rows) == 9_006
    path.write_text("text\none\ntext\ntwo\n")  # in a single column it may be part of a text
    assert not any(row.problem for row in read_rows(open_source(path)))


def test_a_quotation_mark_that_hides_all_rows_is_named(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text('id,text\n1,"one\n2,two\n3,three\n')  # rows of the right width are read all the same
    assert [(row.number, bool(row.problem)) for row in read_rows(open_source(path))] == [
        (2, True),
        (3, False),
        (4, False),
    ]
    path.write_text('id,text\n1,"one\ntwo\nthree\n')
    with pytest.raises(InputError, match="quotation mark opens in row 2"):
        open_source(path)


def test_sentences_with_quoted_words_are_no_table(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for text in ('He said "yes"\nShe said "no"\nI said "so"\n', '"One" "two"\n"Three" four\nfive six\n'):
        path.write_text(text)
        assert [row.cells for row in read_rows(open_source(path))] == [(line,) for line in text.splitlines()]


def test_a_table_with_spaces_is_opened_again_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text('"id" "text"\n1 "one"\n2 "two, or ""three"""\n3 "so"\n')
    source = open_source(path)
    assert open_source(path, ReadOptions(separator=source.separator, has_header=True)) == source
    assert [row.cells for row in read_rows(source)] == [("1", "one"), ("2", 'two, or "three"'), ("3", "so")]


def test_questions_as_data_are_data(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("What is this lamp made of?,5\nHow much is it?,4\nWho made it?,3\nWhy is that?,2\n")
    assert not open_source(path).has_header
