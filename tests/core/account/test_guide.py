"""The guide to a Worker of one's own, walked to its end: save the files, run them, give a secret, connect, collect."""

import asyncio
from pathlib import Path

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import JobState
from cfbatch_gui.core.worker_setup.worker_files import GUIDE, new_secret, save_worker
from tests.core.account.conftest import Account, Computer
from tests.worker.collecting_runtime import CollectingRuntime, collecting_config


async def test_the_saved_worker_collects_with_the_secret_of_the_guide(
    account: Account, rankings_file: Path, tmp_path: Path
) -> None:
    """The runtime stands for `wrangler deploy`: it runs the saved module with the bindings of collect.jsonc."""
    saved = await asyncio.to_thread(save_worker, tmp_path / "worker")
    names = {path.relative_to(tmp_path / "worker").as_posix() for path in saved}
    config = collecting_config()
    assert {"collect.jsonc", "wrangler.jsonc", str(config["main"])} <= names
    assert any(step.command.endswith("--config collect.jsonc") for step in GUIDE)
    secret, main = new_secret(), tmp_path / "worker" / str(config["main"])
    runtime = CollectingRuntime(account.practice.url, tmp_path / "cloudflare", secret=secret, main=main)
    address = await asyncio.to_thread(runtime.start)
    try:
        computer = Computer(tmp_path / "computer", address)
        program = await computer.start(secret=secret)
        try:
            results = await program.connections.check(computer.connection_id, "@cf/baai/bge-m3")
            assert [result.ok for result in results] == [True] * 5
            job = computer.draft(rankings_file, Kind.RANK)
            await program.actions.send(job.id)
            done = await program.runner.wait(job.id)
            assert done.state is JobState.DONE
            assert [batch.shard for batch in done.batches] == [1]
        finally:
            await computer.stop()
    finally:
        await asyncio.to_thread(runtime.stop)
