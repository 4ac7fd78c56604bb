"""How the assumptions about a batch's results as a whole are told from the evidence: its elements, and what it used."""

from typing import Any, Final

from cfbatch_gui.core.messages import comma_list, message, stored_message
from cfbatch_gui.core.workers_ai.probe.evidence import Evidence, Step, is_index, shown
from cfbatch_gui.core.workers_ai.probe.findings import NOTHING_FINISHED, Outcome, Seen, held, not_held, not_seen
from cfbatch_gui.core.workers_ai.probe.probe_requests import MARGIN

_MOST_TOKENS: Final = 10**12


def done_responses(evidence: Evidence) -> Seen:
    """See the table."""
    for each in evidence.of(Step.POLL):
        body = each.result if each.is_good else None
        if isinstance(body, dict) and "responses" not in body and not body.get("status"):
            return not_held(
                message("Results stand in “results”.") if "results" in body else message("There is no such list.")
            )
    return (
        held(message("{n} answers have it.", n=len(evidence.finished())))
        if evidence.finished()
        else not_seen(NOTHING_FINISHED)
    )


def done_without_status(evidence: Evidence) -> Seen:
    """See the table."""
    found = [each.result.get("status") for each in evidence.finished().values()]
    words = [word for word in found if word is not None]
    if words:
        return not_held(message("The status is {value}.", value=shown(words[0])))
    return held(message("{n} answers have none.", n=len(found))) if found else not_seen(NOTHING_FINISHED)


def done_again(evidence: Evidence) -> Seen:
    """See the table."""
    again = next(iter(evidence.of(Step.AGAIN)), None)
    if again is None or again.form not in evidence.finished():
        return not_seen(evidence.error_of(Step.AGAIN) or NOTHING_FINISHED)
    if again.elements is None:
        code = next(iter(again.codes), None)
        return not_held(
            message("It was refused with code {value}.", value=shown(code))
            if again.is_refusal
            else message("No results came.")
        )
    same = evidence.outputs(again) == evidence.outputs(evidence.finished()[again.form])
    return held(message("The same results came.")) if same else not_held(message("Other results came."))


def element_ids(evidence: Evidence) -> Seen:
    """See the table."""
    for form, elements in evidence.elements().items():
        ids = [each.get("id") for each in elements]
        count = len(evidence.references(form))
        if not all(is_index(each, count) for each in ids) or len(set(ids)) != count or len(ids) != count:
            return not_held(
                message(
                    "For {n} requests came {values}.",
                    n=count,
                    values=comma_list([*map(shown, ids[:count])]) or message("nothing"),
                )
            )
    return (
        held(message("{n} elements have theirs.", n=_count(evidence)))
        if evidence.elements()
        else not_seen(NOTHING_FINISHED)
    )


def references(evidence: Evidence) -> Seen:
    """See the table. Whether they belong to the ids is no part of it."""
    for form, elements in evidence.elements().items():
        found = [each.get("external_reference") for each in elements]
        absent = sum(each in (None, "") for each in found)
        if absent:
            return not_held(message("{absent} of {n} elements have none.", absent=absent, n=len(found)))
        if sorted(map(str, found)) != sorted(evidence.references(form)):
            return not_held(message("Elements have other references than were sent."))
    return (
        held(message("{n} elements have theirs.", n=_count(evidence)))
        if evidence.elements()
        else not_seen(NOTHING_FINISHED)
    )


def order(evidence: Evidence) -> Seen:
    """See the table."""
    for form, elements in evidence.elements().items():
        places = [each for each in (evidence.index(form, element) for element in elements) if each is not None]
        if places != sorted(places):
            return held(message("Elements came in another order than they were sent."))
    return not_seen(
        message("All came in the order in which they were sent.") if evidence.elements() else NOTHING_FINISHED
    )


def element_success(evidence: Evidence) -> Seen:
    """See the table."""
    elements = [each for found in evidence.elements().values() for each in found]
    with_result = [each for each in elements if each.get("result") is not None]
    other = [each.get("success") for each in with_result if each.get("success") is not True]
    if other:
        return not_held(message("Beside a result stands {value}.", value=shown(other[0])))
    if not with_result:
        return not_seen(message("Every request failed.") if elements else NOTHING_FINISHED)
    return held(message("{n} elements have it.", n=len(with_result)))


def result_depth(evidence: Evidence) -> Seen:
    """See the table."""
    outputs = [each.get("result") for found in evidence.elements().values() for each in found]
    read = [each for each in outputs if isinstance(each, dict)]
    if any("result" in each for each in read):
        return not_held(message("It stands in “result” once more."))
    return held(message("{n} elements have it so.", n=len(read))) if read else not_seen(NOTHING_FINISHED)


def usage(evidence: Evidence) -> Seen:
    """See the table."""
    for form, each in evidence.finished().items():
        if _tokens(each.result.get("usage")) is None:
            return not_held(
                message("The answer to the batch of “{form}” has no such numbers.", form=stored_message(form))
            )
    return (
        held(message("{tokens:,} tokens were counted.", tokens=_counted(evidence)))
        if evidence.finished()
        else not_seen(NOTHING_FINISHED)
    )


def usage_estimate(evidence: Evidence) -> Seen:
    """See the table."""
    if usage(evidence).outcome is not Outcome.HELD:
        return not_seen(message("No tokens were counted."))
    batches = [each for each in evidence.plan.batches if each.form in evidence.finished()]
    low, high = (sum(each.tokens[end] for each in batches) for end in (0, 1))
    words = message(
        "{tokens:,} tokens were counted, {low:,} to {high:,} estimated.", tokens=_counted(evidence), low=low, high=high
    )
    return held(words) if low / MARGIN <= _counted(evidence) <= high * MARGIN else not_held(words)


def _count(evidence: Evidence) -> int:
    return sum(map(len, evidence.elements().values()))


def _tokens(value: Any) -> int | None:
    """`total_tokens`, None unless it and `prompt_tokens` are counts."""
    if not isinstance(value, dict):
        return None
    prompt, total = value.get("prompt_tokens"), value.get("total_tokens")
    return total if is_index(prompt, _MOST_TOKENS) and is_index(total, _MOST_TOKENS) and prompt and total else None


def _counted(evidence: Evidence) -> int:
    return sum(_tokens(each.result.get("usage")) or 0 for each in evidence.finished().values())
