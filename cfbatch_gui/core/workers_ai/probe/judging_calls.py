"""How the assumptions about calls are told from the evidence: form of answers, list of models, refusals, the queue."""

import re
from collections.abc import Iterable
from typing import Any, Final

from cfbatch_gui.core.errors import QueueNotSupported
from cfbatch_gui.core.messages import message, stored_message
from cfbatch_gui.core.workers_ai.catalogue import find_model
from cfbatch_gui.core.workers_ai.probe.evidence import Evidence, Exchange, Step, is_number, shown
from cfbatch_gui.core.workers_ai.probe.findings import Seen, held, not_held, not_seen

_NO_QUEUE: Final = 8007
_UNKNOWN_ID: Final = 5504
_UNKNOWN_MODEL: Final = frozenset({5007, 3042, 7000, 7003})
_OF_SOMETHING_ELSE: Final = frozenset({8007, 3021, 3036, 3040, 4006, 10000, 1000, 9106, 9109, 2001, 2009})
_RATE: Final = re.compile(r";\s*r=\d+\s*;\s*t=\d+")
_LONGEST_ID: Final = 200  # characters
_ROUNDING: Final = 0.1  # of a price
_NO_ANSWER: Final = message("There was no answer.")


def envelope(evidence: Evidence) -> Seen:
    """See the table."""
    answers = [each for each in evidence.of(*Step) if each.is_good]
    bare = [each for each in answers if not _is_wrapped(each)]
    if bare:
        return not_held(message("The answer to {step} has no envelope.", step=stored_message(bare[0].step)))
    return held(message("{n} answers have it.", n=len(answers))) if answers else not_seen(_NO_ANSWER)


def binding_without_envelope(evidence: Evidence) -> Seen:
    """See the table."""
    answers = [each for each in evidence.of(*Step) if each.is_good]
    wrapped = [each for each in answers if _is_wrapped(each)]
    if wrapped:
        return not_held(message("The answer to {step} has an envelope.", step=stored_message(wrapped[0].step)))
    return held(message("{n} answers have none.", n=len(answers))) if answers else not_seen(_NO_ANSWER)


def content_type(evidence: Evidence) -> Seen:
    """See the table."""
    answers = [each for each in evidence.of(*Step) if each.content is not None]
    for each in answers:
        kind = each.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return not_held(
                message("The answer to {step} is marked {value}.", step=stored_message(each.step), value=shown(kind))
            )
    return held(message("{n} answers are marked so.", n=len(answers))) if answers else not_seen(_NO_ANSWER)


def rate_header(evidence: Evidence) -> Seen:
    """See the table."""
    found = [each.headers["ratelimit"] for each in evidence.of(*Step) if "ratelimit" in each.headers]
    unread = [value for value in found if not _RATE.search(value)]
    if unread:
        return not_held(message("The header holds {value}.", value=shown(unread[0])))
    return (
        held(message("{n} answers have it.", n=len(found)))
        if found
        else not_seen(message("No answer had such a header."))
    )


# The list of models


def catalogue_form(evidence: Evidence) -> Seen:
    """See the table."""
    answer = _first(evidence.of(Step.NONSENSE))
    if answer is None or not answer.is_good:
        return not_seen(evidence.error_of(Step.NONSENSE) or _NO_ANSWER)
    if not isinstance(answer.result, list):
        return not_held(message("The answer is {value}, not a list.", value=shown(answer.result)))
    return (
        not_held(message("{n} models match nonsense.", n=len(answer.result)))
        if answer.result
        else held(message("An empty list came."))
    )


def catalogue_entry(evidence: Evidence) -> Seen:
    """See the table."""
    answer = _first(evidence.of(Step.MODEL))
    if answer is None or not answer.is_good or not isinstance(answer.result, list):
        return not_seen(evidence.error_of(Step.MODEL) or message("There was no list to look in."))
    entry = _entry(evidence)
    if entry is None:
        return not_held(message("None of {n} entries has the model's name.", n=len(answer.result)))
    listed = entry.get("properties")
    entries = listed if isinstance(listed, list) else []
    if not entries or not all(isinstance(each, dict) and {"property_id", "value"} <= each.keys() for each in entries):
        return not_held(message("The model's entry has no properties of this form."))
    return held(message("The model's entry has {n} properties.", n=len(entries)))


def catalogue_queue(evidence: Evidence) -> Seen:
    """Compared with what the queue did; without a batch that was taken the mark may be right or wrong."""
    properties = _properties(evidence)
    if not properties:
        return not_seen(message("There was no entry to look in."))
    if not _taken(evidence):
        return not_seen(message("No batch was taken, so the mark tells nothing."))
    mark = properties.get("async_queue")
    if str(mark).lower() == "true":
        return held(message("The model is marked, and takes batches."))
    return not_held(message("The model takes batches, and its mark is {value}.", value=shown(mark)))


