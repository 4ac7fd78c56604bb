"""A caller of the Worker's collecting room, which waits for states without a fixed time."""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import httpx

from benchmarks.collecting_costs import Taken
from tests.worker.runtime import HERE, SECRET, CollectingRuntime
from tests.worker.scripted_service import MODEL, ScriptedService

Batches = Sequence[tuple[int, str]]
# The runtime may close a connection whose last body it has not read, just when the next request goes into it. So each
# request has a connection of its own, as those of the program have.
ONE_REQUEST: Final = httpx.Limits(max_keepalive_connections=0)
_WAIT_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.01  # between two questions, or they would keep the runtime from its work
_numbers: Final = itertools.count(1)
T = TypeVar("T")


class Room:
    """The routes under /collect of a running Worker, with the secret, and the scripted service behind its binding."""

    def __init__(self, runtime: CollectingRuntime, service: ScriptedService) -> None:
        self.runtime = runtime
        self.service = service
        # Whoever takes compressed answers gets them compressed on the way: without length, and with another etag.
        headers = {"Authorization": f"Bearer {SECRET}", "Accept-Encoding": "identity"}
        options: dict[str, Any] = {"timeout": 60, "trust_env": False, "limits": ONE_REQUEST}
        self.http = httpx.Client(base_url=runtime.address, headers=headers, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def new_shard(self) -> str:
        """The path of a shard that no other test has."""
        return f"/collect/job-{next(_numbers)}/1"

    def hand_over(self, shard: str, batches: Batches, **changes: object) -> httpx.Response:
        """Hand batches over with short waits; `changes` are other values in the body."""
        return self.http.put(shard, json=order(batches, **changes))

    def hand_over_without_waits(
        self, batches: Batches, *, first_wait: float = 3600, longest_wait: float = 86_400
    ) -> str:
        """Hand batches over under a new name with long waits, of which none is waited for; the shard's path."""
        shard = self.new_shard()
        self.order_harness("skipWaits", shard)
        waits = {"first_wait": first_wait, "longest_wait": longest_wait}
        assert self.hand_over(shard, batches, **waits).json() == {"ok": True}
        return shard

    def collect(self, batches: Batches, **changes: object) -> str:
        """Hand batches over under a new name, and wait until nothing more comes; the shard's path."""
        shard = self.new_shard()
        assert self.hand_over(shard, batches, **changes).json() == {"ok": True}
        self.until(shard, "ended")
        return shard

    def state(self, shard: str) -> dict[str, Any]:
        """What the room says of a shard, its batches in order."""
        answer = self.http.get(shard)
        assert answer.status_code == 200, answer.text
        said: dict[str, Any] = answer.json()
        said["batches"].sort(key=lambda batch: batch["number"])
        return said

    def until(self, shard: str, wanted: str | Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Ask until the state is the wanted one, or fails with the last one."""
        reached = wanted if callable(wanted) else lambda said: said["state"] == wanted
        return wait_for(lambda: self.state(shard), reached)

    def until_asked(self, request_id: str, times: int) -> None:
        """Wait until a batch was asked for so many times."""
        wait_for(lambda: self.service.asked[request_id], lambda asked: asked >= times)

    def order_harness(self, do: str, shard: str, **more: Any) -> dict[str, Any]:
        """Have the harness do something with the instance of a shard."""
        return self.runtime.order(do, instance=instance_of(shard), **more)


def wait_for(look: Callable[[], T], reached: Callable[[T], bool]) -> T:
    """Look until it is reached, or fail with what was seen last."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while not reached(seen := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"after {_WAIT_SECONDS} seconds: {seen}")
        time.sleep(_PAUSE_SECONDS)
    return seen


def order(batches: Batches, **changes: object) -> dict[str, object]:
    """The body of a hand-over."""
    waits = {"first_wait": 0.05, "longest_wait": 0.05}
    return {"model": MODEL, "title": "Products", "kind": "embed", **waits, "batches": batches, **changes}


def instance_of(shard: str) -> str:
    """The id of the workflow's instance for /collect/{job}/{shard}."""
    return "-".join(shard.split("/")[2:4])


# With counted bindings, and a service behind it that answers at once: see counting.js


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
