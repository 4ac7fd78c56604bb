import argparse
from pathlib import Path

import pytest

from cfbatch_gui.cli.reading import ColumnRole, column_role, open_inputs
from cfbatch_gui.core.errors import InputError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind, Layout, Role


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_role_as_it_is_typed() -> None:
    assert column_role("title=text") == ColumnRole("title", Role.TEXT)
    assert column_role("a = b=QUERY") == ColumnRole("a = b", Role.QUERY)


@pytest.mark.parametrize("text", ["title", "=text", "title=", "title=tekst", ""])
def test_what_is_no_role_is_said(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        column_role(text)


def test_what_the_user_says_stands_above_the_guess(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "query,text,answer,note", "q1,t1,a1,n1", "q1,t2,a2,n2")
    inputs = open_inputs(Kind.RANK, file, None, [ColumnRole("answer", Role.CONTEXT), ColumnRole("NOTE", Role.LABEL)])
    assert inputs.mapping.layout is Layout.LONG
    assert inputs.mapping.roles == (Role.QUERY, Role.KEEP, Role.CONTEXT, Role.LABEL)


def test_several_contexts_make_a_wide_table(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "q,a,b", "q1,a1,b1")
    roles = [ColumnRole("q", Role.QUERY), ColumnRole("a", Role.CONTEXT), ColumnRole("b", Role.CONTEXT)]
    assert open_inputs(Kind.RANK, file, None, roles).mapping.layout is Layout.WIDE


def test_columns_of_the_second_file(tmp_path: Path) -> None:
    file = write(tmp_path / "q.csv", "id,text", "1,first question", "2,second question")
    second = write(tmp_path / "c.csv", "id,text,body", "a,x,an answer", "b,y,another answer")
    inputs = open_inputs(Kind.RANK, file, second, [ColumnRole("text", Role.QUERY), ColumnRole("body", Role.CONTEXT)])
    assert inputs.mapping.layout is Layout.SHARED
    assert inputs.mapping.roles[1] is Role.QUERY
    assert inputs.mapping.second_roles[1:] == (Role.KEEP, Role.CONTEXT)


def test_an_unknown_column_is_said_with_those_there_are(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "query,text", "q1,t1")
    with pytest.raises(UsageError, match=r"There is no column “txt”\. The columns are “query”, “text”"):
        open_inputs(Kind.RANK, file, None, [ColumnRole("txt", Role.CONTEXT)])


def test_a_column_that_is_missing_is_said_with_how_to_name_it(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "query,text", "q1,t1")
    with pytest.raises(InputError, match=r"Use --role COLUMN=ROLE. a.csv has the columns “query”, “text”"):
        open_inputs(Kind.RANK, file, None, [ColumnRole("query", Role.IGNORE)])
