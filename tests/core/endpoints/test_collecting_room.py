"""A Worker of the user's own: the answers that it collects, and the largest batch that its plan at Cloudflare takes."""

from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import Unreachable
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.row_problems import row_problems
from cfbatch_gui.core.jobs.states import JobState, account_progress
from cfbatch_gui.core.practice.app import PREFIX
from cfbatch_gui.core.system.settings import SavedConnection
from tests.core.account.conftest import inputs_of, until
from tests.core.endpoints.collecting_room import CollectingRoom
from tests.core.endpoints.conftest import SECRET, service
from tests.screen.past import draft
from tests.support import faults
from tests.support.faulty_service import FaultyService
from tests.support.programs import opened_program


async def test_the_page_of_another_network_is_told_from_the_rooms_answer(tmp_path: Path) -> None:
    room = CollectingRoom(service(tmp_path / "service"))
    service_of_network = FaultyService(room.application, [faults.page(on="check")])
    async with service_of_network as worker, opened_program(tmp_path / "data") as program:
        record = SavedConnection("", "Mine", "worker", url=worker.url.removesuffix(PREFIX))
        saved = await program.connections.save(record, secret=SECRET)
        with pytest.raises(Unreachable, match="sign in first"):
            await program.elsewhere.listed(saved.id)
        assert await program.elsewhere.listed(saved.id) == ()


async def test_a_job_is_handed_over_fetched_and_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("query,context\n" + "".join(f"question,answer {n}\n" for n in range(30)), encoding="utf-8")
    room = CollectingRoom(service(tmp_path / "service"))
    room.collects = lambda number: False
    async with (
        FaultyService(room.application) as worker,
        opened_program(tmp_path / "a") as one,
        opened_program(tmp_path / "b") as two,
    ):
        record = SavedConnection("", "Mine", "worker", url=worker.url.removesuffix(PREFIX), collects=True, keep_days=3)
        saved = [await each.connections.save(record, secret=SECRET) for each in (one, two)]
        job = one.drafts.create(Kind.RANK, "Answers", one.settings.model, saved[0].id)
        inputs = inputs_of(path, Kind.RANK)
        one.drafts.load(job.id, inputs.source, inputs.mapping)
        await one.actions.send(job.id)
        await until(lambda: one.ledger.job(job.id), lambda known: account_progress(known).lid_may_close)
        room.collects = lambda number: True
        assert (await one.runner.wait(job.id)).state is JobState.DONE
        (found,) = await two.elsewhere.listed(saved[1].id)
        assert (found.title, found.batches, found.is_here) == ("Answers", 1, False)
        await two.elsewhere.take_over(saved[1].id, found, inputs)
        assert (await two.runner.wait(job.id)).state is JobState.DONE
        await one.runner.account.clear(job.id, at_once=True)
        assert room.shards == {}


@pytest.mark.parametrize(("paid_plan", "most", "batches"), [(False, 1_000_000, 4), (True, 10_000_000, 2)])
async def test_batches_stay_small_unless_the_plan_is_a_paid_one(
    tmp_path: Path, paid_plan: bool, most: int, batches: int
) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(f"{number} {'orange clouds ' * 100}\n" for number in range(2_200)), encoding="utf-8")
    record = SavedConnection("", "Mine", "worker", url="https://batch.example.workers.dev", paid_plan=paid_plan)
    async with opened_program(tmp_path / "data") as program:
        record = await program.connections.save(record, secret=SECRET)
        job = await draft(program, "Clouds", texts, Kind.EMBED, record.id)
        found = program.drafts.examine(job.id)
    assert found.texts == 2_200
    assert len(found.batches) == batches and all(batch.bytes < most for batch in found.batches)


async def test_one_that_is_changed_counts_from_then_on(tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(["a very long text " * 70_000, "a short one"]), encoding="utf-8")
    record = SavedConnection("", "Mine", "worker", url="https://batch.example.workers.dev")
    async with opened_program(tmp_path / "data") as program:
        record = await program.connections.save(record, secret=SECRET)
        job = await draft(program, "Clouds", texts, Kind.EMBED, record.id)
        assert program.drafts.examine(job.id).texts == 1
        assert ["(1 MB)" in row.reason for row in row_problems(program.folder(job.id))] == [True]
        await program.connections.save(replace(record, paid_plan=True))
        assert program.drafts.examine(job.id).texts == 2 and not list(row_problems(program.folder(job.id)))
