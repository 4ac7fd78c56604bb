"""From files to items: every row yields an item or a problem; layouts and roles, guessed and changed by hand."""

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfbatch_gui.core.inputs.column_names import complete_names
from cfbatch_gui.core.inputs.input_values import (
    FileFormat,
    Kind,
    Layout,
    Mapping,
    Problem,
    ProblemKind,
    Query,
    ReadOptions,
    Role,
    Source,
    Text,
)
from cfbatch_gui.core.inputs.items import read_items
from cfbatch_gui.core.inputs.layouts import check_mapping, missing_file, with_layout, with_role
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.job_folder.filling import fill
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message, quoted
from tests.core.inputs.files import C, I, K, L, Q, T, opened, suggested, wrong_width
from tests.support.sentences import code_of


def items(tmp_path: Path, data: str, kind: Kind, layout: Layout, roles: Iterable[Role]) -> list[object]:
    source = opened(tmp_path / "a.csv", data, ReadOptions(separator=",", has_header=True))
    return list(read_items(source, Mapping(kind, layout, tuple(roles))))


def test_texts(tmp_path: Path) -> None:
    data = 'id,text,category\n 007 , a text ,red\n8,"  ",blue\n9\n,\u00a0,\n10,b,c,d\n'
    assert items(tmp_path, data, Kind.EMBED, Layout.TEXTS, (I, T, L)) == [
        Text(2, " a text ", " 007 ", "red"),
        Problem(3, ProblemKind.EMPTY_TEXT, message("there_is_no_text_column", column=quoted("text"))),
        Problem(4, ProblemKind.UNREADABLE_ROW, wrong_width(1, 3), raw="9"),
        Problem(5, ProblemKind.EMPTY_TEXT, message("there_is_no_text_column", column=quoted("text"))),
        Problem(6, ProblemKind.UNREADABLE_ROW, wrong_width(4, 3), raw="10,b,c,d"),
    ]


def test_pairs_come_one_by_one_under_their_query(tmp_path: Path) -> None:
    data = "q,t,id,label\nwhy,because,1,2\nwhy,no idea,1,0\n,lonely,3,\nwho, ,4,\n\nwho,me,5,1\n"
    found = items(tmp_path, data, Kind.RANK, Layout.LONG, (Q, C, I, L))
    assert found == [
        Query(2, "why", "", (Text(2, "because", "1", "2"),)),
        Query(3, "why", "", (Text(3, "no idea", "1", "0"),)),
        Problem(4, ProblemKind.EMPTY_QUERY, message("there_is_no_query_column", column=quoted("q"))),
        Problem(5, ProblemKind.EMPTY_CONTEXT, message("there_is_no_text_column", column=quoted("t"))),
        Query(7, "who", "", (Text(7, "me", "5", "1"),)),
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
        Query(2, "why", "1", (Text(2, "because"),)),
        Problem(3, ProblemKind.EMPTY_CONTEXT, message("query_no_context_all_columns_are")),
        Problem(4, ProblemKind.EMPTY_QUERY, message("there_is_no_query_column", column=quoted("q"))),
        Query(5, "how", "4", (Text(5, "so"), Text(5, "thus"))),
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
        Query(2, "why", "", (Text(2, "one"), Text(2, "two", "2.0", "1"))),
        Query(3, "why", "", (Text(3, "first line"), Text(3, "second line "))),
        Query(4, "why", "", (Text(4, "a"), Text(4, "b"))),
        Problem(4, ProblemKind.EMPTY_CONTEXT, message("item_position_list_contexts_is_empty", position=2)),
        Problem(5, ProblemKind.EMPTY_CONTEXT, message("query_no_context_column", column=quoted("c"))),
    ]
    rest = [item for item in found[5:] if isinstance(item, Problem)]
    assert [problem.kind for problem in rest] == [ProblemKind.UNREADABLE_ROW] * 3 + [ProblemKind.EMPTY_CONTEXT]
    assert code_of(rest[0].reason) == "list_contexts_is_not_valid_json"
    assert rest[1].reason == message("item_position_list_contexts_is_neither", position=3)
    assert code_of(rest[2].reason) == "list_contexts_is_not_valid_json"


