"""What is said of results that earlier jobs have."""

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.preflight import Preflight, Reuse
from cfbatch_gui.core.messages import Message, counted_message, message


def reuse_sentence(found: Preflight, kind: Kind) -> Message | str:
    """How many of the texts have results, where, and how many are new; "" when there is nothing to say."""
    reuse = found.reuse
    if reuse is None:
        return ""
    if kind is Kind.RANK:
        many = counted_message(
            found.texts,
            "{done:,} of {n:,} text was ranked before, {where}.",
            "{done:,} of {n:,} texts were ranked before for the same query, {where}.",
            done=reuse.texts,
            where=_where(reuse),
        )
    else:
        many = counted_message(
            found.texts,
            "{done:,} of {n:,} text was turned into a vector before, {where}.",
            "{done:,} of {n:,} texts were turned into vectors before, {where}.",
            done=reuse.texts,
            where=_where(reuse),
        )
    if not found.sent_texts:
        return message("{sentence} Nothing is sent, and nothing is paid.", sentence=many)
    new = counted_message(found.sent_texts, "{n:,} is new and will be sent.", "{n:,} are new and will be sent.")
    return message("{sentence} {next}", sentence=many, next=new)


def _where(reuse: Reuse) -> Message:
    first = message("in “{name}”", name=reuse.sources[0].name)
    others = len(reuse.sources) - 1
    if not others:
        return first
    return counted_message(others, "{first} and in {n:,} other job", "{first} and in {n:,} other jobs", first=first)
