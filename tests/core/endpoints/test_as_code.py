"""The code exported for a job, run by curl and Python against a service: it returns the job's own answer."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.as_code import Language, as_code, body_names, save_bodies
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.plan.packing import plan
from cfbatch_gui.core.jobs.run.job_actions import sent
from cfbatch_gui.core.jobs.states import Job, JobOptions
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.practice.local_models import HashedNgrams
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE, Connection
from tests.core.endpoints.conftest import ACCOUNT, TOKEN
from tests.support.clients import cloudflare, gateway, worker
from tests.support.inputs import as_suggested
from tests.support.practice import PracticeServer

PAIRS = "query,context\nclouds,an orange cloud\nclouds,a llama\nanimals,it's a llama\n"
KINDS: dict[str, Connection] = {
    "practice": PRACTICE,
    "cloudflare": cloudflare(ACCOUNT),
    "worker": worker("https://batch.example.workers.dev"),
    "gateway": gateway(ACCOUNT, "mine"),
    "gateway by header": gateway(ACCOUNT, "mine", by_header=True),
}


@pytest.fixture(params=[False, True], ids=["in a batch", "at once"])
def sent_job(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[JobFolder, Job]]:
    """A job of two requests as it is sent."""
    path, paths = tmp_path / "pairs.csv", Paths(tmp_path / "data")
    path.write_text(PAIRS)
    paths.create()
    with closing(Ledger.open(paths)) as ledger:
        drafts = Drafts(ledger, paths)
        job = drafts.create(Kind.RANK, "pairs", "@cf/baai/bge-m3", "cloudflare")
        drafts.load(job.id, *as_suggested(path, Kind.RANK))
        job = drafts.change(job.id, options=JobOptions(at_once=request.param))
        yield drafts.folder(job.id), sent(job, plan(drafts.folder(job.id), job), 0.0, job)


def run(command: list[str], folder: Path) -> str:
    environ = {"PATH": os.environ["PATH"], "CLOUDFLARE_API_TOKEN": TOKEN}
    ended = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_code_does_what_the_program_does(sent_job: tuple[JobFolder, Job], tmp_path: Path) -> None:
    folder, job = sent_job
    synchronous, work = job.options.at_once, tmp_path / "work"
    work.mkdir()
    names = [path.name for path in save_bodies(folder, job, work)]
    assert names == list(body_names(2 if synchronous else 1))
    with PracticeServer(tmp_path / "service", token=TOKEN, load_model=HashedNgrams) as server:
        here = cloudflare(ACCOUNT, base_url=server.url)
        curl = as_code(job, here, Language.CURL, bodies=names)
        assert TOKEN not in curl and "$CLOUDFLARE_API_TOKEN" in curl
        lines = curl.partition("# Later")[0].strip().replace("\\\n", " ").splitlines()
        answers = [json.loads(run(["sh", "-c", line], work)) for line in lines if line]
        assert all(answer["success"] for answer in answers)
        if synchronous:
            assert len(answers[0]["result"]["response"]) == 2
        else:
            assert answers[0]["result"]["status"] == "queued"
            ask = curl.partition("# Later")[2].partition("\n")[2]
            asked = ask.replace("the request_id of the answer", answers[0]["result"]["request_id"])
            assert len(json.loads(run(["sh", "-c", asked], work))["result"]["responses"]) == 2
        program = as_code(job, here, Language.PYTHON, bodies=names).replace("time.sleep(5)", "time.sleep(0)")
        (work / "send.py").write_text(program)
        run([sys.executable, "send.py"], work)
    answer = json.loads((work / "answer-0001.json").read_text())
    assert "response" in answer if synchronous else len(answer["responses"]) == 2


def test_no_secret_and_no_invalid_address_stand_in_it(sent_job: tuple[JobFolder, Job], tmp_path: Path) -> None:
    _, job = sent_job
    for (kind, connection), language in product(KINDS.items(), Language):
        code = as_code(job, connection, language)
        assert ".invalid" not in code and "@cf/baai/bge-m3" in code
        assert ("queueRequest" in code) is not job.options.at_once
        if language is Language.PYTHON:
            compile(code, "send.py", "exec")
        if language is Language.CURL:
            run(["sh", "-n", "-c", code], tmp_path)
            assert ("$SHARED_SECRET" in code) is (kind == "worker")
            assert ("$CF_AIG_TOKEN" in code) is kind.startswith("gateway")


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
def test_the_workers_code_is_javascript(sent_job: tuple[JobFolder, Job], tmp_path: Path) -> None:
    path = tmp_path / "worker.mjs"
    path.write_text(as_code(sent_job[1], PRACTICE, Language.WORKER))
    run(["node", "--check", str(path)], tmp_path)
