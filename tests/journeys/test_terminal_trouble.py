"""What goes wrong in the terminal: one sentence, the right status, nothing lost."""

import os
import socket
from pathlib import Path

import pytest

from cfbatch_gui.core.jobs.run import submitting
from cfbatch_gui.core.system.paths import Paths
from tests.canary import TOKEN
from tests.journeys.terminal import EXAMPLE, Terminal, read_csv
from tests.support.practice import PracticeServer

RUN = ("run", EXAMPLE, "--rank", "--connection", "cloudflare")


@pytest.mark.parametrize(
    ("content", "arguments", "code"),
    [
        (None, (), "there_is_no_file_name_was"),
        (b"query,text\nq,\n,t\n", (), "no_row_both_query_context_choose"),
        (b"query,text\nq,t\n", ("--role", "query=ignore"), "missing_use_role_column_role_columns"),
        (b"query,text\nq,t\n", ("--out", "result.doc"), "name_is_no_form_results_choose"),
        (b"query,text\nq,t\n", ("--out", "nowhere/result.csv"), "there_is_no_folder_path_make"),
        (b"query,text\nq,t\n", ("--out", "in.csv"), "path_is_file_is_read_choose"),
        (b"query,text\nq,t\n", ("--model", "no such model"), "title_cannot_rank_texts_batches_bge"),
    ],
)
def test_bad_input_is_said_before_anything_is_sent(
    terminal: Terminal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes | None,
    arguments: tuple[str, ...],
    code: str,
) -> None:
    terminal.environ["PYTHONPATH"] = os.getcwd()  # noqa: PTH109
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("in.csv").write_bytes(content)
    how = () if content is None else ("--rank",)  # a missing file is said before what is to be done with it
    ended = terminal.run("run", "in.csv", *how, "--connection", "practice", *arguments)
    assert (ended.status, ended.out) == (2, "") and code in ended.codes, ended.err
    assert terminal.jobs() == []
    if content is not None:
        assert Path("in.csv").read_bytes() == content


@pytest.mark.parametrize(
    ("address", "proxy", "sentence"),
    [
        ("http://127.0.0.1:{port}/client/v4", "", "could not be reached"),
        ("https://xn--/client/v4", "", "address of Cloudflare cannot be used"),
        ("https://service.example/client/v4", "http://127.0.0.1:99999", "proxy, 127.0.0.1:99999,"),
    ],
    ids=["nobody there", "no address", "no proxy"],
)
def test_no_network_keeps_the_job_until_there_is_one(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, proxy: str, sentence: str
) -> None:
    monkeypatch.setattr(submitting, "FIRST_WAIT", 0.01)  # the commands run within this process
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    terminal.connect(address.format(port=port))
    terminal.environ["HTTPS_PROXY"] = proxy
    out = tmp_path / "ranked.csv"
    ended = terminal.run(*RUN, "--out", out)
    assert (ended.status, ended.out) == (4, "")
    assert sentence in ended.err
    assert not out.exists()
    with PracticeServer(tmp_path / "service") as server:
        terminal.connect(server.url)
        resumed = terminal.run("resume")
    assert resumed.status == 0
    assert len(read_csv(out)) == 82


def test_a_failure_nobody_expected_names_no_log_that_does_not_exist(terminal: Terminal, tmp_path: Path) -> None:
    halves = TOKEN[:20], TOKEN[20:]  # whole tokens are searched for in all files
    words = f"'a loose screw, Bearer ' + ''.join({halves!r})"
    (tmp_path / "sitecustomize.py").write_text(f"""
import csv
def broken(*_, **__):
    raise RuntimeError({words})
csv.reader = broken
""")
    (tmp_path / "a.csv").write_text("id,text\n1,a cloud\n")
    terminal.environ["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{Path.cwd()}"
    ended = terminal.run_apart("check", tmp_path / "a.csv", "--embed")
    assert ended.status == 1
    assert "RuntimeError: a loose screw, [redacted]" in ended.err
    assert not terminal.data.exists()
    paths = Paths(terminal.data)
    paths.create()
    ended = terminal.run_apart("check", tmp_path / "a.csv", "--embed")
    assert str(paths.log) in ended.err
    assert "a loose screw, [redacted]" in paths.log.read_text()
