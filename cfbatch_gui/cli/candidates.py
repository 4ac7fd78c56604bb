"""`--candidates`: which texts are ranked for each query of a data set that has judgements and no run."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from cfbatch_gui.cli.language import number, plural, tr
from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Kind
from cfbatch_gui.core.jobs.plan.candidate_offers import CandidateOffer

_LEAST_SHOWN = 0.0001  # dollars; for less it is said that it is less


def add_candidates_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--candidates`."""
    parser.add_argument(
        "--candidates",
        metavar="|".join((CandidatePool.JUDGED, CandidatePool.CORPUS, f"{CandidatePool.SAMPLE}[:N]")),
        type=candidate_rule,
        help=tr(
            "of a data set with judgements and no run, the texts to rank for each query: those that are judged, the"
            " whole corpus, or those that are judged and others drawn from the corpus, N in all ({n})"
        ).format(n=CandidateRule().size),
    )


def candidate_rule(text: str) -> CandidateRule:
    """Parse judged, corpus, sample or sample:N, for argparse."""
    name, colon, size = text.partition(":")
    try:
        pool = CandidatePool(name.strip().lower())
        if not colon:
            return CandidateRule(pool)
        if pool is CandidatePool.SAMPLE and int(size) > 0:
            return CandidateRule(pool, int(size))
    except ValueError:
        pass
    sentence = tr("“{text}” should be judged, corpus, sample, or for example sample:100").format(text=text)
    raise argparse.ArgumentTypeError(sentence)


def words_of_rule(rule: CandidateRule) -> str:
    """The rule as `--candidates` takes it."""
    return f"{rule.pool}:{rule.size}" if rule.pool is CandidatePool.SAMPLE else rule.pool.value


def lines_of_offers(offers: Sequence[CandidateOffer], rule: CandidateRule | None, kind: Kind) -> Iterator[str]:
    """A line for each choice, with an arrow before the one that was made; none without offers."""
    if offers:
        yield tr("No file says which texts are the candidates of each query. Choose by --candidates:")
    width = max((len(words_of_rule(each.rule)) for each in offers), default=0)
    for each in offers:
        dollars = each.price_high.dollars
        if dollars < _LEAST_SHOWN:
            price = tr("less than ${amount}").format(amount=number(_LEAST_SHOWN, ",.4f"))
        else:
            price = tr("about ${amount}").format(amount=number(dollars, ",.4f"))
        if kind is Kind.RANK:
            comes_to = plural(each.pairs, "{n} pair, {price}", "{n} pairs, {price}", price=price)
        else:
            comes_to = plural(each.pairs, "{n} text, {price}", "{n} texts, {price}", price=price)
        mark = "→" if each.rule == rule else " "
        yield f"{mark} {words_of_rule(each.rule):<{width}}  {comes_to}{_nothing(each, kind)}"


def _nothing(offer: CandidateOffer, kind: Kind) -> str:
    if kind is not Kind.RANK or not offer.measures_nothing:
        return ""
    if offer.are_all_relevant:
        return tr("; nothing can be measured: every candidate is relevant")
    return tr("; nothing can be measured: all candidates of a query have the same grade")


def json_of_offers(offers: Sequence[CandidateOffer], rule: CandidateRule | None) -> dict[str, object] | None:
    """The choice that was made, and what each would come to; None for an input that names its candidates."""
    if rule is None:
        return None
    return {
        "chosen": words_of_rule(rule),
        "offers": [
            {
                "candidates": words_of_rule(each.rule),
                "queries": each.queries,
                "texts": each.pairs,
                "tokens": {"low": each.tokens_low, "high": each.tokens_high},
                "price": {"low": asdict(each.price_low), "high": asdict(each.price_high)},
                "measures_nothing": each.measures_nothing,
                "all_relevant": each.are_all_relevant,
            }
            for each in offers
        ],
    }
