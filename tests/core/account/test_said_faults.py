"""Why the account, or an answer in it, cannot be had just now is said, until it can."""

import pytest

from cfbatch_gui.core.jobs.states import JobState
from tests.core.account.fault_scene import Scene
from tests.core.account.worker_stand_in import DAY_USED_UP, EXCEEDED_CPU, Call, Rule, lost_before, page, refuses

SAID = {
    "its connection breaks": (lost_before, "The connection to My Worker broke."),
    "a network wants a sign-in": (
        page,
        "Something other than My Worker answered. If this network wants you to sign in first, do so in a browser.",
    ),
    "its computing time is used up": (
        EXCEEDED_CPU,
        "My Worker, or something on the way to it, has a fault just now.",
    ),
    "its day is used up": (
        DAY_USED_UP,
        "Cloudflare lets no calls through to My Worker just now. On the Workers Free plan a Worker may be called "
        "100,000 times a day, and a day ends at midnight UTC.",
    ),
    "its bucket fails": (
        refuses(502, 0),
        "My Worker has a fault of its own just now. The program goes on by itself.",
    ),
    "it is too busy": (
        refuses(429, 3040, retry_after="1"),
        "My Worker has no capacity for this model just now. The program goes on by itself.",
    ),
}


@pytest.mark.parametrize(("name", "call"), [(name, ("status", "answer")[n % 2]) for n, name in enumerate(SAID)])
async def test_why_an_answer_does_not_come_is_said_until_it_does(scene: Scene, name: str, call: Call) -> None:
    do, sentence = SAID[name]
    job = await scene.stored(Rule(call, do, times=0))
    await scene.computer.program.runner.carry_on(job.id)
    seen = await scene.computer.until(lambda job: bool(job.error), job.id)
    assert (seen.state, seen.error) == (JobState.WORKING, sentence)
    scene.stand_in.follow()
    await scene.check_done(await scene.end(job), from_account=3)
