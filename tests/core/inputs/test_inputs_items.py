"""From files to items: every row yields an item or a problem, no empty text is sent, and no text is altered."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import (
    Context,
    Kind,
    Layout,
    Mapping,
    Problem,
    ProblemKind,
    Query,
    ReadOptions,
    Role,
    Text,
)
from cfbatch_gui.core.inputs.items import read_items
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from tests.core.inputs.files import C, I, L, Q, T


def items(tmp_path: Path, data: str, kind: Kind, layout: Layout, roles: Iterable[Role]) -> list[object]:
    path = tmp_path / "a.csv"
    path.write_text(data, encoding="utf-8", newline="")
    source = open_source(path, ReadOptions(separator=",", has_header=True))
    return list(read_items(source, Mapping(kind, layout, tuple(roles))))


def test_texts(tmp_path: Path) -> None:
    data = 'id,text,category\n 007 , a text ,red\n8,"  ",blue\n9\n,\u00a0,\n10,b,c,d\n'
    assert items(tmp_path, data, Kind.EMBED, Layout.TEXTS, (I, T, L)) == [
        Text(2, " a text ", " 007 ", "red"),
        Problem(3, ProblemKind.EMPTY_TEXT, "There is no text in “text”."),
        Problem(4, ProblemKind.UNREADABLE_ROW, "This row has 1 cell, but the file has 3 columns.", raw="9"),
        Problem(5, ProblemKind.EMPTY_TEXT, "There is no text in “text”."),
        Problem(6, ProblemKind.UNREADABLE_ROW, "This row has 4 cells, but the file has 3 columns.", raw="10,b,c,d"),
    ]


def test_pairs_come_one_by_one_under_their_query(tmp_path: Path) -> None:
    data = "q,t,id,label\nwhy,because,1,2\nwhy,no idea,1,0\n,lonely,3,\nwho, ,4,\n\nwho,me,5,1\n"
    found = items(tmp_path, data, Kind.RANK, Layout.LONG, (Q, C, I, L))
    assert found == [
        Query(2, "why", "", (Context(2, "because", "1", "2"),)),
        Query(3, "why", "", (Context(3, "no idea", "1", "0"),)),
        Problem(4, ProblemKind.EMPTY_QUERY, "There is no query in “q”."),
        Problem(5, ProblemKind.EMPTY_CONTEXT, "There is no text in “t”."),
        Query(7, "who", "", (Context(7, "me", "5", "1"),)),
    ]


@pytest.mark.parametrize("blank", ["", " \t", "\u200b", "\ufeff\u2060", " \u200d\u00ad ", "\u3000"])
def test_what_cannot_be_seen_is_no_text(tmp_path: Path, blank: str) -> None:
    found = items(tmp_path, f'text\none\n"{blank}"\n\u200btwo\n', Kind.EMBED, Layout.TEXTS, (Role.TEXT,))
    assert [type(each) for each in found] == [Text, Problem, Text]
    folder = JobFolder(tmp_path / "job")
    source = open_source(tmp_path / "a.csv", ReadOptions(has_header=True))
    assert fill(folder, source, Mapping(Kind.EMBED, Layout.TEXTS, (Role.TEXT,))).problems == 1


def test_an_empty_cell_among_columns_only_means_fewer_contexts(tmp_path: Path) -> None:
    data = "id,q,a1,a2\n1,why,because,\n2,who,, \n3,,x,y\n4,how,so,thus\n"
    assert items(tmp_path, data, Kind.RANK, Layout.WIDE, (I, Q, C, C)) == [
        Query(2, "why", "1", (Context(2, "because"),)),
        Problem(3, ProblemKind.EMPTY_CONTEXT, "The query has no context: all its columns are empty."),
        Problem(4, ProblemKind.EMPTY_QUERY, "There is no query in “q”."),
        Query(5, "how", "4", (Context(5, "so"), Context(5, "thus"))),
    ]


def test_contexts_in_one_cell(tmp_path: Path) -> None:
    cells = [
        '["one", {"text": "two", "id": 2.0, "label": 1}]',
        "first line\r\n\nsecond line ",
        '["a", " ", "b"]',
        "[]",
        "[broken",
        '["a", {"body": null}, {"name": "b"}]',
        "[" * 100_000,
        "",
    ]
    data = "q,c\n" + "".join('why,"' + cell.replace('"', '""') + '"\n' for cell in cells)
    found = items(tmp_path, data, Kind.RANK, Layout.NESTED, (Q, C))
    assert found[:5] == [
        Query(2, "why", "", (Context(2, "one"), Context(2, "two", "2.0", "1"))),
        Query(3, "why", "", (Context(3, "first line"), Context(3, "second line "))),
        Query(4, "why", "", (Context(4, "a"), Context(4, "b"))),
        Problem(4, ProblemKind.EMPTY_CONTEXT, "Item 2 of the list of contexts is empty."),
        Problem(5, ProblemKind.EMPTY_CONTEXT, "The query has no context in “c”."),
    ]
    rest = [item for item in found[5:] if isinstance(item, Problem)]
    assert [problem.kind for problem in rest] == [ProblemKind.UNREADABLE_ROW] * 3 + [ProblemKind.EMPTY_CONTEXT]
    assert rest[0].reason == "The list of contexts is not valid JSON: character 2 is wrong."
    assert rest[1].reason == "Item 3 of the list of contexts is neither a text nor an object with “text”."
    assert "nested too deeply" in rest[2].reason


def test_shared_contexts_come_before_the_queries(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"text":"why"}\n\n{"text":"who"}\n')
    (tmp_path / "c.csv").write_text("id,text\n01,one\n02,\n03,three\n")
    first, second = open_source(tmp_path / "q.jsonl"), open_source(tmp_path / "c.csv")
    mapping = suggest_mapping(first, None, preview(first), second, preview(second))
    seen: list[int] = []
    assert list(read_items(first, mapping, second, progress=seen.append)) == [
        Context(2, "one", "01"),
        Problem(3, ProblemKind.EMPTY_CONTEXT, "There is no text in “text”.", 2),
        Context(4, "three", "03"),
        Query(1, "why", "", ()),
        Problem(2, ProblemKind.EMPTY_QUERY, "There is no query in “text”."),
        Query(3, "who", "", ()),
    ]
    assert seen


@given(st.lists(st.text(max_size=8) | st.sampled_from(["", " ", "\n", '"']), max_size=8))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_row_yields_exactly_one_thing(tmp_path: Path, texts: list[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in ["x", *texts]), encoding="utf-8")
    source = open_source(path)
    found = list(read_items(source, Mapping(Kind.EMBED, Layout.TEXTS, (T,))))
    assert [item.row for item in found] == list(range(1, len(texts) + 2))
    for item, text in zip(found[1:], texts, strict=True):
        if isinstance(item, Text):
            assert item.text == text.replace("\0", "\ufffd")
        else:
            assert not text.strip()
