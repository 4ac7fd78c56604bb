"""What is said of vectors in an index of Vectorize: their form, and the facts of a push."""

from cfbatch_gui.core.vectorize.client import Metric
from cfbatch_gui.core.vectorize.push_values import IdSource, Push
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr


def dimension_words(dimension: int, metric: str = "") -> str:
    """ "256 dimensions, cosine"; `metric` is a `Metric`, or another word of the service's."""
    words: dict[str, str] = {
        Metric.COSINE: tr("cosine"),
        Metric.EUCLIDEAN: tr("Euclidean distance"),
        Metric.DOT_PRODUCT: tr("dot product"),
    }
    length = figures.plural(dimension, "{n} dimension", "{n} dimensions") if dimension else ""
    return ", ".join(filter(None, (length, words.get(metric, metric))))


def push_facts(push: Push) -> list[tuple[str, str]]:
    """Labels and values of a push that was sent whole."""
    options, number = push.options, figures.number
    ids = {IdSource.ROWS: tr("row numbers"), IdSource.OWN: tr("the job's IDs")}
    took = push.ended_at - push.started_at
    facts = [
        (tr("ID from"), ids.get(options.ids, options.id_column)),
        (tr("Namespace"), options.namespace or tr("none")),
        (tr("Beside each vector"), ", ".join(each.column for each in options.metadata) or tr("nothing")),
        (tr("New or changed"), number(push.sent)),
        (tr("As they were"), number(push.vectors - push.sent)),
        (tr("Taken out"), number(push.deleted)),
        (tr("In the index"), number(push.in_index)),
        (tr("Read back"), number(push.compared)),
        (tr("Took"), figures.duration(took) if took >= 1 else tr("under 1 s")),
    ]
    return facts if push.ended_at else facts[:-1]
