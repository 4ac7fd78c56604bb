"""Vector checks, duplicates and clusters of a job, as on the window's pages."""

import math
from collections.abc import Iterator

from cfbatch_gui.cli.console import counted, elided
from cfbatch_gui.core.results.numbers import score_text, vector_value_text
from cfbatch_gui.core.results.vectors.clusters import Clusters
from cfbatch_gui.core.results.vectors.embeddings import EmbeddedText, Embeddings
from cfbatch_gui.core.results.vectors.near_duplicates import Duplicates
from cfbatch_gui.core.results.vectors.vector_checks import VectorChecks


def lines_of_vector_checks(checks: VectorChecks) -> Iterator[str]:
    """A line for each check, its name at the left."""
    unit = " (unit length)" if checks.unit_length else ""
    shortest, longest = vector_value_text(checks.norm_min), vector_value_text(checks.norm_max)
    length = "" if math.isnan(checks.norm_min) else f"{shortest} to {longest}{unit}"
    for name, value in (
        ("Dimension", f"{checks.dimension:,}"),
        ("Length", length),
        ("Repeated", f"{checks.repeated:,}"),
        ("Zero", f"{checks.zero:,}"),
        ("Not finite", f"{checks.non_finite:,}"),
        ("Missing", f"{checks.missing:,}"),
    ):
        yield f"{name:<11} {value}".rstrip()


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
    gone = counted(found.gone, "text")
    yield f"Near duplicates from {found.threshold:g}: {counted(len(groups), 'group')}, {gone} would go{partial}"
    for group in groups:
        stays, *goes = embeddings.texts([group.stays, *group.goes])
        yield ""
        yield _line("  stays          ", stays, width)
        for text, similarity in zip(goes, group.similarities, strict=True):
            yield _line(f"  goes   {score_text(similarity)}  ", text, width)


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
    texts, partial = counted(len(found.item_numbers), "text"), _partial(embeddings, found.missing)
    yield f"{counted(len(found.clusters), 'cluster')} of {texts}{partial}"
    for number, cluster in enumerate(found.clusters, 1):
        yield ""
        yield f"  {number}  {counted(cluster.size, 'text')}, likeness {score_text(cluster.similarity)}"
        yield from (_line("     ", text, width) for text in embeddings.texts(cluster.typical))


def json_of_clusters(embeddings: Embeddings, found: Clusters) -> dict[str, object]:
    """The clusters as a JSON object, with the rows of each."""
    clusters = []
    for number, cluster in enumerate(found.clusters):
        rows = [text.row for text in embeddings.texts(found.items_of(number).tolist())]
        typical = [_named(text) for text in embeddings.texts(cluster.typical)]
        clusters.append({"size": cluster.size, "likeness": cluster.similarity, "typical": typical, "rows": rows})
    return {"missing": found.missing, "clusters": clusters}


def _partial(embeddings: Embeddings, missing: int) -> str:
    return f"; partial, {missing:,} of {embeddings.count:,} texts have no vector" if missing else ""


def _line(start: str, text: EmbeddedText, width: int) -> str:
    name = text.id or f"row {text.row:,}"
    return start + elided(f"{name}  {text.text}", max(20, width - len(start)))


def _named(text: EmbeddedText) -> dict[str, object]:
    return {"row": text.row, "id": text.id, "text": text.text}
