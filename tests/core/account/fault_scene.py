"""A job of three batches, sent through a Worker whose calls go wrong, and what must be so at its end."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import numpy as np

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job, JobState, account_progress
from cfbatch_gui.core.practice.local_models import HashedNgrams
from tests.canary import TOKEN
from tests.core.account.worker_stand_in import Rule, WorkerStandIn
from tests.support.practice import accepted

if TYPE_CHECKING:  # which has this scene as a fixture
    from tests.core.account.conftest import Account, Computer

MODEL = "@cf/baai/bge-m3"
ACCOUNT_ID = "0123456789abcdef0123456789abcdef"
TEXTS = [f"text number {n} about an orange cloud over the harbour" for n in range(50)]
TEXTS_PER_BATCH = 20  # so that they are three
FIRST_CHECK = 0.06  # seconds
DAYS = 86_400.0  # seconds
_BEFORE, _AFTER = b'{"result":', b',"success":true,"errors":[],"messages":[]}'  # around an answer of the REST API


@dataclass
class Scene:
    """A computer whose Worker is the stand-in, before the real one of the account."""

    account: "Account"
    computer: "Computer"
    stand_in: WorkerStandIn
    folder: Path

    def __post_init__(self) -> None:
        self._accepted_before = len(accepted(self.account.folder))

    async def send(self, *rules: Rule, job: Job | None = None) -> Job:
        """Send a job while these go wrong, and return before any batch is done: when the account has all of it, or has
        given up, or the job is paused.
        """
        job = job or self.draft()
        self.stand_in.follow(*rules)
        with self.account.clock.held():
            await self.computer.program.actions.send(job.id)
            return await self.computer.until(is_decided, job.id)

    def draft(self) -> Job:
        path = self.folder / "texts.txt"
        path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
        return self.computer.draft(path, Kind.EMBED)

    async def stored(self, *rules: Rule) -> Job:
        """Send a job, leave, and return when the account has all three answers; these go wrong from then on."""
        job = await self.send()
        await self.computer.program.runner.pause(job.id)
        await self.until_stored(job.id, 3)
        self.stand_in.follow(*rules)
        return job

    async def until_stored(self, job_id: str, count: int) -> None:
        """Wait until the account has so many answers or refusals. The stand-in is not asked."""
        while len((await self._behind("GET", f"collect/{job_id}/1")).json()["batches"]) < count:
            pass

    async def copy(self, job_id: str, number: int) -> bytes:
        """What the account has of a batch."""
        return (await self._behind("GET", f"collect/{job_id}/1/{number}")).content

    def put_copy(self, job_id: str, number: int, data: bytes) -> None:
        """Put something in place of what the account has of a batch."""
        self.account.runtime.order("putObjects", keys=[f"answers/{job_id}/1/{number}"], text=data.decode("utf-8"))

    async def remove(self, job_id: str) -> None:
        """Another computer removes the job from the account."""
        assert (await self._behind("DELETE", f"collect/{job_id}/1")).json() == {"ok": True}

    async def end(self, job: Job) -> Job:
        """Go on if the job is paused, and wait for its end."""
        if self.computer.program.ledger.job(job.id).paused_because:
            await self.computer.program.runner.carry_on(job.id)
        return await self.computer.program.runner.wait(job.id)

    def from_account(self, job: Job) -> int:
        """How many answers came from there: a batch that was handed over is not asked for directly, unless it has to
        be."""
        done = [batch for batch in job.batches if batch.state is BatchState.DONE]
        return sum(batch.handed_over_at > 0 and not batch.direct_only for batch in done)

    async def check_done(self, job: Job, *, problem: str = "", from_account: int, is_cleared: bool = True) -> None:
        """The job has its results, each batch was accepted once, and neither here nor there is anything left."""
        assert (job.state, job.account_problem, job.paused_because) == (JobState.DONE, problem, "")
        assert [batch.error for batch in job.batches] == ["", "", ""]
        self.check_accepted_once(job)
        self.check_vectors(job)
        folder = self.computer.program.folder(job.id)
        for batch in job.batches:
            assert gzip.decompress(folder.reply(batch.number).read_bytes()) == await self._service_says(batch)
        assert self.from_account(job) == from_account
        assert (job.account_cleared_at > 0) == (is_cleared and any(batch.shard for batch in job.batches))
        assert bool(self.left(job)) is not is_cleared

    def check_accepted_once(self, job: Job) -> None:
        """No submit was repeated, by the service's own record."""
        ours = sorted(batch.request_id for batch in job.batches)
        assert sorted(each.request_id for each in accepted(self.account.folder)[self._accepted_before :]) == ours

    def check_vectors(self, job: Job) -> None:
        """Each text has its own vector."""
        vectors = np.load(self.computer.program.folder(job.id).vectors)
        np.testing.assert_allclose(vectors, HashedNgrams().embed(TEXTS), atol=1e-5)

    def left(self, job: Job) -> list[str]:
        """What the account still has of it."""
        keys = self.account.runtime.order("listObjects")["keys"]
        return [key for key in keys if key.split("/")[1] == job.id]

    async def _service_says(self, batch: Batch) -> bytes:
        url = f"{self.account.practice.url}/accounts/{ACCOUNT_ID}/ai/run/{MODEL}?queueRequest=true"
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            answer = await client.post(url, headers={"Authorization": f"Bearer {TOKEN}"}, content=_ask_for(batch))
        assert answer.content.startswith(_BEFORE) and answer.content.endswith(_AFTER)
        return answer.content[len(_BEFORE) : -len(_AFTER)]

    async def _behind(self, method: str, path: str) -> httpx.Response:
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            return await client.request(method, f"{self.account.address}/{path}", headers=headers)


def _ask_for(batch: Batch) -> bytes:
    return json.dumps({"request_id": batch.request_id}).encode()


def is_decided(job: Job) -> bool:
    """The account has all of it, or has given up, or the job is paused."""
    return account_progress(job).lid_may_close or bool(job.account_problem) or job.state is JobState.PAUSED
