"""Which function tells of which assumption, and what is said of all of them."""

from collections.abc import Callable
from typing import Final

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.probe import judging_calls as calls
from cfbatch_gui.core.workers_ai.probe import judging_elements as elements
from cfbatch_gui.core.workers_ai.probe import judging_results as results
from cfbatch_gui.core.workers_ai.probe.assumption_values import Assumption, Sight
from cfbatch_gui.core.workers_ai.probe.assumptions import ASSUMPTIONS
from cfbatch_gui.core.workers_ai.probe.evidence import Evidence
from cfbatch_gui.core.workers_ai.probe.findings import Finding, Seen, not_seen

JUDGES: Final[dict[str, Callable[[Evidence], Seen]]] = {
    judge.__name__.replace("_", "-"): judge
    for judge in (
        calls.envelope,
        calls.binding_without_envelope,
        calls.content_type,
        calls.rate_header,
        calls.catalogue_form,
        calls.catalogue_entry,
        calls.catalogue_queue,
        calls.catalogue_dimension,
        calls.catalogue_price,
        calls.refusal_form,
        calls.unknown_id,
        calls.unknown_model,
        calls.queue_taken,
        calls.no_queue_code,
        calls.gateway_batches,
        calls.submit_status,
        calls.submit_id,
        calls.submit_model,
        calls.waiting_status,
        calls.waiting_id,
        elements.done_responses,
        elements.done_without_status,
        elements.done_again,
        elements.element_ids,
        elements.references,
        elements.order,
        elements.element_success,
        elements.result_depth,
        elements.usage,
        elements.usage_estimate,
        results.scores_form,
        results.scores_range,
        results.scores_meaning,
        results.scores_cosine,
        results.contexts_form,
        results.text_form,
        results.vector_order,
        results.vector_shape,
        results.vector_dimension,
        results.vector_length,
        results.vector_pooling,
        results.run_form,
        results.run_numbers,
    )
}


def judge_all(evidence: Evidence) -> tuple[Finding, ...]:
    """A finding for every assumption, in the order of the table."""
    return tuple(Finding(each, _judge(each, evidence)) for each in ASSUMPTIONS)


def _judge(assumption: Assumption, evidence: Evidence) -> Seen:
    if assumption.sight is Sight.NEVER:
        return not_seen(message("A check cannot see this: {reason}.", reason=assumption.reason))
    if evidence.kind not in assumption.kinds:
        return not_seen(message("This is about another kind of connection."))
    return JUDGES[assumption.id](evidence)
