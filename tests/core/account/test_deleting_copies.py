"""What the account has of a job is deleted there once the answers are here, at the latest by the next start."""

import pytest

from tests.core.account.fault_scene import Scene
from tests.core.account.worker_stand_in import Do, Rule, lost_after, lost_before, refuses


@pytest.mark.parametrize("do", [refuses(401, 10000), lost_before])
async def test_copies_that_cannot_be_deleted_are_deleted_at_the_next_start(scene: Scene, do: Do) -> None:
    job = await scene.end(await scene.send(Rule("forget", do)))
    await scene.check_done(job, from_account=3, is_cleared=False)
    await scene.computer.stop()
    await scene.computer.start()
    await scene.check_done(await scene.end(job), from_account=3)


async def test_what_was_handed_over_without_a_word_is_deleted_too(scene: Scene) -> None:
    """The answers were asked for before the hand-over was confirmed."""
    job = scene.draft()
    scene.stand_in.follow(Rule("hand over", lost_after, times=0))
    await scene.computer.program.actions.send(job.id)
    job = await scene.end(job)
    assert [batch.handed_over_at for batch in job.batches] == [0.0, 0.0, 0.0]
    await scene.check_done(job, problem=job.account_problem, from_account=0)


async def test_a_worker_that_never_had_the_room_is_not_asked_again(scene: Scene) -> None:
    no_room = refuses(404, 7003)
    job = await scene.end(await scene.send(Rule("layout", no_room), Rule("forget", no_room, times=0)))
    assert job.account_cleared_at > 0
    await scene.computer.program.clear_copies()
    assert scene.stand_in.count("forget") == 1


async def test_what_is_half_here_is_removed_though_nothing_is_in_the_account_any_more(scene: Scene) -> None:
    job = await scene.end(await scene.send())
    left = scene.computer.program.folder(job.id).path / "replies" / "0001-0123456789ab.part"
    left.write_bytes(b"{")
    assert not await scene.computer.program.runner.account.clear(job.id)
    assert scene.parts(job) == []
