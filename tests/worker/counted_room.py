"""The collecting Worker with counted bindings, and a service behind it that answers at once: see counting.js."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.collecting_costs import Taken
from tests.worker.collecting_room import Room, wait_for
from tests.worker.collecting_runtime import CollectingRuntime
from tests.worker.runtime import HERE
from tests.worker.scripted_service import ScriptedService


@dataclass(frozen=True)
class Shard:
    """Batches that all wait for the same number of rounds and then have answers of the same size."""

    batches: int
    size: int
    empty_rounds: int
    announced: bool

    def request_ids(self, path: str) -> Sequence[tuple[int, str]]:
        """The batches with ids from which counting.js knows what to answer."""
        form = "announced" if self.announced else "chunked"
        return [
            (number, f"{self.empty_rounds}:{self.size}:{form}:{path}/{number}") for number in range(1, self.batches + 1)
        ]


class CountedRoom(Room):
    """A room whose Worker is wrapped by counting.js."""

    def hand_over_shard(self, shard: Shard, *, first_wait: float = 0.05, longest_wait: float = 0.05) -> str:
        """Hand over a shard with its layout, as the program does; its path."""
        path = self.new_shard()
        assert self.http.put(f"{path}/layout", content=b"layout").json() == {"ok": True}
        waits = {"first_wait": first_wait, "longest_wait": longest_wait}
        assert self.hand_over(path, shard.request_ids(path), **waits).json() == {"ok": True}
        return path

    def until_over(self, path: str) -> None:
        """Wait until an instance has ended, without a question to the Worker, which would be counted."""
        wait_for(lambda: self.order_harness("status", path)["status"], lambda status: status == "complete")

    def fetch_all(self, path: str, shard: Shard) -> None:
        """Look once, fetch the layout and every answer, and remove the shard, as the program does."""
        said = self.state(path)
        assert said["state"] == "ended"
        assert [batch["size"] for batch in said["batches"]] == [shard.size] * shard.batches
        assert self.http.get(f"{path}/layout").content == b"layout"
        for number in range(1, shard.batches + 1):
            assert len(self.http.get(f"{path}/{number}").content) == shard.size
        assert self.http.delete(path).json() == {"ok": True}

    def counts(self) -> tuple[dict[str, Taken], Taken]:
        """What each instance took, by its id, and what the Worker took for this caller."""
        said = self.http.get("/counts").json()
        return {name: _taken(tally) for name, tally in said["instances"].items()}, _taken(said["worker"])


def _taken(tally: dict[str, int]) -> Taken:
    kinds = ("steps", "asks", "classA", "classB", "mostInAStep")
    return Taken(*(tally[kind] for kind in kinds))


@contextmanager
def counted_room(folder: Path) -> Iterator[CountedRoom]:
    """Run it until the end of the block."""
    with (
        CollectingRuntime("", folder, main=HERE / "counting.js") as runtime,
        CountedRoom(runtime, ScriptedService()) as room,
    ):
        yield room
