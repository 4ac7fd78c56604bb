"""`cfbatch check` prints what would be sent, sends nothing and leaves no job behind."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.cli.reading import candidate_rule, column_role, words_of_rule
from cfbatch_gui.core.inputs.input_values import Role
from cfbatch_gui.core.inputs.recognise import recogniser
from tests.cli.conftest import Run
from tests.core.inputs.files import data_set

ROWS = "id,title,body\n1,Lamp,It is warm\n2,Chair,It is cold\n3,Lamp,It is warm\n4,,\n"

CLOSE = ("cp1252", "mac_roman")  # readings of a file with nothing but "É" beyond ASCII


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "products.csv"
    path.write_text(ROWS)
    return path


def test_the_sums_in_words_and_as_json(run: Run, tmp_path: Path, path: Path) -> None:
    status, out, _ = run("check", str(path), "--embed", "--template", "{title}. {body}")
    assert status == 0
    assert "A table separated by commas, with a header, in UTF-8." in out
    assert "1 text comes more than once." in out
    assert "row 5: There is no text in any column of the template." in out
    status, out, _ = run("check", str(path), "--embed", "--template", "{title}. {body}", "--json")
    facts = json.loads(out)
    assert (status, facts["rows"], facts["texts"], facts["repeated_texts"], facts["requests"]) == (0, 4, 3, 1, 1)
    (problem,) = facts["problems"]
    assert (problem["file"], problem["row"], problem["kind"]) == (1, 5, "empty_text")
    assert problem["reason"] == "There is no text in any column of the template."
    assert not (tmp_path / "data" / "jobs").exists()


def test_what_is_open_is_an_object_too(run: Run, tmp_path: Path, path: Path) -> None:
    old, numbers = tmp_path / "old.csv", tmp_path / "numbers.csv"
    old.write_bytes("id;text\n1;one\n2;É\n".encode("cp1252"))
    numbers.write_text("id,price\n1,2\n2,3\n")
    no_roles = ("--role", "title=keep", "--role", "body=keep")
    for arguments, answer, columns in (
        ([str(old), "--embed"], ["--encoding", CLOSE[0]], None),
        ([str(path)], ["--rank"], None),
        ([str(path), "--rank", *no_roles], None, ["id", "title", "body"]),
    ):
        status, out, err = run("check", *arguments, "--json")
        said = json.loads(out)
        assert (status, next(iter(said["answers"]), None), said["columns"]) == (2, answer, columns), arguments
        assert said["sentence"] in err
    for command in ("check", "run"):
        status, _, err = run(command, str(old), "--embed", "--connection", "practice")
        assert status == 2 and "Choose with --encoding cp1252 or --encoding " in err
    status, out, _ = run("check", str(old), "--embed", "--json", "--encoding", "cp1252")
    assert (status, json.loads(out)["texts"]) == (0, 2)


def test_what_is_not_utf8_far_down_is_asked_about(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.csv"
    monkeypatch.setattr(recogniser, "MOST_CHECKED", 1_000_000)
    path.write_bytes(b"id,text\n" + b"1,cloud\n" * 150_000 + "2,Müll und Öl für die Straße\n".encode("cp1252"))
    status, _, err = run("check", str(path), "--embed", "--role", "text=text")
    assert (status, "Choose with --encoding cp1252" in err) == (2, True)


def test_plain_text_is_cut_as_asked(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "story.txt"
    path.write_text("One.\nStill one.\n\nTwo.\n")
    for unit, texts in (("line", 3), ("paragraph", 2), ("file", 1)):
        _, out, _ = run("check", str(path), "--embed", "--texts-by", unit, "--json")
        assert json.loads(out)["texts"] == texts


def test_a_header_that_is_not_sure_is_said_and_answered(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("Berlin,Germany\nParis,France\nRome,Italy\nVienna,Austria\n")
    _, out, _ = run("check", str(path), "--embed")
    assert "A table separated by commas, the first row looks like data, in UTF-8." in out
    assert "If it is a header, say so by --header yes." in out
    found = []
    for answer in ((), ("--header", "no"), ("--header", "yes")):
        status, out, _ = run("check", str(path), "--embed", *answer, "--json")
        facts = json.loads(out)
        found.append((status, facts["rows"], facts["files"][0]["has_header"], facts["files"][0]["is_header_sure"]))
    assert found == [(0, 4, False, False), (0, 4, False, True), (0, 3, True, True)]
    assert "--header" not in run("check", str(path), "--embed", "--header", "yes")[1]


def test_check_says_which_candidates_are_taken_and_takes_those_that_are_asked_for(run: Run, tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set")
    status, out, _ = run("check", folder, "--rank")
    assert status == 0 and "“sample:50”" in out
    for choice, texts in (("sample:50", 100), ("judged", 3), ("corpus", 240)):
        _, out, _ = run("check", folder, "--rank", "--candidates", choice, "--json")
        facts = json.loads(out)
        assert (facts["texts"], facts["candidates"]) == (texts, choice)


def test_a_file_that_names_its_candidates_takes_no_choice(run: Run, tmp_path: Path) -> None:
    folder = data_set(tmp_path / "set")
    (folder / "bm25.run").write_text("q1 Q0 d003 1 2.5 tag\n")
    table = tmp_path / "a.csv"
    table.write_text("query,text\nwhy,because\n")
    for path in (folder, table):
        status, _, err = run("check", path, "--rank", "--candidates", "corpus")
        assert status == 2
        assert f"{path.name} says itself what belongs to each query." in err
        _, out, _ = run("check", path, "--rank", "--json")
        assert json.loads(out)["candidates"] is None


def test_words_as_they_are_typed() -> None:
    for words in ("judged", "corpus", "sample:50", "sample:7"):
        assert words_of_rule(candidate_rule(words)) == words
    assert column_role("a = b=QUERY") == ("a = b", Role.QUERY)
    wrong: dict[Callable[[str], object], tuple[str, ...]] = {
        candidate_rule: ("all", "sample:", "sample:0", "sample:many", "judged:3", ""),
        column_role: ("title", "=text", "title=", "title=tekst"),
    }
    for read, texts in wrong.items():
        for text in texts:
            with pytest.raises(ValueError):
                read(text)


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_what_the_user_says_stands_above_the_guess(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "query,text,answer,note", "q1,t1,a1,n1", "q1,t2,a2,n2")
    _, out, _ = run("check", file, "--rank", "--role", "answer=context", "--role", "NOTE=label", "--json")
    facts = json.loads(out)
    assert facts["layout"] == "long"
    assert facts["roles"] == {"query": "query", "text": "keep", "answer": "context", "note": "label"}
