"""`cfbatch check` prints what would be sent, sends nothing and leaves no job behind."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cfbatch_gui.cli.reading import candidate_rule, column_role, words_of_rule
from cfbatch_gui.core.inputs import encodings
from cfbatch_gui.core.inputs.input_values import Role
from tests.core.inputs.files import data_set
from tests.journeys.terminal import Terminal

FILES = {
    "products.csv": "id,title,body\n1,Lamp,It is warm\n2,Chair,It is cold\n3,Lamp,It is warm\n4,,\n",
    "story.txt": "One.\nStill one.\n\nTwo.\n",
    "pairs.csv": "Berlin,Germany\nParis,France\nRome,Italy\nVienna,Austria\n",
    "found.txt": "TY  - JOUR\nTI  - One\nAB  - First.\n\nSecond.\nID  - 1\nER  -\nTY  - JOUR\nTI  - Two\nID  - 2\n",
    "answers.csv": "query,text,answer,note\nq1,t1,a1,n1\nq1,t2,a2,n2\n",
}
CLOSE = ("cp1252", "mac_roman")  # readings of a file with nothing but "É" beyond ASCII


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    Path("old.csv").write_bytes("id;text\n1;one\n2;É\n".encode("cp1252"))
    data_set(Path("set"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("story.txt --embed --texts-by line", {"texts": 3}),
        ("story.txt --embed --texts-by paragraph", {"texts": 2}),
        ("story.txt --embed --texts-by file", {"texts": 1}),
        ("found.txt --embed", {"rows": 2, "texts": 2, "template": "{title}. {abstract}"}),
        ("pairs.csv --embed", {"rows": 4, "has_header": False, "is_header_sure": False}),
        ("pairs.csv --embed --header no", {"rows": 4, "has_header": False, "is_header_sure": True}),
        ("pairs.csv --embed --header yes", {"rows": 3, "has_header": True, "is_header_sure": True}),
        ("set --rank", {"texts": 100, "candidates": "sample:50"}),
        ("set --rank --candidates judged", {"texts": 3, "candidates": "judged"}),
        ("set --rank --candidates corpus", {"texts": 240, "candidates": "corpus"}),
        ("answers.csv --rank", {"candidates": None}),
        ("old.csv --embed --encoding cp1252", {"texts": 2}),
        (
            "answers.csv --rank --role answer=context --role NOTE=label",
            {"layout": "long", "roles": {"query": "query", "text": "keep", "answer": "context", "note": "label"}},
        ),
    ],
)
def test_files_are_read_as_the_arguments_say(terminal: Terminal, arguments: str, expected: dict[str, object]) -> None:
    ended = terminal.run("check", *arguments.split(), "--json")
    assert ended.status == 0
    assert expected.items() <= (ended.json["files"][0] | ended.json).items()


def test_the_sums_in_words_and_as_json(terminal: Terminal, tmp_path: Path) -> None:
    arguments = ("check", "products.csv", "--embed", "--template", "{title}. {body}")
    facts = terminal.run(*arguments, "--json").json
    assert (facts["rows"], facts["texts"], facts["repeated_texts"], facts["requests"]) == (4, 3, 1, 1)
    (problem,) = facts["problems"]
    assert (problem["file"], problem["row"], problem["kind"]) == (1, 5, "empty_text")
    ended = terminal.run(*arguments)
    assert ended.status == 0
    assert all(words in ended.out for words in (*facts["notices"], problem["reason"]))
    assert not (tmp_path / "data" / "jobs").exists()


@pytest.mark.parametrize(
    ("arguments", "answer", "columns"),
    [
        (["old.csv", "--embed"], ["--encoding", CLOSE[0]], None),
        (["products.csv"], ["--rank"], None),
        (["products.csv", "--rank", "--role", "title=keep", "--role", "body=keep"], None, ["id", "title", "body"]),
    ],
)
def test_what_is_open_is_an_object_too(
    terminal: Terminal, arguments: list[str], answer: list[str] | None, columns: list[str] | None
) -> None:
    ended = terminal.run("check", *arguments, "--json")
    assert (ended.status, next(iter(ended.json["answers"]), None), ended.json["columns"]) == (2, answer, columns)
    assert ended.json["sentence"] in ended.err
    ended = terminal.run("run", *arguments, "--connection", "practice")
    assert ended.status == 2 and all(each in ended.err for each in answer or ())


def test_what_is_not_utf8_far_down_is_asked_about(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "MOST_CHECKED", 1_000_000)
    Path("large.csv").write_bytes(
        b"id,text\n" + b"1,cloud\n" * 150_000 + "2,Müll und Öl für die Straße\n".encode("cp1252")
    )
    ended = terminal.run("check", "large.csv", "--embed", "--role", "text=text")
    assert ended.status == 2 and "--encoding cp1252" in ended.err


def test_a_file_that_names_its_candidates_takes_no_choice(terminal: Terminal) -> None:
    (Path("set") / "bm25.run").write_text("q1 Q0 d003 1 2.5 tag\n")
    for path in ("set", "answers.csv"):
        ended = terminal.run("check", path, "--rank", "--candidates", "corpus")
        assert ended.status == 2 and path in ended.err
        assert terminal.run("check", path, "--rank", "--json").json["candidates"] is None


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
