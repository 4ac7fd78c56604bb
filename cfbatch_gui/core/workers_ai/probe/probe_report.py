"""The report of a probe, as text and as JSON, to keep or to send: no token, no account id and no whole request id."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from cfbatch_gui.core.workers_ai.probe.assumption_values import READ_ON
from cfbatch_gui.core.workers_ai.probe.evidence import Step
from cfbatch_gui.core.workers_ai.probe.findings import Finding, Outcome
from cfbatch_gui.core.workers_ai.probe.probing import ProbedBatch, ProbeResult

_SHOWN_OF_AN_ID: Final = 4  # characters
_WIDTH: Final = 10  # of the column of outcomes
_ORDER: Final = (Outcome.NOT_HELD, Outcome.HELD, Outcome.NOT_SEEN)


def counts_sentence(findings: tuple[Finding, ...]) -> str:
    """ "41 held, 1 not held, 24 not seen." """
    counts = Counter(each.outcome for each in findings)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome) + "."


def text_report(result: ProbeResult) -> str:
    """The report as text; what did not hold comes first."""
    return "\n".join(_lines(result)) + "\n"


def json_report(result: ProbeResult) -> str:
    """The report as one JSON object, indented."""
    found = {
        "report": "check of the service",
        "program": "CF Batch",
        "version": result.version,
        "date": _moment(result.started),
        "connection": str(result.kind),
        "account_mark": result.account_mark,
        "model": result.plan.model.name,
        "most_dollars": round(result.plan.price.dollars, 6),
        "assumptions_read": READ_ON,
        "outcomes": {str(outcome): _count(result, outcome) for outcome in Outcome},
        "assumptions": [
            {
                "id": each.assumption.id,
                "outcome": str(each.outcome),
                "observation": each.observation,
                "sentence": each.assumption.sentence,
            }
            for each in result.findings
        ],
        "batches": [
            {"form": str(each.form), "request_id": _shortened(each), "sentence": each.sentence}
            for each in result.batches
        ],
        "calls": [{"step": words, "status": status} for words, status in _calls(result)],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _lines(result: ProbeResult) -> Iterator[str]:
    yield "CF Batch: check of the service"
    yield ""
    yield f"Date:        {_moment(result.started)}"
    yield f"Program:     CF Batch {result.version}; its assumptions were read in {READ_ON}"
    yield f"Connection:  {result.kind}" + (f", account mark {result.account_mark}" if result.account_mark else "")
    yield f"Model:       {result.plan.model.name}"
    yield f"Result:      {counts_sentence(result.findings)}"
    for outcome in _ORDER:
        found = [each for each in result.findings if each.outcome is outcome]
        yield from (
            "",
            f"{str(outcome).capitalize()} ({len(found)})" if found else f"{str(outcome).capitalize()}: none",
        )
        for each in found:
            yield f"  {each.assumption.id}: {each.assumption.sentence}"
            yield f"{' ' * _WIDTH}{each.observation}"
            if outcome is Outcome.NOT_HELD:
                yield f"{' ' * _WIDTH}What the program does then: {each.assumption.otherwise}"
    yield from ("", "Batches")
    yield from (f"  {each.form} ({_shortened(each) or 'no id'}): {each.sentence}" for each in result.batches)
    yield from ("", "Calls, with their HTTP status")
    yield from (f"  {words}: {status or 'no answer'}" for words, status in _calls(result))


def _calls(result: ProbeResult) -> Iterator[tuple[str, int]]:
    for each in result.evidence.exchanges:
        yield (f"{each.step}, {each.form}" if each.form and each.step is not Step.RUN else str(each.step)), each.status


def _count(result: ProbeResult, outcome: Outcome) -> int:
    return sum(each.outcome is outcome for each in result.findings)


def _shortened(batch: ProbedBatch) -> str:
    """The beginning of a request id, which belongs to an account."""
    return f"{batch.request_id[:_SHOWN_OF_AN_ID]}…" if batch.request_id else ""


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
