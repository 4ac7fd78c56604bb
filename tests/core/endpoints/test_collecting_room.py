"""A Worker of the user's own: the answers that it collects, and the largest batch that its plan at Cloudflare takes."""

from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.errors import Unreachable
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.row_problems import row_problems
from cfbatch_gui.core.practice.app import PREFIX
from cfbatch_gui.core.system.settings import SavedConnection
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
