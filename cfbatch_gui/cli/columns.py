"""Open the files of a command and determine the roles of their columns: guessed, and overridden by the arguments."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cfbatch_gui.cli.language import tr
from cfbatch_gui.cli.reading import ColumnRole, Reading
from cfbatch_gui.core.errors import EncodingUnknown, InputError, UsageError
from cfbatch_gui.core.inputs.column_names import index_of, listed
from cfbatch_gui.core.inputs.encodings import shown_name
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind, Mapping, ReadOptions, Role, Source
from cfbatch_gui.core.inputs.layouts import check_mapping, with_role
from cfbatch_gui.core.inputs.recipes import Recipe, fitted
from cfbatch_gui.core.inputs.recognise.recogniser import as_guessed, open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.system.languages import said

_TEXTS = (Role.TEXT, Role.CONTEXT)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files of a run, and the roles of their columns."""

    source: Source
    second: Source | None
    mapping: Mapping

    @property
    def sources(self) -> tuple[Source, ...]:
        """The one file, or both."""
        return (self.source, self.second) if self.second else (self.source,)

    def as_guessed(self, error: EncodingUnknown) -> "Inputs":
        """The files in the encoding that was guessed when reading one of them raised `error`; raises it for others."""
        source = as_guessed(self.source, error)
        second = as_guessed(self.second, error) if self.second else None
        if (source, second) == (self.source, self.second):
            raise error
        return replace(self, source=source, second=second)

    def guesses(self) -> Iterator[str]:
        """A sentence for each file whose encoding was guessed."""
        for source in self.sources:
            if source.is_encoding_guessed:
                sentence = (
                    tr("{name} is read as {encoding}, our guess; --encoding NAME chooses another.")
                    if source is self.source
                    else tr("{name} is read as {encoding}, our guess; save it as UTF-8 to be sure.")
                )
                yield sentence.format(name=source.path.name, encoding=said(shown_name(source.encoding)))


class ColumnsUnsettled(InputError):
    """The columns of `inputs` have no roles of which a job can be made."""

    def __init__(self, message: str, inputs: Inputs) -> None:
        super().__init__(message)
        self.inputs = inputs


def open_inputs(
    kind: Kind, first: Path, second: Path | None, roles: Sequence[ColumnRole], reading: Reading | None = None
) -> Inputs:
    """Recognise the files and determine their columns' roles. Raises InputError and UsageError."""
    options = reading.options if reading else ReadOptions()
    source = open_source(first, options)
    if options.candidates is not None and source.candidates is None and not (reading and reading.recipe):
        raise UsageError(
            message(
                "{name} says itself what belongs to each query. --candidates is for a data set with a corpus, queries"
                " and judgements, and no run.",
                name=first.name,
            )
        )
    other = open_source(second, ReadOptions(sends_doubtful=options.sends_doubtful)) if second else None
    mapping = _by_recipe(reading.recipe, source, other) if reading and reading.recipe else None
    mapping = mapping or suggest_mapping(source, kind, preview(source), other, preview(other) if other else ())
    mapping = _with_roles(mapping, source, other, roles)
    mapping = reading.over(mapping) if reading else mapping
    missing = check_mapping(mapping, source, other)
    if missing:
        sentence = message(
            "{missing} Use --role COLUMN=ROLE. {name} has the columns {columns}.",
            missing=missing,
            name=first.name,
            columns=listed(source.columns),
        )
        if other:
            sentence = message(
                "{missing} Use --role COLUMN=ROLE. {name} has the columns {columns}, {other} has {others}.",
                **sentence.parameters,
                other=other.path.name,
                others=listed(other.columns),
            )
        raise ColumnsUnsettled(sentence, Inputs(source, other, mapping))
    return Inputs(source, other, mapping)


def _by_recipe(recipe: Recipe, source: Source, second: Source | None) -> Mapping:
    found = fitted(recipe, source.columns, second.columns if second else ())
    if isinstance(found, str):
        raise InputError(
            message(
                "The recipe “{recipe}” does not fit {name}. {reason}",
                recipe=recipe.name,
                name=source.path.name,
                reason=found,
            )
        )
    return found


def _with_roles(mapping: Mapping, source: Source, second: Source | None, roles: Sequence[ColumnRole]) -> Mapping:
    wanted = [(*_find(each, source, second), each.role) for each in roles]
    # Text columns named in the arguments replace those that were guessed.
    for is_second in {is_second for is_second, _, role in wanted if role in _TEXTS}:
        named = {column for in_second, column, _ in wanted if in_second is is_second}
        guessed = mapping.second_roles if is_second else mapping.roles
        for column, role in enumerate(guessed):
            if role in _TEXTS and column not in named:
                mapping = with_role(mapping, column, Role.KEEP, second=is_second)
    for is_second, column, role in wanted:
        mapping = with_role(mapping, column, role, second=is_second)
    return mapping


def _find(wanted: ColumnRole, source: Source, second: Source | None) -> tuple[bool, int]:
    """Whether the column is in the second file, and its index.

    A name that is in both files means the first file's column, unless its role is one of a text: the contexts are in
    the second file.
    """
    found = [(False, index_of(wanted.column, source.columns))]
    if second is not None:
        found.append((True, index_of(wanted.column, second.columns)))
        if wanted.role in _TEXTS:
            found.reverse()
    for is_second, index in found:
        if index is not None:
            return is_second, index
    columns = (*source.columns, *(second.columns if second else ()))
    raise UsageError(
        message(
            "There is no column “{column}”. The columns are {columns}.", column=wanted.column, columns=listed(columns)
        )
    )
