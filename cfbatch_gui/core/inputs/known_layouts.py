"""Files whose form says by itself what each column is for."""

from cfbatch_gui.core.inputs.model import FileFormat, Kind, Layout, Mapping, Role, Shape, Source

_ROLES = {
    "external_reference": Role.ID,
    "custom_id": Role.ID,
    "qid": Role.ID,
    "query": Role.QUERY,
    "contexts": Role.CONTEXT,
    "candidates": Role.CONTEXT,
    "text": Role.TEXT,
}
_PAIRS = (Role.QUERY_ID, Role.QUERY, Role.ID, Role.CONTEXT, Role.KEEP, Role.LABEL)
_DOCUMENTS = (Role.KEEP, Role.KEEP, Role.ID, Role.TEXT, Role.KEEP, Role.LABEL)


def known_mapping(source: Source, kind: Kind | None) -> Mapping | None:
    """The mapping of a file of known form; None for all others, and for a kind of job that does not fit it."""
    if source.format is FileFormat.COLLECTION:
        if kind is Kind.EMBED:
            return Mapping(kind, Layout.TEXTS, _DOCUMENTS)
        return Mapping(Kind.RANK, Layout.LONG, _PAIRS)
    if source.format is FileFormat.FOLDER and kind is not Kind.RANK:
        return Mapping(Kind.EMBED, Layout.TEXTS, (Role.ID, Role.TEXT))
    if source.shape in (Shape.PLAIN, Shape.ARRAYS, Shape.RECORDS):
        return None
    roles = tuple(_ROLES[column] for column in source.columns)
    if Role.TEXT in roles:
        return Mapping(Kind.EMBED, Layout.TEXTS, roles) if kind is not Kind.RANK else None
    return Mapping(Kind.RANK, Layout.NESTED, roles) if kind is not Kind.EMBED else None
