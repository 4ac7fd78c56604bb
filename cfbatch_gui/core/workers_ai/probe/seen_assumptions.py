"""The assumptions that a probe can see: it says of each whether it held."""

from typing import Final

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind
from cfbatch_gui.core.workers_ai.probe.assumption_values import (
    BATCH,
    BGE_BASE,
    BGE_M3,
    BINDING,
    ERRORS,
    GATEWAY,
    LIMITS,
    LIST,
    NOWHERE,
    OTHERS,
    PRICING,
    REST,
    Area,
    Assumption,
    Sight,
)

_WITH_ENVELOPE: Final = frozenset(ConnectionKind) - {ConnectionKind.WORKER}

SEEN_BY_A_PROBE: Final = (
    Assumption(
        "envelope",
        Area.FORM,
        message("Every answer of the REST API and of a gateway is an object with `result` and `success`."),
        REST,
        message(
            "An accepted batch is read without them too; a refusal without them leaves the outcome of a batch unknown."
        ),
        kinds=_WITH_ENVELOPE,
    ),
    Assumption(
        "binding-without-envelope",
        Area.FORM,
        message(
            "The Workers Binding answers without `result` and `success`, and a Worker hands its answers on as they are."
        ),
        BINDING,
        message("Answers with them are read too."),
        kinds=frozenset({ConnectionKind.WORKER}),
    ),
    Assumption(
        "content-type",
        Area.FORM,
        message("Answers are marked `application/json`."),
        REST,
        message("An answer that cannot be read is taken for a proxy's or a hotel's page instead of the service's."),
    ),
    Assumption(
        "rate-header",
        Area.FORM,
        message(
            "A `Ratelimit` header, where there is one, says how many calls are left (`r`) and for how many seconds "
            "(`t`)."
        ),
        LIMITS,
        message("The header is passed over; the program's own budget of 800 calls in five minutes holds all the same."),
    ),
    Assumption(
        "catalogue-form",
        Area.MODELS,
        message("A search in the list of models answers with a list, which is empty if nothing matches."),
        LIST,
        message(
            "The test of a connection says that the list could not be read; the program's own list of models is used."
        ),
        kinds=_WITH_ENVELOPE,
    ),
    Assumption(
        "catalogue-entry",
        Area.MODELS,
        message("An entry has the model's `name` and its `properties`, each with `property_id` and `value`."),
        LIST,
        message(
            "The test of a connection says that the model is not listed; its limits and price are the program's own."
        ),
        kinds=_WITH_ENVELOPE,
    ),
    Assumption(
        "catalogue-queue",
        Area.MODELS,
        message("The property `async_queue` is “true” for a model that takes batches."),
        LIST,
        message("The options of a job say that the model is not marked for batches; it is sent all the same."),
        kinds=_WITH_ENVELOPE,
    ),
    Assumption(
        "catalogue-dimension",
        Area.MODELS,
        message("The property `output_dimensions` is the length of the vectors that come."),
        LIST,
        message("Vectors of another length are taken as they come; the size of answers is estimated wrongly."),
        kinds=_WITH_ENVELOPE,
    ),
    Assumption(
        "catalogue-price",
        Area.MODELS,
        message("The property `price` is in dollars for a million input tokens, and is the one of the price list."),
        PRICING,
        message("The price of the list of models is used; without a unit that is understood, the program's own."),
        kinds=_WITH_ENVELOPE,
    ),
    Assumption(
        "refusal-form",
        Area.REFUSALS,
        message(
            "A refusal has an HTTP status from 400 to 499, and a list of errors with a number as `code` and a "
            "`message`."
        ),
        ERRORS,
        message("A submit that is answered so has an unknown outcome, and a poll is repeated."),
    ),
    Assumption(
        "unknown-id",
        Area.REFUSALS,
        message("A poll for an id that the service does not know, or no longer, is refused with code 5504."),
        OTHERS,
        message("A batch that is gone is asked for again and again, and never said to be gone."),
    ),
    Assumption(
        "unknown-model",
        Area.REFUSALS,
        message("A model that does not exist is refused with code 5007, 3042, 7000 or 7003."),
        ERRORS,
        message("The message says only that the request was refused; the service's reason is in its details."),
    ),
    Assumption(
        "queue-taken",
        Area.SENDING,
        message("The model takes batches through this connection."),
        BGE_M3,
        message("Nothing is billed; the texts can be run at once. After a check this is said before anything is sent."),
    ),
    Assumption(
        "no-queue-code",
        Area.SENDING,
        message("A model that takes no batches refuses them with code 8007, “does not support request queuing”."),
        OTHERS,
        message("The batch fails with the service's reason, and sending at once is not offered by itself."),
    ),
    Assumption(
        "gateway-batches",
        Area.SENDING,
        message("A gateway passes batches on as it does other calls."),
        GATEWAY,
        message("The batch fails with the gateway's reason; another connection has to be used."),
        kinds=frozenset({ConnectionKind.GATEWAY}),
    ),
    Assumption(
        "submit-status",
        Area.SENDING,
        message("An accepted batch is answered with HTTP 200 to 299 and the `status` “queued”."),
        REST,
        message(
            "Another word is shown as it is, and the batch is asked for; another HTTP status leaves the outcome "
            "unknown."
        ),
    ),
    Assumption(
        "submit-id",
        Area.SENDING,
        message("The answer to an accepted batch has a `request_id`, a text of up to 200 characters."),
        REST,
        message("The outcome is unknown, and the batch is not sent again by itself."),
    ),
    Assumption(
        "submit-model",
        Area.SENDING,
        message("The answer to an accepted batch names the `model` that was asked for."),
        REST,
        message("Nothing: the name is only read from an answer that a person pastes."),
    ),
    Assumption(
        "waiting-status",
        Area.WAITING,
        message("A batch that is not finished has the `status` “queued” or “running”."),
        BINDING,
        message("Another word is shown as it is, and the batch is asked for again."),
    ),
    Assumption(
        "waiting-id",
        Area.WAITING,
        message("An answer that names a `request_id` names the one that was asked for."),
        REST,
        message("The answer is not taken."),
    ),
    Assumption(
        "done-responses",
        Area.ANSWER,
        message("A finished batch has its results in a list `responses`."),
        REST,
        message("A list `results` is read too; without either the batch is put aside."),
    ),
    Assumption(
        "done-without-status",
        Area.ANSWER,
        message("A finished batch has no `status`."),
        REST,
        message("A list of results that is not empty counts, whatever the status."),
    ),
    Assumption(
        "done-again",
        Area.ANSWER,
        message("A finished batch can be asked for once more, and has the same results."),
        NOWHERE,
        message("An answer that was lost on the way, or by a crash before it was on the disk, is lost for good."),
    ),
    Assumption(
        "element-ids",
        Area.ANSWER,
        message("Every element has an `id`, the index of its request: whole numbers from 0, each once, none missing."),
        BINDING,
        message(
            "Without an `id` the reference counts; an `id` that was not sent, or is there twice, puts the batch aside."
        ),
    ),
    Assumption(
        "references",
        Area.ANSWER,
        message("Every element repeats the `external_reference` of its request."),
        REST,
        message(
            "Elements are told apart by their `id`. After a check has seen references, a job takes no answer "
            "without them."
        ),
    ),
    Assumption(
        "order",
        Area.ANSWER,
        message("Elements come in any order."),
        BATCH,
        message("Nothing: the order is never used."),
        Sight.HELD_ONLY,
        message("the order that was sent may come by chance"),
    ),
    Assumption(
        "element-success",
        Area.ANSWER,
        message("Every element has `success`, true when there is a result."),
        REST,
        message("An element without it counts as good if it has a result."),
    ),
    Assumption(
        "result-depth",
        Area.ANSWER,
        message("What the model gives stands in the element's `result` itself."),
        REST,
        message("One level deeper, in `result.result`, it is found too."),
    ),
    Assumption(
        "usage",
        Area.ANSWER,
        message("A finished batch has `usage` with the tokens that were counted, `prompt_tokens` and `total_tokens`."),
        REST,
        message("What a job took is unknown, and is estimated."),
    ),
    Assumption(
        "usage-estimate",
        Area.ANSWER,
        message("The tokens counted are between half the low estimate and twice the high one."),
        NOWHERE,
        message("Prices that are shown before sending are wrong until finished jobs have put them right."),
    ),
    Assumption(
        "scores-form",
        Area.SCORES,
        message("Scores stand in `response`; the `id` of each is the index of its context, each once, none missing."),
        BGE_M3,
        message("The batch is put aside."),
    ),
    Assumption(
        "scores-range",
        Area.SCORES,
        message("A score is a number from -1 to 1."),
        OTHERS,
        message("Scores are shown and ranked as they come."),
    ),
    Assumption(
        "scores-meaning",
        Area.SCORES,
        message("The higher the score, the closer the context: one that repeats the query has the highest."),
        BGE_M3,
        message("Rankings are upside down or mean nothing; nothing in the program notices."),
    ),
    Assumption(
        "scores-cosine",
        Area.SCORES,
        message("A score is the cosine of the vectors of query and context."),
        OTHERS,
        message("The view of scores beside similarities of vectors compares different things."),
    ),
    Assumption(
        "contexts-form",
        Area.VECTORS,
        message("Contexts without a query are answered by vectors in `response`."),
        BGE_M3,
        message("Vectors in `data` are read too."),
    ),
    Assumption(
        "text-form",
        Area.VECTORS,
        message("A list in `text` is answered by vectors in `data`."),
        BGE_M3,
        message("Vectors in `response` are read too."),
    ),
    Assumption(
        "vector-order",
        Area.VECTORS,
        message("Vectors come in the order of the texts of their request."),
        BGE_M3,
        message("Vectors stand beside the wrong texts; nothing in the program notices."),
    ),
    Assumption(
        "vector-shape",
        Area.VECTORS,
        message("`shape` is the number of vectors and their length."),
        BGE_M3,
        message("Without it the vectors are counted; one that contradicts them puts the batch aside."),
    ),
    Assumption(
        "vector-dimension",
        Area.VECTORS,
        message("All vectors of a model have one length."),
        BGE_M3,
        message("The batch is put aside."),
    ),
    Assumption(
        "vector-length",
        Area.VECTORS,
        message("Vectors are unit vectors."),
        OTHERS,
        message("Nothing: they are stored as sent, and divided by their norm where a view needs it."),
    ),
    Assumption(
        "vector-pooling",
        Area.VECTORS,
        message("`pooling` is “cls” for bge-m3, and for the English models “mean” unless the request says otherwise."),
        BGE_BASE,
        message("The word of the service is stored; vectors of different poolings in one job put the batch aside."),
    ),
    Assumption(
        "run-form",
        Area.RUN,
        message("A request at the same address without `queueRequest` is answered by the model's output alone."),
        BGE_M3,
        message("The answer is put aside; it has been billed."),
    ),
    Assumption(
        "run-numbers",
        Area.RUN,
        message("Without the queue come the same numbers as with it."),
        NOWHERE,
        message("Results of the two ways cannot be compared; nothing in the program notices."),
    ),
)
