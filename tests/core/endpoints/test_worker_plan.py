"""The largest batch that is sent through a Worker, which depends on the processor time of its plan at Cloudflare."""

from dataclasses import replace
from pathlib import Path

import pytest

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.row_problems import row_problems
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.settings import SavedConnection
from tests.canary import SECRET
from tests.screen.past import draft


@pytest.mark.parametrize(("paid_plan", "most", "batches"), [(False, 1_000_000, 4), (True, 10_000_000, 2)])
async def test_batches_stay_small_unless_the_plan_is_a_paid_one(
    tmp_path: Path, paid_plan: bool, most: int, batches: int
) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(f"{number} {'orange clouds ' * 100}\n" for number in range(2_200)), encoding="utf-8")
    program = await Program.open(tmp_path / "data", environ={}, credentials=Credentials(environ={}))
    record = SavedConnection("", "Mine", "worker", url="https://batch.example.workers.dev", paid_plan=paid_plan)
    record = await program.connections.save(record, secret=SECRET)
    job = await draft(program, "Clouds", texts, Kind.EMBED, record.id)
    found = program.drafts.examine(job.id)
    assert found.texts == 2_200
    assert len(found.batches) == batches and all(batch.bytes < most for batch in found.batches)
    await program.close()


async def test_one_that_is_changed_counts_from_then_on(tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(["a very long text " * 70_000, "a short one"]), encoding="utf-8")
    program = await Program.open(tmp_path / "data", environ={}, credentials=Credentials(environ={}))
    record = SavedConnection("", "Mine", "worker", url="https://batch.example.workers.dev")
    record = await program.connections.save(record, secret=SECRET)
    job = await draft(program, "Clouds", texts, Kind.EMBED, record.id)
    assert program.drafts.examine(job.id).texts == 1
    assert ["(1 MB)" in row.reason for row in row_problems(program.folder(job.id))] == [True]
    await program.connections.save(replace(record, paid_plan=True))
    assert program.drafts.examine(job.id).texts == 2 and not list(row_problems(program.folder(job.id)))
    await program.close()
