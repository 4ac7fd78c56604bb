"""What a push goes by, besides what the user chose: clock, patience, and the size of its parts."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cfbatch_gui.core.vectorize.limits import PART_BYTES
from cfbatch_gui.core.vectorize.push_values import PushProgress
from cfbatch_gui.core.workers_ai.limits import MAX_UPLOAD_VECTORS
from cfbatch_gui.core.workers_ai.repeating import PATIENCE, Sleep

Show = Callable[[PushProgress], None]

# How long an index is waited for. Mutations are usually processed within seconds, large ones within minutes. Set here.
WAIT_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class PushSettings:
    """`clock` returns seconds since 1970; `patience` is that of each call; `wait_seconds` are for the index."""

    clock: Callable[[], float]
    sleep: Sleep = asyncio.sleep
    patience: int = PATIENCE
    wait_seconds: float = WAIT_SECONDS
    most_vectors: int = MAX_UPLOAD_VECTORS
    most_bytes: int = PART_BYTES
