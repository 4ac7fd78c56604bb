"""Vector checks, duplicates and clusters of a job, as on the window's pages."""

import math
from collections.abc import Iterator

from cfbatch_gui.cli.console import elided, padded, width_of
from cfbatch_gui.cli.language import figures, number, plural, tr
from cfbatch_gui.core.results.clusters import Clusters
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings, VectorChecks
from cfbatch_gui.core.results.near_duplicates import Duplicates
from cfbatch_gui.core.results.numbers import score_text, vector_value_text


def lines_of_vector_checks(checks: VectorChecks) -> Iterator[tuple[str, str]]:
    """The label and the text of a line for each check."""
    length = ""
    if not math.isnan(checks.norm_min):
        template = tr("{shortest} to {longest} (unit length)") if checks.unit_length else tr("{shortest} to {longest}")
        length = template.format(
            shortest=figures(vector_value_text(checks.norm_min)), longest=figures(vector_value_text(checks.norm_max))
        )
    yield tr("Dimension"), number(checks.dimension)
    yield tr("Length"), length
    yield tr("Repeated"), number(checks.repeated)
    yield tr("Zero"), number(checks.zero)
    yield tr("Not finite"), number(checks.non_finite)
    yield tr("Missing"), number(checks.missing)


def json_of_vector_checks(checks: VectorChecks) -> dict[str, object]:
    """The checks as a JSON object. The lengths are null while there is no vector."""
    nothing = math.isnan(checks.norm_min)
    return {
        "texts": checks.texts,
        "dimension": checks.dimension,
        "length_min": None if nothing else checks.norm_min,
        "length_max": None if nothing else checks.norm_max,
        "unit_length": checks.unit_length,
        "repeated": checks.repeated,
        "zero": checks.zero,
        "not_finite": checks.non_finite,
        "missing": checks.missing,
        "partial": checks.missing > 0,
    }


def lines_of_duplicates(embeddings: Embeddings, found: Duplicates, width: int) -> Iterator[str]:
    """Each group of duplicates: the text to keep, and those to remove."""
    groups = found.groups()
    partial = _partial(embeddings, found.missing)
    yield ""
    yield tr("Near duplicates from {threshold}: {groups}, {texts}{partial}").format(
        threshold=number(found.threshold, "g"),
        groups=plural(len(groups), "{n} group", "{n} groups"),
        texts=plural(found.gone, "{n} text would go", "{n} texts would go"),
        partial=partial,
    )
    stays_word, goes_word = tr("stays"), tr("goes")
    wide = width_of(goes_word) + 3
    similar = len(score_text(0.0)) + 2
    wide_stays = max(width_of(stays_word) + 2, wide + similar)
    for group in groups:
        stays, *goes = embeddings.texts([group.stays, *group.goes])
        yield ""
        yield _line(f"  {padded(stays_word, wide_stays)}", stays, width)
        for text, similarity in zip(goes, group.similarities, strict=True):
            start = f"{padded(goes_word, wide)}{figures(score_text(similarity))}"
            yield _line(f"  {padded(start, wide_stays)}", text, width)


def json_of_duplicates(embeddings: Embeddings, found: Duplicates) -> dict[str, object]:
    """The groups of duplicates as a JSON object, with the row numbers of the file."""
    groups = []
    for group in found.groups():
        stays, *goes = embeddings.texts([group.stays, *group.goes])
        similar = zip(goes, group.similarities, strict=True)
        groups.append(
            {"stays": _named(stays), "goes": [{**_named(text), "similarity": value} for text, value in similar]}
        )
    return {"threshold": found.threshold, "gone": found.gone, "missing": found.missing, "groups": groups}


def lines_of_clusters(embeddings: Embeddings, found: Clusters, width: int) -> Iterator[str]:
    """Each cluster with its most typical texts."""
    yield ""
    yield plural(
        len(found.clusters),
        "{n} cluster of {texts}{partial}",
        "{n} clusters of {texts}{partial}",
        texts=plural(len(found.item_numbers), "{n} text", "{n} texts"),
        partial=_partial(embeddings, found.missing),
    )
    for index, cluster in enumerate(found.clusters, 1):
        yield ""
        likeness = figures(score_text(cluster.similarity))
        words = plural(
            cluster.size, "{n} text, likeness {likeness}", "{n} texts, likeness {likeness}", likeness=likeness
        )
        yield f"  {index}  {words}"
        yield from (_line("     ", text, width) for text in embeddings.texts(cluster.typical))


def json_of_clusters(embeddings: Embeddings, found: Clusters) -> dict[str, object]:
    """The clusters as a JSON object, with the rows of each."""
    clusters = []
    for index, cluster in enumerate(found.clusters):
        rows = [text.row for text in embeddings.texts(found.items_of(index).tolist())]
        typical = [_named(text) for text in embeddings.texts(cluster.typical)]
        clusters.append({"size": cluster.size, "likeness": cluster.similarity, "typical": typical, "rows": rows})
    return {"missing": found.missing, "clusters": clusters}


def _partial(embeddings: Embeddings, missing: int) -> str:
    if not missing:
        return ""
    sentence = tr("; partial, {missing} of {n} texts have no vector")
    return sentence.format(missing=number(missing), n=number(embeddings.count))


def _line(start: str, text: EmbeddedText, width: int) -> str:
    name = text.id or tr("row {n}").format(n=number(text.row))
    return start + elided(f"{name}  {text.text}", max(20, width - len(start)))


def _named(text: EmbeddedText) -> dict[str, object]:
    return {"row": text.row, "id": text.id, "text": text.text}
