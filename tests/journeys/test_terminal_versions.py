"""May's file and June's, in the terminal: only what is new is sent, and the index is what the job is."""

import json
from pathlib import Path

import numpy as np

from cfbatch_gui.core.job_folder.folder import JobFolder, forget_texts
from cfbatch_gui.core.practice.local_models import choose_model
from tests.canary import TOKEN
from tests.journeys.terminal import Terminal, read_csv
from tests.screen import material
from tests.support.practice import PracticeServer, accepted, accepted_bodies
from tests.support.vectorize import accepted_vectors

INDEX = "products"
RUN = ("--embed", "--connection", "cloudflare", "--json")


def test_only_what_is_new_is_sent_pushed_and_exported(tmp_path: Path) -> None:
    terminal, service = Terminal(tmp_path / "data"), tmp_path / "service"
    may, june = material.products(tmp_path / "may.csv"), material.products(tmp_path / "june.csv", june=True)
    with PracticeServer(service, token=TOKEN) as server:
        terminal.connect(server.url)
        first = terminal.run("run", may, *RUN).json["job"]
        what_is_new_is_sent_pushed_and_exported(terminal, service, june, first)
        what_has_not_changed_is_neither_sent_nor_written(terminal, may, first)
    forget_texts(JobFolder(terminal.data / "jobs" / first), 0.0)
    ended = terminal.run("check", june, "--embed", "--compared-with", first)
    assert (ended.status, ended.codes, ended.out) == (2, {"texts_one_both_jobs_were_removed"}, "")


def what_is_new_is_sent_pushed_and_exported(terminal: Terminal, service: Path, june: Path, first: str) -> None:
    push = ("vectorize", "push", "--index", INDEX, "--metadata", "department,price", "--connection", "cloudflare")
    assert terminal.run(*push, first, "--create").status == 0
    batches = len(accepted(service))

    checked = terminal.run("check", june, "--embed", "--connection", "cloudflare", "--json").json
    assert (checked["reuse"]["sent_texts"], checked["reuse"]["texts"]) == (188, 9_892)
    assert checked["reuse"]["price_without"]["high"] > 20 * checked["price"]["high"]["dollars"]
    since_may = {name: checked["version"][name] for name in ("added", "changed", "moved", "removed")}
    assert since_may == {"added": 120, "changed": 68, "moved": 12, "removed": 40}

    ended = terminal.run("run", june, *RUN)
    second = ended.json["job"]
    sent = [each["text"] for body in accepted_bodies(service)[batches:] for each in json.loads(body)["requests"]]
    assert sum(1 if isinstance(each, str) else len(each) for each in sent) == 188
    assert ended.json["usage"]["total_tokens"] < 20_000
    assert sum(each["texts"] for each in ended.json["taken_from_earlier_jobs"]) == 9_892

    assert terminal.run(*push, second, "--delete-removed").status == 0
    pushed = accepted_vectors(service)
    changed = sum(len(each.ids) for each in pushed if each.kind == "upsert") - 10_000
    assert changed == 200  # new, changed, and those under another id
    search = ("vectorize", "search", second, "a copper pan for a small kitchen", "--index", INDEX, "--json")
    assert terminal.run(*search).json["shared"] > 0

    exported = june.with_suffix(".npz")
    assert terminal.run("export", second, "--out", exported).status == 0
    with np.load(exported, allow_pickle=False) as kept:
        vectors = dict(zip(kept["ids"].tolist(), kept["vectors"], strict=True))
    texts = read_csv(june)[::20]
    right = choose_model().embed([row["description"] for row in texts])
    np.testing.assert_allclose([vectors[row["sku"]] for row in texts], right, atol=1e-3)

    out = june.with_name("changed.csv")
    assert terminal.run("export", second, "--out", out, "--changed-since", first).status == 0
    rows = out.read_text("utf-8").splitlines()
    assert len(rows) == 201 and rows[0].startswith("id,source_job,request_id,")
    assert len(out.with_name("changed.csv.removed.csv").read_text("utf-8").splitlines()) == 53
    manifest = json.loads(out.with_name("changed.csv.manifest.json").read_text("utf-8"))
    assert manifest["export"]["changed_since"] == {
        **{"id": first, "name": "may", "removed": 52},
        "removed_list": "changed.csv.removed.csv",
    }


def what_has_not_changed_is_neither_sent_nor_written(terminal: Terminal, may: Path, first: str) -> None:
    again = terminal.run("run", may, *RUN)
    assert again.json["batches"] == []
    same = terminal.run("export", again.json["job"], "--out", may.with_name("same.csv"), "--changed-since", first)
    assert (same.status, same.codes) == (2, {"nothing_changed_since_name_nothing_was"})
    fewer = may.with_name("fewer.csv")
    fewer.write_text("".join(may.read_text("utf-8").splitlines(keepends=True)[:9_000]), encoding="utf-8")
    npy = fewer.with_suffix(".npy")
    last = terminal.run("run", fewer, *RUN).json["job"]
    assert terminal.run("export", last, "--out", npy, "--changed-since", first).status == 0
    assert not npy.exists()
