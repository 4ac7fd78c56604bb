"""`cfbatch check` says what would be sent, sends nothing and leaves nothing."""

import json
from pathlib import Path

import pytest

from cfbatch_gui.cli.main import main
from cfbatch_gui.cli.reading import split_size
from cfbatch_gui.core.inputs.model import Split

ROWS = "id,title,body\n1,Lamp,It is warm\n2,Chair,It is cold\n3,Lamp,It is warm\n4,,\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "products.csv"
    path.write_text(ROWS)
    return path


def check(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> tuple[int, str, str]:
    status = main(["check", *arguments, "--data-dir", str(tmp_path / "data")])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_facts_in_words_and_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path, path: Path) -> None:
    status, out, _ = check(capsys, tmp_path, str(path), "--embed", "--template", "{title}. {body}")
    assert status == 0
    assert "A table separated by commas, with a header, in UTF-8." in out
    assert "1 text comes more than once." in out
    assert "row 5: There is no text in any column of the template." in out
    status, out, _ = check(capsys, tmp_path, str(path), "--embed", "--template", "{title}. {body}", "--json")
    facts = json.loads(out)
    assert (status, facts["rows"], facts["texts"], facts["repeated_texts"], facts["requests"]) == (0, 4, 3, 1, 1)
    assert facts["problems"] == [
        {"file": 1, "row": 5, "kind": "empty_text", "reason": "There is no text in any column of the template."}
    ]
    assert not (tmp_path / "data" / "jobs").exists()


def test_what_cannot_be_done_is_a_sentence_and_status_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, path: Path
) -> None:
    for arguments, sentence in (
        ((str(path), "--rank", "--role", "title=keep", "--role", "body=keep"), "Choose the column that holds the"),
        ((str(path), "--embed", "--template", "{colour}"), "There is no column “colour” for the template."),
        ((str(path), "--embed", "--template", "{title"), "The template has a single “{”."),
        ((str(path), "--embed", "--sheet", "S"), "has no sheets"),
        ((str(path), "--embed", "--encoding", "klingon"), "is not the name of an encoding"),
        ((str(path), "--embed", "--split", "3"), "A part must have room for at least"),
    ):
        status, _, err = check(capsys, tmp_path, *arguments)
        assert status == 2, arguments
        assert sentence in err


def test_plain_text_is_cut_as_asked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "story.txt"
    path.write_text("One.\nStill one.\n\nTwo.\n")
    for unit, texts in (("line", 3), ("paragraph", 2), ("file", 1)):
        _, out, _ = check(capsys, tmp_path, str(path), "--embed", "--texts-by", unit, "--json")
        assert json.loads(out)["texts"] == texts


def test_sizes_of_parts() -> None:
    assert split_size("400") == Split(400)
    assert split_size("400:50") == Split(400, 50)
