"""Whether a job's ranking is worse than the first one's by more than is allowed, as an exit status."""

import re
from dataclasses import dataclass

from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.judged import ENOUGH_JUDGED, Evaluation, answers
from cfbatch_gui.core.evaluation.significance import LEVEL

_LIMIT = re.compile(r"([^:@]+(?:@([1-9][0-9]*)(?: \(exp\))?)?):(0?[.,][0-9]+|0|1)")


@dataclass(frozen=True, slots=True)
class Limit:
    """`metric` may fall by `by`, from 0 to 1; `k` is its cut-off, None for a measure without one."""

    metric: str
    k: int | None
    by: float


def read_limit(text: str) -> Limit:
    """Read "nDCG@10:0.02". Raises ValueError with a sentence."""
    found = _LIMIT.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"“{text}” is no limit; give a measure and a number from 0 to 1, like nDCG@10:0.02")
    return Limit(found[1].strip(), int(found[2]) if found[2] else None, float(found[3].replace(",", ".")))


def check(evaluation: Evaluation | None, limit: Limit) -> tuple[ExitStatus, str]:
    """The status of the job that is worst off, and a sentence about it. Raises UsageError for an unknown measure."""
    if evaluation is None or evaluation.measures_nothing:
        return (
            ExitStatus.TOO_FEW_JUDGED,
            "Nothing is judged, or every candidate has the same grade: nothing can be told.",
        )
    names = tuple(evaluation.runs[0].means)
    metric = next((name for name in names if name.casefold() == limit.metric.casefold()), None)
    if metric is None:
        raise UsageError(f"There is no measure “{limit.metric}”. There are: {', '.join(names)}.")
    shares = [run.judged_share for run in evaluation.runs]
    if min(shares) < ENOUGH_JUDGED:
        job = shares.index(min(shares)) + 1
        return (
            ExitStatus.TOO_FEW_JUDGED,
            f"Of the first {evaluation.k} texts of job {job} only {min(shares):.0%} are judged; {ENOUGH_JUDGED:.0%} are"
            " needed to rely on the figures.",
        )
    results = []
    for number, found in enumerate(answers(evaluation, metric), 2):
        falls = f"{metric} of job {number} changes by {found.difference:+.4f} (p = {found.p:.3f})"
        if found.difference >= -limit.by:
            results.append((ExitStatus.DONE, f"{falls}, which is within the {limit.by:g} that is allowed."))
        elif found.is_seen and found.p < LEVEL:
            results.append((ExitStatus.WORSE, f"{falls}: worse by more than the {limit.by:g} that is allowed."))
        else:
            more = f" Judge about {found.needed:,} more queries." if found.needed else ""
            words = f"{falls}: below by more than {limit.by:g}, but that may be chance.{more}"
            results.append((ExitStatus.CANNOT_TELL, words))
    order = (ExitStatus.WORSE, ExitStatus.CANNOT_TELL, ExitStatus.DONE)
    return min(results, key=lambda result: order.index(result[0]))
