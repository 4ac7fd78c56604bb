"""Estimates put right by what finished jobs took: for each model, kind and script, how the middle of the estimate
compares with the service's count (`usage`). Texts of several scripts are compared with such texts.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from cfbatch_gui.core.errors import DataError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import put_metadata_value
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.jobs.plan.spending import LEARNED, read_estimate
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.system.files import write_own_file
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, price
from cfbatch_gui.core.workers_ai.estimate import Script, script_of, tokens_lower, tokens_upper

MOST_KEPT: Final = 200  # jobs, the newest
_SAMPLED: Final = 600  # texts of a job
_LOOKED_AT: Final = 30  # finished jobs at a time
_MAIN: Final = 0.9  # of a job's tokens that are in one script, for it to speak for that script
_SPREAD_OF_ONE: Final = 0.10
_LEAST_SPREAD: Final = 0.03
_BELIEVED: Final = (0.1, 10.0)  # counted tokens by estimated ones; what is beyond is another kind of number

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Observation:
    """What one finished job took. `estimated` is the middle of its range, in tokens; `script` is "" for several."""

    job: str
    model: str
    kind: Kind
    script: str
    estimated: float
    counted: int

    @property
    def ratio(self) -> float:
        return self.counted / (self.estimated or 1.0)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A range of tokens, and how many jobs it was computed from; 0 when it is by rules of thumb alone."""

    low: int
    high: int
    jobs: int = 0


class Calibration:
    """What was learned, kept in one file; `learn` and `apply` belong in a thread. `counts` says whether a job's numbers
    are Cloudflare's own.
    """

    def __init__(self, path: Path, counts: Callable[[Job], bool]) -> None:
        self._path, self._counts = path, counts
        self._guard = threading.Lock()
        self._observations = _load(path)
        self._passed: set[str] = set()  # jobs without usable numbers

    def learn(
        self, jobs: Iterable[Job], folder_of: Callable[[str], JobFolder], metadata_for: Callable[[Job], ModelMetadata]
    ) -> None:
        """Take in the newest finished jobs that are not known yet. Raises DiskFull, DataError."""
        with self._guard:
            known = {each.job for each in self._observations} | self._passed
            finished = [
                job
                for job in jobs
                if job.state is JobState.DONE and job.tokens and not job.attached and not job.has_named_texts
                if job.id not in known
            ]
            finished.sort(key=lambda job: job.finished_at, reverse=True)
            new = []
            for job in finished[:_LOOKED_AT]:
                found = _observed(job, folder_of(job.id), metadata_for(job)) if self._counts(job) else None
                if found is None:
                    self._passed.add(job.id)
                else:
                    new.append(found)
            if new:
                kept = (*self._observations, *reversed(new))[-MOST_KEPT:]
                write_own_file(self._path, msgspec.json.encode(kept))
                self._observations = kept

    def apply(self, job: Job, folder: JobFolder, metadata: ModelMetadata, low: int, high: int) -> Calibrated:
        """The range for a job whose range by rules of thumb is from `low` to `high`. Practice stays by the rules."""
        about = job.model, job.kind, _script(folder, metadata)
        fitting = [each for each in self._observations if (each.model, each.kind, each.script) == about]
        if not fitting or not high or not self._counts(job):
            return Calibrated(low, high)
        weight = sum(each.estimated for each in fitting)
        mean = sum(each.ratio * each.estimated for each in fitting) / weight
        spread = _SPREAD_OF_ONE
        if len(fitting) > 1:
            variance = sum((each.ratio - mean) ** 2 * each.estimated for each in fitting) / weight
            spread = max(_LEAST_SPREAD, 2 * variance**0.5 / mean)
        middle = (low + high) / 2 * mean
        return Calibrated(round(middle * max(0.0, 1 - spread)), max(1, round(middle * (1 + spread))), len(fitting))


def calibrated(found: Preflight, job: Job, folder: JobFolder, metadata: ModelMetadata, known: Calibration) -> Preflight:
    """The same with tokens and prices as they were learned, noted in the job's data; limits stay with the cautious
    estimate. Raises DiskFull, DataError.
    """
    learned = known.apply(job, folder, metadata, found.tokens_low, found.tokens_high)
    if learned.jobs:
        with folder.open() as database:
            put_metadata_value(database, LEARNED, (found.tokens_low, found.tokens_high, learned.low, learned.high))
    reuse = found.reuse
    if reuse is not None:
        low, high = found.tokens_low + reuse.tokens_low, found.tokens_high + reuse.tokens_high
        all_of_it = known.apply(job, folder, metadata, low, high)
        reuse = replace(reuse, low=price(all_of_it.low, metadata), high=price(all_of_it.high, metadata))
    return replace(
        found,
        reuse=reuse,
        tokens_low=learned.low,
        tokens_high=learned.high,
        price_low=price(learned.low, metadata),
        price_high=price(learned.high, metadata),
        learned_from=learned.jobs,
    )


def _observed(job: Job, folder: JobFolder, metadata: ModelMetadata) -> Observation | None:
    try:
        planned = read_estimate(folder).by_rules
        script = _script(folder, metadata)
    except DataError as error:
        _log.info("Nothing is learned from job %s: %s", job.id, error.detail)
        return None
    if planned is None or script is None:
        return None
    found = Observation(job.id, job.model, job.kind, script, sum(planned) / 2, job.tokens)
    return found if _BELIEVED[0] < found.ratio < _BELIEVED[1] else None


def _script(folder: JobFolder, metadata: ModelMetadata) -> str | None:
    """The script of nearly all tokens of a job, by texts taken evenly from all of it; "" for several, None for none."""
    weights: Counter[Script] = Counter()
    with folder.open(read_only=True) as database:
        (count,) = database.execute("SELECT coalesce(max(text_no), 0) FROM texts").fetchone()
        numbers = sorted({1 + sample * count // _SAMPLED for sample in range(_SAMPLED)}) if count else []
        texts = database.execute("SELECT text FROM texts JOIN json_each(?) ON text_no = value", (str(numbers),))
        for (text,) in texts:
            weights[script_of(text)] += min(tokens_lower(text) + tokens_upper(text), 2 * metadata.max_tokens)
    if not weights.total():
        return None
    script, weight = weights.most_common(1)[0]
    return script if weight >= _MAIN * weights.total() else ""


def _load(path: Path) -> tuple[Observation, ...]:
    """What was learned; a file that cannot be read is learned again."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[Observation, ...])
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        _log.warning("What was learned of tokens in %s cannot be read: %s", path, error)
    return ()