def test_shared_contexts_come_before_the_queries(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"text":"why"}\n\n{"text":"who"}\n')
    (tmp_path / "c.csv").write_text("id,text\n01,one\n02,\n03,three\n")
    first, second = open_source(tmp_path / "q.jsonl"), open_source(tmp_path / "c.csv")
    mapping = suggested(first, Kind.RANK, second)
    seen: list[int] = []
    assert list(read_items(first, mapping, second, progress=seen.append)) == [
        Text(2, "one", "01"),
        Problem(3, ProblemKind.EMPTY_CONTEXT, message("there_is_no_text_column", column=quoted("text")), 2),
        Text(4, "three", "03"),
        Query(1, "why", "", ()),
        Problem(2, ProblemKind.EMPTY_QUERY, message("there_is_no_query_column", column=quoted("text"))),
        Query(3, "who", "", ()),
    ]
    assert seen


@given(st.lists(st.text(max_size=8) | st.sampled_from(["", " ", "\n", '"']), max_size=8))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_row_yields_exactly_one_thing(tmp_path: Path, texts: list[str]) -> None:
    source = opened(tmp_path / "a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in ["x", *texts]))
    found = list(read_items(source, Mapping(Kind.EMBED, Layout.TEXTS, (T,))))
    assert [item.row for item in found] == list(range(1, len(texts) + 2))
    for item, text in zip(found[1:], texts, strict=True):
        if isinstance(item, Text):
            assert item.text == text.replace("\0", "\ufffd")
        else:
            assert not text.strip()


EXAMPLES = Path(__file__).parents[3] / "resources" / "examples"
LONG = "Open the sign-in page, choose “I cannot sign in” and follow the link that we send you."


def guess(tmp_path: Path, table: list[list[str]], kind: Kind | None = None) -> Mapping:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(table)
    source = opened(tmp_path / "a.csv", text.getvalue())
    return suggested(source, kind)


PAIRS = [
    ["how do I reset my password", LONG, "A-1", "2"],
    ["how do I reset my password", f"Delivery. {LONG}", "A-2", "0"],
    ["refund for an order", f"Refunds. {LONG}", "A-3", "1"],
    ["refund for an order", f"Invoices. {LONG}", "A-4", "0"],
]


def test_pairs_without_a_header_are_known_by_repetition(tmp_path: Path) -> None:
    assert guess(tmp_path, PAIRS, Kind.RANK).roles[:2] == (Q, C)
    ms_marco = [[str(100 + i // 2), str(7000 + i), *row[:2]] for i, row in enumerate(PAIRS)]
    assert guess(tmp_path, ms_marco, Kind.RANK) == Mapping(Kind.RANK, Layout.LONG, (Role.QUERY_ID, I, Q, C))


def test_two_files_are_queries_and_shared_contexts(tmp_path: Path) -> None:
    queries, texts = tmp_path / "q.txt", EXAMPLES / "product-texts.csv"
    queries.write_text("a pan for pancakes\na tent\n")
    first, second = open_source(queries), open_source(texts)
    mapping = suggested(first, Kind.RANK, second)
    assert mapping == Mapping(Kind.RANK, Layout.SHARED, (Q,), (I, C, K))  # a category is no judgement for every query
    assert check_mapping(mapping, first, second) == ""
    assert check_mapping(mapping, first) == message("add_second_file_holds_contexts_all")
    moved = with_role(mapping, 2, Role.TEXT, second=True)
    assert moved.second_roles == (I, K, C)
    lacking = check_mapping(with_role(moved, 2, K, second=True), first, second)
    assert code_of(lacking) == "choose_column_second_file_holds_contexts"
    assert check_mapping(with_role(moved, 0, C), first, second) == message("choose_column_holds_query")
    assert with_role(mapping, 2, L, second=True) == mapping


def test_codes_are_ids_and_no_texts(tmp_path: Path) -> None:
    for names, codes, roles in (
        ("ticket,message", ("T-1000", "T-1001", "T-1002"), (I, T)),
        ("reference,remark", ("AB 12", "AB 13", "CD 14"), (I, T)),
        ("size,remark", ("DN50", "DN50", "DN80"), (K, T)),  # not one for each row
    ):
        source = opened(
            tmp_path / "a.csv", names + "\n" + "".join(f"{code},It does not turn on any more\n" for code in codes)
        )
        assert suggested(source, Kind.EMBED).roles == roles, names


def test_a_file_of_texts_has_no_queries_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{n},Title number {n},An abstract of several words that says more about number {n}" for n in range(5)]
    source = opened(path, "nr,title,abstract\n" + "\n".join(rows) + "\n")
    mapping = suggested(source, Kind.RANK)
    assert mapping.roles == (I, K, C)
    assert missing_file(mapping, None) is Role.QUERY
    source = opened(path, path.read_text().replace("title,abstract", "question,answer"))
    assert check_mapping(suggested(source, Kind.RANK), source) == ""


# Changes by hand


def test_the_layout_follows_the_roles() -> None:
    mapping = Mapping(Kind.RANK, Layout.LONG, (Q, C, K))
    wide = with_role(mapping, 2, Role.TEXT)
    assert (wide.layout, wide.roles) == (Layout.WIDE, (Q, C, C))
    assert with_role(wide, 1, Role.IGNORE).layout is Layout.LONG
    nested = Mapping(Kind.RANK, Layout.NESTED, (Q, C, K))
    assert with_role(nested, 2, Role.ID).layout is Layout.NESTED
    assert with_role(with_role(nested, 1, K), 2, C).layout is Layout.LONG
    assert with_layout(wide, Layout.NESTED) == Mapping(Kind.RANK, Layout.NESTED, (Q, C, K))
    assert with_layout(mapping, Layout.TEXTS) == mapping


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from(list(Role))), max_size=12),
    st.sampled_from([(Kind.RANK, Layout.LONG), (Kind.RANK, Layout.NESTED), (Kind.EMBED, Layout.TEXTS)]),
)
def test_any_changes_keep_the_mapping_valid(changes: list[tuple[int, Role]], start: tuple[Kind, Layout]) -> None:
    mapping = Mapping(*start, (K,) * 5)
    for column, role in changes:
        mapping = with_role(mapping, column, role)
        for once in (Q, T, I, L):
            assert mapping.roles.count(once) <= 1
        assert (mapping.roles.count(C) > 1) == (mapping.layout is Layout.WIDE)
        assert (T if mapping.kind is Kind.RANK else C) not in mapping.roles


@pytest.mark.parametrize(
    ("mapping", "missing", "code"),
    [
        (Mapping(Kind.RANK, Layout.LONG, (K, K)), None, "choose_column_holds_query_one_holds"),
        (Mapping(Kind.RANK, Layout.LONG, (Q, C)), None, ""),
        (Mapping(Kind.RANK, Layout.LONG, (Q, K)), C, "choose_column_holds_contexts_or_add"),
        (Mapping(Kind.RANK, Layout.CANDIDATES, (Q, I)), C, "add_second_file_holds_texts_their"),
        (Mapping(Kind.RANK, Layout.SHARED, (Q, K), (C,)), C, "add_second_file_holds_contexts_all"),
        (Mapping(Kind.RANK, Layout.LONG, (K, C)), Q, "choose_column_holds_query_or_add"),
        (Mapping(Kind.EMBED, Layout.TEXTS, (K, I)), None, "choose_column_holds_text"),
    ],
)
def test_where_a_second_file_would_help_the_sentence_asks_for_it(
    mapping: Mapping, missing: Role | None, code: str
) -> None:
    source = Source(Path("a.csv"), FileFormat.DELIMITED, ("one", "two"), 10)
    assert (missing_file(mapping, None), code_of(check_mapping(mapping, source))) == (missing, code)
    assert missing_file(mapping, source) is None


# Headers and separators


def test_names_are_unique_and_never_empty() -> None:
    assert complete_names(["text", "", "text", " a\n b "], 5) == ("text", "Column 2", "text (2)", "a b", "Column 5")
    assert complete_names(["a (2)", "a", "a"], 3) == ("a (2)", "a", "a (3)")
