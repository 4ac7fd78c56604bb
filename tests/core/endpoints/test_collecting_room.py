"""The stand-in for the collecting room keeps the contract, as far as the program goes by it."""

from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import Unreachable
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.account.shards import account_progress
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.practice.app import PREFIX
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from tests.core.account.conftest import inputs_of, until
from tests.core.endpoints.collecting_room import CollectingRoom
from tests.core.endpoints.conftest import SECRET, service
from tests.support import faults
from tests.support.faulty_service import FaultyService


async def test_the_page_of_another_network_is_told_from_the_rooms_answer(tmp_path: Path) -> None:
    room = CollectingRoom(service(tmp_path / "service"))
    async with FaultyService(room.application, [faults.page(on="check")]) as worker:
        program = await Program.open(tmp_path / "data", environ={}, credentials=Credentials(environ={}))
        try:
            record = SavedConnection("", "Mine", "worker", url=worker.url.removesuffix(PREFIX))
            saved = await program.connections.save(record, secret=SECRET)
            with pytest.raises(Unreachable, match="sign in first"):
                await program.account_jobs.listed(saved.id)
            assert await program.account_jobs.listed(saved.id) == ()
        finally:
            await program.close()


async def test_a_job_is_handed_over_fetched_and_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("query,context\n" + "".join(f"question,answer {n}\n" for n in range(30)), encoding="utf-8")
    room = CollectingRoom(service(tmp_path / "service"))
    room.collects = lambda number: False
    async with FaultyService(room.application) as worker:
        record = SavedConnection("", "Mine", "worker", url=worker.url.removesuffix(PREFIX), collects=True, keep_days=3)
        programs = [
            await Program.open(tmp_path / name, environ={}, credentials=Credentials(environ={})) for name in "ab"
        ]
        try:
            (one, two), saved = programs, [await each.connections.save(record, secret=SECRET) for each in programs]
            job = one.drafts.create(Kind.RANK, "Answers", one.settings.model, saved[0].id)
            inputs = inputs_of(path, Kind.RANK)
            one.drafts.load(job.id, inputs.source, inputs.mapping)
            await one.actions.send(job.id)
            await until(lambda: one.ledger.job(job.id), lambda known: account_progress(known).lid_may_close)
            room.collects = lambda number: True
            assert (await one.runner.wait(job.id)).state is JobState.DONE
            (found,) = await two.account_jobs.listed(saved[1].id)
            assert (found.title, found.batches, found.is_here) == ("Answers", 1, False)
            await two.account_jobs.take_over(saved[1].id, found, inputs)
            assert (await two.runner.wait(job.id)).state is JobState.DONE
            assert await one.runner.account.clear(job.id, at_once=True)
            assert room.shards == {}
        finally:
            for each in programs:
                await each.close()