def catalogue_dimension(evidence: Evidence) -> Seen:
    """See the table."""
    listed = _number(_properties(evidence).get("output_dimensions"))
    lengths = {vector.size for vector in evidence.all_vectors()}
    if listed is None or len(lengths) != 1:
        return not_seen(
            message("The list does not say it.") if listed is None else message("No vectors of one length came.")
        )
    (length,) = lengths
    words = message("The list says {listed:,g}, the vectors have {length:,} numbers.", listed=listed, length=length)
    return held(words) if listed == length else not_held(words)


def catalogue_price(evidence: Evidence) -> Seen:
    """See the table."""
    known, listed = find_model(evidence.plan.model.name), _properties(evidence).get("price")
    if listed is None or not known.is_listed:
        return not_seen(
            message("The list does not say it.")
            if listed is None
            else message("The program's own list has no such model.")
        )
    prices = [
        _number(each.get("price"))
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict) and "input tokens" in str(each.get("unit")).lower()
    ]
    if not prices or prices[0] is None:
        return not_held(message("No price for input tokens can be read."))
    ours = known.dollars_per_million
    words = message(
        "The list says ${listed:g} for a million tokens, the program ${ours:.4g}.", listed=prices[0], ours=ours
    )
    return held(words) if abs(prices[0] / ours - 1) < _ROUNDING else not_held(words)


# Refusals


def refusal_form(evidence: Evidence) -> Seen:
    """See the table."""
    refusals = [each for each in evidence.of(*Step) if each.is_refusal]
    for each in refusals:
        if not 400 <= each.status < 500:
            return not_held(
                message(
                    "The refusal of {step} has HTTP status {status}.",
                    step=stored_message(each.step),
                    status=each.status,
                )
            )
        errors = each.errors
        if not errors or not all(isinstance(code, int) and isinstance(message, str) for code, message in errors):
            return not_held(
                message(
                    "The refusal of {step} has no list of errors with a code and a message.",
                    step=stored_message(each.step),
                )
            )
    return (
        held(message("{n} refusals have it.", n=len(refusals)))
        if refusals
        else not_seen(message("Nothing was refused."))
    )


def unknown_id(evidence: Evidence) -> Seen:
    """See the table."""
    answer = _first(evidence.of(Step.UNKNOWN_ID))
    if answer is None or answer.content is None:
        return not_seen(evidence.error_of(Step.UNKNOWN_ID) or _NO_ANSWER)
    if not answer.is_refusal:
        return not_held(message("It was answered as if it were known."))
    return _code_among(answer, frozenset({_UNKNOWN_ID}))


def unknown_model(evidence: Evidence) -> Seen:
    """See the table."""
    answer = _first(evidence.of(Step.UNKNOWN_MODEL))
    if answer is None or answer.content is None:
        return not_seen(evidence.error_of(Step.UNKNOWN_MODEL) or _NO_ANSWER)
    if not answer.is_refusal:
        return not_held(message("It was answered as if it were known."))
    if _UNKNOWN_ID in answer.codes:
        return not_seen(message("The id in it was refused before the model was looked at."))
    return _code_among(answer, _UNKNOWN_MODEL)


def _code_among(answer: Exchange, expected: frozenset[int]) -> Seen:
    codes = answer.codes
    if expected & set(codes):
        return held(message("It was refused with code {value}.", value=codes[0]))
    if not codes:
        return not_seen(message("The refusal has no code."))
    if _OF_SOMETHING_ELSE & set(codes):
        return not_seen(message("It was refused for another reason, with code {code}.", code=codes[0]))
    return not_held(message("It was refused with code {value}.", value=codes[0]))


# The queue


def queue_taken(evidence: Evidence) -> Seen:
    """See the table."""
    if taken := _taken(evidence):
        return held(
            message("One batch was taken.") if len(taken) == 1 else message("{n} batches were taken.", n=len(taken))
        )
    if any(isinstance(each.error, QueueNotSupported) for each in evidence.of(Step.SUBMIT)):
        return not_held(message("The model takes no batches here; without the queue it can be used."))
    return not_seen(evidence.error_of(Step.SUBMIT) or message("No batch was sent."))


