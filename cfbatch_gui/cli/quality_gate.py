"""Whether a job's ranking is worse than the first one's by more than is allowed, as an exit status."""

import re
from dataclasses import dataclass

from cfbatch_gui.cli.exit_status import ExitStatus
from cfbatch_gui.cli.language import tr
from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.evaluation.judged import ENOUGH_JUDGED, Evaluation, answers
from cfbatch_gui.core.evaluation.significance import LEVEL
from cfbatch_gui.core.messages import Message, message

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
        sentence = tr("“{text}” is no limit; give a measure and a number from 0 to 1, like nDCG@10:0.02")
        raise ValueError(sentence.format(text=text))
    return Limit(found[1].strip(), int(found[2]) if found[2] else None, float(found[3].replace(",", ".")))


def check(evaluation: Evaluation | None, limit: Limit) -> tuple[ExitStatus, Message]:
    """The status of the job that is worst off, and a sentence about it. Raises UsageError for an unknown measure."""
    if evaluation is None or evaluation.measures_nothing:
        return (
            ExitStatus.TOO_FEW_JUDGED,
            message("Nothing is judged, or every candidate has the same grade: nothing can be told."),
        )
    names = tuple(evaluation.runs[0].means)
    metric = next((name for name in names if name.casefold() == limit.metric.casefold()), None)
    if metric is None:
        raise UsageError(
            message("There is no measure “{name}”. There are: {names}.", name=limit.metric, names=", ".join(names))
        )
    shares = [run.judged_share for run in evaluation.runs]
    if min(shares) < ENOUGH_JUDGED:
        job = shares.index(min(shares)) + 1
        return (
            ExitStatus.TOO_FEW_JUDGED,
            message(
                "Of the first {k} texts of job {job} only {share:.0%} are judged; {needed:.0%} are needed to rely on"
                " the figures.",
                k=evaluation.k,
                job=job,
                share=min(shares),
                needed=ENOUGH_JUDGED,
            ),
        )
    results = []
    for number, found in enumerate(answers(evaluation, metric), 2):
        if found.difference >= -limit.by:
            status = ExitStatus.DONE
            words = message(
                "{metric} of job {job} changes by {difference:+.4f} (p = {p:.3f}), which is within the {limit:g} that"
                " is allowed."
            )
        elif found.is_seen and found.p < LEVEL:
            status = ExitStatus.WORSE
            words = message(
                "{metric} of job {job} changes by {difference:+.4f} (p = {p:.3f}): worse by more than the {limit:g}"
                " that is allowed."
            )
        else:
            status = ExitStatus.CANNOT_TELL
            words = message(
                "{metric} of job {job} changes by {difference:+.4f} (p = {p:.3f}): below by more than {limit:g}, but"
                " that may be chance."
            )
            if found.needed:
                words = message(
                    "{metric} of job {job} changes by {difference:+.4f} (p = {p:.3f}): below by more than {limit:g},"
                    " but that may be chance. Judge about {needed:,} more queries."
                )
        values = {"metric": metric, "job": number, "difference": found.difference, "p": found.p, "limit": limit.by}
        results.append((status, words.filled(**values, needed=found.needed)))
    order = (ExitStatus.WORSE, ExitStatus.CANNOT_TELL, ExitStatus.DONE)
    return min(results, key=lambda result: order.index(result[0]))
