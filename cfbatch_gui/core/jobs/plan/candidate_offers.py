"""What each choice of candidates would come to, estimated from the average text, for a collection with judgements and
no run.
"""

from dataclasses import dataclass

from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Kind, Source
from cfbatch_gui.core.inputs.readers.collection import (
    CollectionTexts,
    have_contrast,
    is_relevant,
    read_collection_texts,
)
from cfbatch_gui.core.system.threads import check_stopped
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata, Price, price
from cfbatch_gui.core.workers_ai.estimate import tokens_lower, tokens_upper

_Range = tuple[int, int]  # tokens by the low and by the high estimate


@dataclass(frozen=True, slots=True)
class CandidateOffer:
    """Tokens and prices are the low and the high estimate. With `measures_nothing` no query would have two candidates
    of different grades.
    """

    rule: CandidateRule
    queries: int
    pairs: int
    tokens_low: int
    tokens_high: int
    price_low: Price
    price_high: Price
    measures_nothing: bool


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


class _Sizes:
    """The tokens of the queries, of the judged texts, and of the corpus as a whole; each low and high."""

    def __init__(self, found: CollectionTexts, metadata: ModelMetadata) -> None:
        def tokens_of(text: str) -> _Range:
            return min(tokens_lower(text), metadata.max_tokens), min(tokens_upper(text), metadata.max_tokens)

        wanted = {document for labels in found.labels.values() for document in labels}
        self.judged: dict[str, _Range] = {}
        self.count = self.longest = 0
        self.corpus = [0, 0]
        for document, text in found.documents:
            if document in self.judged:
                continue
            tokens = tokens_of(text)
            if document in wanted:
                self.judged[document] = tokens
            self.count, self.longest = self.count + 1, max(self.longest, tokens[1])
            self.corpus = [total + each for total, each in zip(self.corpus, tokens, strict=True)]
            check_stopped()
        self.labels = {
            query: {document: label for document, label in labels.items() if document in self.judged}
            for query, labels in found.labels.items()
            if found.queries.get(query, "").strip()
        }
        self.queries = {query: tokens_of(text) for query, text in found.queries.items()}


def _offer(rule: CandidateRule, kind: Kind, sizes: _Sizes, metadata: ModelMetadata) -> CandidateOffer:
    size = {CandidatePool.JUDGED: 0, CandidatePool.CORPUS: sizes.count}.get(rule.pool, min(rule.size, sizes.count))
    drawn = {query: max(0, size - len(labels)) for query, labels in sizes.labels.items() if size or labels}
    tokens_of = _tokens_of_pairs if kind is Kind.RANK else _tokens_of_texts
    low, high = (round(tokens_of(sizes, drawn, side, metadata)) for side in (0, 1))
    are_told_apart = have_contrast(sizes.labels.values()) or any(
        count and any(map(is_relevant, sizes.labels[query].values())) for query, count in drawn.items()
    )
    return CandidateOffer(
        rule,
        len(drawn) if kind is Kind.RANK else 0,
        sum(len(sizes.labels[query]) + count for query, count in drawn.items()),
        low,
        high,
        price(low, metadata),
        price(high, metadata),
        measures_nothing=not are_told_apart,
    )


def _tokens_of_pairs(sizes: _Sizes, drawn: dict[str, int], side: int, metadata: ModelMetadata) -> float:
    """Of queries with candidates; by the high estimate a query counts in each request that its candidates need."""
    total, average = 0.0, sizes.corpus[side] / max(1, sizes.count)
    for query, count in drawn.items():
        padded = (len(sizes.labels[query]) + count + 1) * sizes.longest
        requests = -(-padded // metadata.padded_tokens) if side and metadata.padded_tokens else 1
        total += sum(sizes.judged[document][side] for document in sizes.labels[query])
        total += average * count + sizes.queries[query][side] * max(1, requests)
    return total


def _tokens_of_texts(sizes: _Sizes, drawn: dict[str, int], side: int, _: ModelMetadata) -> float:
    """Of the texts for vectors, each of which is sent once however many queries have it."""
    own = {document: sizes.judged[document][side] for labels in sizes.labels.values() for document in labels}
    rest = sizes.count - len(own)
    others = rest * (1 - (1 - 1 / rest) ** sum(drawn.values())) if rest else 0.0  # expected different ones
    return sum(own.values()) + sizes.corpus[side] / max(1, sizes.count) * others
