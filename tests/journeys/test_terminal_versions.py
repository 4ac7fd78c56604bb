"""May's file and June's, in the terminal: only what is new is sent, and the index is what the job is."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cloudflare import Cloudflare

from cfbatch_gui.core.job_folder.folder import JobFolder, forget_texts
from tests.canary import TOKEN
from tests.journeys.terminal import ACCOUNT, Terminal
from tests.screen import material
from tests.support.practice import PracticeServer, accepted, accepted_bodies, accepted_vectors

INDEX = "products"


def texts_that_left(folder: Path, since: int) -> list[str]:
    found = []
    for body in accepted_bodies(folder)[since:]:
        for request in json.loads(body)["requests"]:
            found += request["text"] if isinstance(request["text"], list) else [request["text"]]
    return found


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return material.products(tmp_path / "may.csv"), material.products(tmp_path / "june.csv", june=True)


def test_what_is_new_is_sent_and_pushed_and_cloudflares_own_client_sees_the_same(
    terminal: Terminal, tmp_path: Path, files: tuple[Path, Path]
) -> None:
    may, june = files
    service = tmp_path / "service"
    with (
        PracticeServer(service, token=TOKEN) as server,
        Cloudflare(api_token=TOKEN, base_url=server.url, max_retries=0) as client,
    ):
        terminal.connect(server.url)
        run = ("--embed", "--connection", "cloudflare", "--json")
        first = terminal.run("run", may, *run).json["job"]
        push = ("vectorize", "push", "--index", INDEX, "--metadata", "department,price", "--connection", "cloudflare")
        assert terminal.run(*push, first, "--create").status == 0
        batches = len(accepted(service))

        checked = terminal.run("check", june, "--embed", "--connection", "cloudflare", "--json").json
        assert (checked["reuse"]["sent_texts"], checked["reuse"]["texts"]) == (188, 9_892)
        assert checked["reuse"]["price_without"]["high"] > 20 * checked["price"]["high"]["dollars"]
        since_may = {name: checked["version"][name] for name in ("added", "changed", "moved", "removed")}
        assert since_may == {"added": 120, "changed": 68, "moved": 12, "removed": 52}

        ended = terminal.run("run", june, *run)
        assert "9,892 of 10,080 texts were turned into vectors before, in “may”." in ended.err
        second = ended.json["job"]
        assert len(texts_that_left(service, batches)) == 188
        assert ended.json["usage"]["total_tokens"] < 20_000
        assert sum(each["texts"] for each in ended.json["taken_from_earlier_jobs"]) == 9_892

        assert terminal.run(*push, second, "--delete-removed").status == 0
        pushed = accepted_vectors(service)
        changed = sum(len(each.ids) for each in pushed if each.kind == "upsert") - 10_000
        assert changed == 200  # new, changed, and those under another id
        found = terminal.run("vectorize", "search", second, "a copper pan for a small kitchen", "--index", INDEX).out
        assert "of its 10 are also among the 10 nearest by exact comparison" in found

        exported = tmp_path / "june.npz"
        assert terminal.run("export", second, "--out", exported).status == 0
        with np.load(exported, allow_pickle=False) as kept:
            vectors = dict(zip(kept["ids"].tolist(), kept["vectors"], strict=True))
        indexes: Any = client.vectorize.indexes
        assert indexes.info(INDEX, account_id=ACCOUNT).vector_count == len(vectors) == 10_080
        asked = sorted(vectors)[::560]
        read = indexes.get_by_ids(INDEX, account_id=ACCOUNT, ids=asked)
        assert [each["id"] for each in read] == asked
        for each in read:
            assert np.array_equal(np.array(each["values"], np.float32), vectors[each["id"]])
            assert set(each["metadata"]) == {"department", "price"}


def test_only_what_changed_is_exported_with_a_list_of_what_is_gone(
    terminal: Terminal, tmp_path: Path, files: tuple[Path, Path]
) -> None:
    jobs = [terminal.run("run", file, "--embed", "--connection", "practice", "--json").json["job"] for file in files]
    out = tmp_path / "changed.csv"
    ended = terminal.run("export", jobs[1], "--out", out, "--changed-since", jobs[0])
    assert ended.status == 0 and "52 rows are gone" in ended.err
    with out.open(encoding="utf-8", newline="") as file:
        rows = file.read().splitlines()
    assert len(rows) == 201 and rows[0].startswith("id,source_job,request_id,")
    assert len((tmp_path / "changed.csv.removed.csv").read_text("utf-8").splitlines()) == 53
    manifest = json.loads((tmp_path / "changed.csv.manifest.json").read_text("utf-8"))
    assert manifest["export"]["changed_since"] == {
        **{"id": jobs[0], "name": "may", "removed": 52},
        "removed_list": "changed.csv.removed.csv",
    }
    assert sum(each["texts"] for each in manifest["job"]["taken_from_earlier_jobs"]) == 9_892

    compared = terminal.run("check", files[1], "--embed", "--compared-with", jobs[0]).out
    assert "Since “may”: 120 new · 68 changed · 12 under another id · 9,880 as before · 52 gone." in compared
    again = terminal.run("run", files[1], "--embed", "--connection", "practice", "--json")
    assert "Nothing is sent, and nothing is paid." in again.err and again.json["batches"] == []
    ended = terminal.run("export", again.json["job"], "--out", out, "--changed-since", jobs[1])
    assert (ended.status, ended.complaint) == (2, "Nothing has changed since “june”, so nothing was written.")
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("".join(files[1].read_text("utf-8").splitlines(keepends=True)[:9_000]), encoding="utf-8")
    last = terminal.run("run", fewer, "--embed", "--connection", "practice", "--json").json["job"]
    ended = terminal.run("export", last, "--out", tmp_path / "fewer.npy", "--changed-since", jobs[1])
    assert ended.status == 0 and "Nothing is new or changed" in ended.err and "rows are gone" in ended.err
    assert not (tmp_path / "fewer.npy").exists()
    whole = terminal.run("run", files[1], "--embed", "--connection", "practice", "--json", "--no-reuse")
    assert whole.json["taken_from_earlier_jobs"] == [] and len(whole.json["batches"]) > 1
    forget_texts(JobFolder(terminal.data / "jobs" / jobs[0]), 0.0)
    ended = terminal.run("check", files[1], "--embed", "--compared-with", jobs[0])
    removed = "The texts of one of both jobs were removed, so they cannot be compared."
    assert (ended.status, ended.complaint, ended.out) == (2, removed, "")
