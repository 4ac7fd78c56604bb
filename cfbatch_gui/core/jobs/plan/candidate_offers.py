"""What each choice of candidates would come to, estimated from the average text, for a collection with judgements and
no run.
"""

from dataclasses import dataclass, replace

from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Kind, Source
from cfbatch_gui.core.inputs.readers.collection import (
    CollectionTexts,
    have_contrast,
    is_relevant,
    read_collection_texts,
)
from cfbatch_gui.core.jobs.plan.preflight import Preflight
from cfbatch_gui.core.system.threads import check_stopped
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, Price, price
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_upper


@dataclass(frozen=True, slots=True)
class CandidateOffer:
    """Tokens and prices are the low and the high estimate. With `measures_nothing` no query would have two candidates
    of different grades; `are_all_relevant` is the usual case of it.
    """

    rule: CandidateRule
    queries: int
    pairs: int
    tokens_low: int
    tokens_high: int
    price_low: Price
    price_high: Price
    measures_nothing: bool
    are_all_relevant: bool


def candidate_offers(source: Source, kind: Kind, metadata: ModelMetadata) -> tuple[CandidateOffer, ...]:
    """The offers for a source, from the fewest texts to the most; () where the input names its candidates. Blocking:
    reads the corpus. Raises InputError.
    """
    found = read_collection_texts(source) if source.candidates is not None else None
    if found is None:
        return ()
    sizes = _Sizes(found, metadata)
    sample = source.candidates if source.candidates and source.candidates.pool is CandidatePool.SAMPLE else None
    rules = (CandidateRule(CandidatePool.JUDGED), sample or CandidateRule(), CandidateRule(CandidatePool.CORPUS))
    return tuple(_offer(rule, kind, sizes, metadata) for rule in rules)


def with_known(
    offers: tuple[CandidateOffer, ...], rule: CandidateRule | None, known: Preflight
) -> tuple[CandidateOffer, ...]:
    """The offers with the figures of the plan for the one that has `rule`, and the others put right in proportion."""
    planned = next((each for each in offers if each.rule == rule), None)
    if planned is None or not planned.tokens_low or not planned.tokens_high:
        return offers
    low, high = known.tokens_low / planned.tokens_low, known.tokens_high / planned.tokens_high
    counted = replace(planned, pairs=known.texts, queries=known.queries)
    return tuple(_multiplied(counted if each is planned else each, low, high) for each in offers)


def _multiplied(offer: CandidateOffer, low: float, high: float) -> CandidateOffer:
    return replace(
        offer,
        tokens_low=round(offer.tokens_low * low),
        tokens_high=round(offer.tokens_high * high),
        price_low=_multiplied_price(offer.price_low, low),
        price_high=_multiplied_price(offer.price_high, high),
    )


def _multiplied_price(one: Price, times: float) -> Price:
    return Price(one.neurons * times, one.dollars * times, one.share_of_free_day * times)


class _Sizes:
    """The tokens of the queries, of the judged texts, and of the corpus as a whole; each low and high."""

    def __init__(self, found: CollectionTexts, metadata: ModelMetadata) -> None:
        most = metadata.max_tokens
        wanted = {document for labels in found.labels.values() for document in labels}
        self.judged: dict[str, tuple[int, int]] = {}
        self.count = self.low = self.high = self.longest = 0
        for document, text in found.documents:
            if document in self.judged:
                continue
            low, high = min(tokens_lower(text), most), min(tokens_upper(text), most)
            if document in wanted:
                self.judged[document] = (low, high)
            self.count, self.low, self.high = self.count + 1, self.low + low, self.high + high
            self.longest = max(self.longest, high)
            check_stopped()
        self.labels = {
            query: {document: label for document, label in labels.items() if document in self.judged}
            for query, labels in found.labels.items()
            if found.queries.get(query, "").strip()
        }
        self.queries = {
            query: (min(tokens_lower(text), most), min(tokens_upper(text), most))
            for query, text in found.queries.items()
        }


def _offer(rule: CandidateRule, kind: Kind, sizes: _Sizes, metadata: ModelMetadata) -> CandidateOffer:
    counts = {query: _counts(rule, labels, sizes) for query, labels in sizes.labels.items()}
    counts = {query: (judged, drawn) for query, (judged, drawn) in counts.items() if judged + drawn}
    pairs = sum(judged + drawn for judged, drawn in counts.values())
    if kind is Kind.RANK:
        tokens = _ranked_tokens(counts, sizes, metadata)
    else:
        tokens = _distinct_tokens(rule, sum(drawn for _, drawn in counts.values()), sizes)
    drawn_beside_relevant = any(
        drawn and any(map(is_relevant, sizes.labels[query].values())) for query, (_, drawn) in counts.items()
    )
    low, high = map(round, tokens)
    return CandidateOffer(
        rule,
        len(counts) if kind is Kind.RANK else 0,
        pairs,
        low,
        high,
        price(low, metadata),
        price(high, metadata),
        measures_nothing=not (drawn_beside_relevant or have_contrast(sizes.labels.values())),
        are_all_relevant=not any(drawn for _, drawn in counts.values())
        and all(is_relevant(label) for labels in sizes.labels.values() for label in labels.values()),
    )


def _counts(rule: CandidateRule, labels: dict[str, str], sizes: _Sizes) -> tuple[int, int]:
    judged = len(labels)
    if rule.pool is CandidatePool.JUDGED:
        return judged, 0
    most = sizes.count if rule.pool is CandidatePool.CORPUS else min(rule.size, sizes.count)
    return judged, max(0, most - judged)


def _ranked_tokens(counts: dict[str, tuple[int, int]], sizes: _Sizes, metadata: ModelMetadata) -> tuple[float, float]:
    """The tokens of queries with candidates: a query counts in each request that its candidates need."""
    totals = [0.0, 0.0]
    for query, (judged, drawn) in counts.items():
        texts = judged + drawn + 1
        requests = -(-texts * sizes.longest // metadata.padded_tokens) if metadata.padded_tokens else 1
        for side, times in enumerate((1, max(1, requests))):
            own = sum(sizes.judged[document][side] for document in sizes.labels[query])
            others = (sizes.low, sizes.high)[side] / max(1, sizes.count) * drawn
            totals[side] += own + others + sizes.queries[query][side] * times
    return totals[0], totals[1]


def _distinct_tokens(rule: CandidateRule, drawn: int, sizes: _Sizes) -> tuple[float, float]:
    """The tokens of the texts for vectors, each of which is sent once however many queries have it."""
    if rule.pool is CandidatePool.CORPUS:
        return sizes.low, sizes.high
    own = {document: sizes.judged[document] for labels in sizes.labels.values() for document in labels}
    rest = max(0, sizes.count - len(own))
    others = rest * (1 - (1 - 1 / rest) ** drawn) if rest else 0.0  # expected different ones of so many drawn
    low, high = (total / max(1, sizes.count) * others for total in (sizes.low, sizes.high))
    return sum(each[0] for each in own.values()) + low, sum(each[1] for each in own.values()) + high
