"""5,000 batches collected by the user's own Worker in Cloudflare's runtime on this computer, with counted bindings.

The service behind it answers at once, with answers of 5 KB: what is measured is that the Worker takes what
docs/collecting.md says, for shards of both plans. Needs Node.js and npm.
"""

import tempfile
from pathlib import Path

import pytest

from benchmarks.collecting_costs import BATCHES, FREE, PAID, Plan, Taken, of_instance, of_program
from benchmarks.limits import Figures, seconds
from tests.worker.collecting_room import CountedRoom, Shard, counted_room

_ANSWER_BYTES = 5_000
_EMPTY_ROUNDS = 3


def main(figures: Figures) -> None:
    """Both plans, one after the other, each in a runtime of its own."""
    for plan in (PAID, FREE):
        try:
            with tempfile.TemporaryDirectory() as folder, counted_room(Path(folder)) as room:
                _collect(figures, room, plan)
        except pytest.skip.Exception as reason:
            figures.add("not measured", 0, "", note=str(reason))


def _collect(figures: Figures, room: CountedRoom, plan: Plan) -> None:
    shard = Shard(plan.shard, _ANSWER_BYTES, _EMPTY_ROUNDS, announced=False)
    paths: list[str] = []
    count = BATCHES // plan.shard

    def hand_over() -> None:
        paths.extend(room.hand_over_shard(shard, first_wait=0.5, longest_wait=0.5) for _ in range(count))

    def collect() -> None:
        for path in paths:
            room.until_over(path)

    def fetch() -> None:
        for path in paths:
            room.fetch_all(path, shard)

    name = f"{plan.name}, {count} shards of {plan.shard}"
    figures.add(f"{name}: handed over", seconds(hand_over), "s")
    figures.add(f"{name}: collected after that", seconds(collect), "s")
    figures.add(f"{name}: fetched and removed", seconds(fetch), "s")
    instances, worker = room.counts()
    computed = of_instance(plan.shard, _ANSWER_BYTES, _EMPTY_ROUNDS, announced=False)
    differing = sum(taken != computed for taken in instances.values()) + abs(len(instances) - count)
    figures.add(f"{name}: instances unlike computed", differing, "", limit=0, note=_words(computed))
    program = of_program(plan.shard)
    differing = abs(worker.class_a - count * program.class_a) + abs(worker.class_b - count * program.class_b)
    figures.add(f"{name}: the program's unlike computed", differing, "", limit=0, note=_words(worker))


def _words(taken: Taken) -> str:
    counts = f"{taken.steps:,} steps, {taken.asks:,} questions, {taken.class_a:,} class A, {taken.class_b:,} class B"
    return f"{counts}, at most {taken.most_in_a_step} in a step"