def no_queue_code(evidence: Evidence) -> Seen:
    """See the table."""
    for each in evidence.of(Step.SUBMIT):
        if _NO_QUEUE in each.codes:
            return held(message("It was refused so."))
        if each.is_refusal and any("queu" in str(message).lower() for _, message in each.errors):
            return not_held(
                message("The queue was refused with code {value}.", value=shown(next(iter(each.codes), None)))
            )
    return not_seen(message("No batch was refused for this reason."))


def gateway_batches(evidence: Evidence) -> Seen:
    """See the table."""
    if _taken(evidence):
        return held(message("A batch was taken."))
    refused = _first(each for each in evidence.of(Step.SUBMIT) if each.is_refusal)
    if refused is None or _OF_SOMETHING_ELSE & set(refused.codes):
        return not_seen(evidence.error_of(Step.SUBMIT) or message("No batch was sent."))
    return not_held(
        message(
            "A batch was refused with code {value}, HTTP {status}.",
            value=shown(next(iter(refused.codes), None)),
            status=refused.status,
        )
    )


def submit_status(evidence: Evidence) -> Seen:
    """See the table."""
    words = [_key(each, "status") for each in _taken(evidence)]
    other = [word for word in words if word != "queued"]
    if other:
        return not_held(message("The status is {value}.", value=shown(other[0])))
    return held(message("{n} answers say so.", n=len(words))) if words else not_seen(message("No batch was taken."))


def submit_id(evidence: Evidence) -> Seen:
    """See the table."""
    ids = [_key(each, "request_id") for each in _taken(evidence)]
    other = [each for each in ids if not isinstance(each, str) or not 0 < len(each) <= _LONGEST_ID]
    if other:
        return not_held(message("It is {value}.", value=shown(other[0])))
    return (
        held(message("Ids of {n} characters came.", n=len(ids[0]))) if ids else not_seen(message("No batch was taken."))
    )


def submit_model(evidence: Evidence) -> Seen:
    """See the table."""
    names = [_key(each, "model") for each in _taken(evidence)]
    other = [name for name in names if name != evidence.plan.model.name]
    if other:
        return not_held(message("The model is {value}.", value=shown(other[0])))
    return held(message("It is named.")) if names else not_seen(message("No batch was taken."))


def waiting_status(evidence: Evidence) -> Seen:
    """See the table."""
    words = [_key(each, "status") for each in _waiting(evidence)]
    other = [word for word in words if word not in ("queued", "running")]
    if other:
        return not_held(message("The status is {value}.", value=shown(other[0])))
    if not words:
        return not_seen(message("Nothing was seen waiting: the first poll brought the results."))
    return held(message("Seen: {words}.", words=", ".join(dict.fromkeys(map(str, words)))))


def waiting_id(evidence: Evidence) -> Seen:
    """See the table."""
    named = 0
    for each in evidence.of(Step.POLL, Step.AGAIN):
        found = _key(each, "request_id") if each.is_good else None
        if found is not None and each.form is not None:
            named += 1
            if found != evidence.request_ids.get(each.form):
                return not_held(message("An answer names another id."))
    return (
        held(message("{named} answers name it.", named=named))
        if named
        else not_seen(message("No answer to a poll names an id."))
    )


def _is_wrapped(exchange: Exchange) -> bool:
    return isinstance(exchange.content, dict) and {"result", "success"} <= exchange.content.keys()


def _first(exchanges: Iterable[Exchange]) -> Exchange | None:
    return next(iter(exchanges), None)


def _key(exchange: Exchange, name: str) -> Any:
    return exchange.result.get(name) if isinstance(exchange.result, dict) else None


def _taken(evidence: Evidence) -> list[Exchange]:
    return [each for each in evidence.of(Step.SUBMIT) if each.is_good and isinstance(each.result, dict)]


def _waiting(evidence: Evidence) -> list[Exchange]:
    polls = [each for each in evidence.of(Step.POLL) if each.is_good and not each.elements]
    return [each for each in polls if _key(each, "status") is not None]


def _entry(evidence: Evidence) -> dict[str, Any] | None:
    answer = _first(evidence.of(Step.MODEL))
    listed = answer.result if answer is not None and answer.is_good else None
    entries = [each for each in (listed if isinstance(listed, list) else ()) if isinstance(each, dict)]
    return next((each for each in entries if each.get("name") == evidence.plan.model.name), None)


def _properties(evidence: Evidence) -> dict[str, Any]:
    listed = (_entry(evidence) or {}).get("properties")
    return {
        str(each.get("property_id")): each.get("value")
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict) and "property_id" in each
    }


def _number(value: object) -> float | None:
    if isinstance(value, str):
        try:
            return float(value.replace(",", ""))
        except ValueError:
            return None
    return float(value) if is_number(value) else None  # type: ignore[arg-type]  # it is a number
