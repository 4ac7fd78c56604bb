"""What a probe sends: two requests of each form, which share their texts, and what they cost."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cfbatch_gui.core.errors import OverBudget
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_most
from cfbatch_gui.core.workers_ai.prices import Price, price
from cfbatch_gui.core.workers_ai.wire.requests import EmbedRequest, RankRequest, Request, encode_batch, encode_request

MOST_DOLLARS: Final = 0.001  # a probe that may cost more is not made
MARGIN: Final = 2  # counted tokens are at most so many times the high estimate, at least the low one divided by it

QUERY: Final = "How do I cancel my order?"
RELATED: Final = "Orders can be cancelled until they have been shipped."
UNRELATED: Final = "The museum is closed on Mondays."
_ORDERS: Final = ((UNRELATED, QUERY, RELATED), (QUERY, RELATED, UNRELATED))
_TOKENS_AROUND: Final = 2  # that a tokenizer sets before and after each text


class Form(StrEnum):
    """The forms of a request; a batch of a probe has one alone, as a job's batches have."""

    SCORES = message("query and contexts")
    CONTEXTS = message("contexts")
    TEXT = message("text")


@dataclass(frozen=True, slots=True)
class ProbeBatch:
    """One batch of a probe."""

    form: Form
    requests: tuple[Request, ...]

    @property
    def body(self) -> bytes:
        """The body that is posted."""
        return encode_batch(map(encode_request, self.requests))

    @property
    def tokens(self) -> tuple[int, int]:
        """A low and a high estimate of the tokens that are counted."""
        texts = [text for request in self.requests for text in texts_of(request)]
        return sum(map(tokens_lower, texts)), sum(tokens_most(text) + _TOKENS_AROUND for text in texts)


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """What will be sent: the batches, and the first request of the first one once more without the queue.

    `price` is the most that all of it costs; on the practice service it costs nothing.
    """

    model: ModelMetadata
    batches: tuple[ProbeBatch, ...]
    price: Price

    @property
    def run(self) -> ProbeBatch:
        """What is sent without the queue."""
        return ProbeBatch(self.batches[0].form, self.batches[0].requests[:1])


def plan_probe(model: ModelMetadata, mark: str) -> ProbePlan:
    """Plan a probe of a model. `mark` makes its references unique: letters and digits.

    Raises OverBudget when it may cost more than MOST_DOLLARS.
    """
    forms = tuple(Form) if model.can_rank else (Form.TEXT,)
    batches = tuple(
        ProbeBatch(
            form,
            tuple(
                _request(form, texts, f"probe-{mark}-{form.name.lower()}-{number}")
                for number, texts in enumerate(_ORDERS)
            ),
        )
        for form in forms
    )
    once_more = ProbeBatch(batches[0].form, batches[0].requests[:1])
    tokens = sum(each.tokens[1] for each in (*batches, once_more))
    cost = price(MARGIN * tokens, model)
    if cost.dollars >= MOST_DOLLARS:
        raise OverBudget(
            message(
                "A check of {name} may cost ${dollars:.3f}, and a check must cost less than ${most}. "
                "Nothing was sent. Choose another model.",
                name=model.name,
                dollars=cost.dollars,
                most=MOST_DOLLARS,
            )
        )
    return ProbePlan(model, batches, cost)


def texts_of(request: Request) -> tuple[str, ...]:
    """All texts of a request, a query first."""
    if isinstance(request, EmbedRequest):
        return request.texts
    return request.contexts if request.query is None else (request.query, *request.contexts)


def _request(form: Form, texts: tuple[str, ...], reference: str) -> Request:
    if form is Form.TEXT:
        return EmbedRequest(texts, reference)
    return RankRequest(QUERY if form is Form.SCORES else None, texts, reference)
