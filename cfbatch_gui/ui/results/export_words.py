"""The targets of an export in words, and what will be written."""

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.results.exports import Target, columns_of
from cfbatch_gui.core.results.outcomes import Tally
from cfbatch_gui.core.results.rankings.rankings import Rankings
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.ui import words
from cfbatch_gui.ui.results.limits import Limits
from cfbatch_gui.ui.results.loaded_results import failed_batches

_BYTES_A_NUMBER = {
    "npy": 4,
    "npz": 4,
    "csv": 11,
    "csv-excel": 11,
    "csv-cell": 11,
    "csv-cell-excel": 11,
    "jsonl": 11,
    "parquet": 4,
    "atlas": 4,
    "projector": 11,
    "vectorize": 11,
    "llm": 4,
    "openai": 11,
}
_JUDGEMENTS = frozenset({"qrels", "qrels-beir"})
_FORBIDDEN = '<>:"/\\|?*'
_LONGEST_NAME = 80


def _tr(text: str) -> str:
    return QCoreApplication.translate("exports", text)


def target_words(target: Target, kind: Kind) -> str:
    """One line about a target; "" for one that needs none."""
    if kind is Kind.RANK:
        return {
            "csv": _tr("One row a context, for scripts, databases and other programs."),
            "csv-excel": _tr("Opens with a double click; what looks like a formula is made harmless."),
            "xlsx": _tr("A workbook: numbers as numbers, and a sheet that tells where they come from."),
            "parquet": _tr("The same rows with types, compressed; for DuckDB, pandas and Polars."),
            "jsonl": _tr("One object a line, with all fields by name."),
            "trec": _tr("For trec_eval and programs like it; ties keep their order."),
            "qrels": _tr("The labels of your file as judgements, as trec_eval reads them."),
            "qrels-beir": _tr("The same judgements as a table with a header, as BEIR reads them."),
            "beir": _tr("A folder of texts, queries, labels and rankings, for BEIR and MTEB."),
            "failed": _tr("Your own rows that gave no score, with the reason, to mend and load again."),
        }.get(target.name, "")
    return {
        "csv": _tr("One row a text, one column for each number of its vector."),
        "csv-excel": _tr("The same, made to open with a double click; formulas are made harmless."),
        "csv-cell": _tr("One row a text, its vector as [0.1, …] in a single cell."),
        "csv-cell-excel": _tr("The same, made to open with a double click; formulas are made harmless."),
        "npy": _tr("The bare numbers, float32, one row a text; for Python."),
        "npz": _tr("Numbers and ids in one file; for Python."),
        "parquet": _tr("Vectors, texts and columns; for DuckDB, LanceDB, pandas and Polars."),
        "atlas": _tr("Parquet with the map, each text's neighbours, and the command to open it."),
        "jsonl": _tr("One object a line: text, id and vector."),
        "xlsx": _tr("A workbook with a column for each number, as long as it fits."),
        "projector": _tr("A folder that TensorFlow's Embedding Projector loads: vectors and metadata."),
        "vectorize": _tr("A folder of files as Cloudflare takes them, and the commands to load them."),
        "llm": _tr("A collection for the command-line program llm: “llm similar” works at once."),
        "openai": _tr("The lines that an OpenAI batch of embeddings answers with."),
        "failed": _tr("Your own rows that gave no vector, with the reason, to mend and load again."),
    }.get(target.name, "")


def kinds_of_file(target: Target) -> str:
    """For the platform's dialog: "CSV for programs (*.csv)"; a folder has any name."""
    if target.is_folder:
        return f"{target.title} (*)"
    return f"{target.title} ({' '.join(f'*{suffix}' for suffix in target.suffixes)})"


def file_name(job: Job, target: Target) -> str:
    """A name for the file, from the job's own, that every system takes."""
    kept = "".join("-" if sign in _FORBIDDEN or ord(sign) < 32 else sign for sign in job.name).strip(" .")
    ending = f" ({target.name})" if target.is_folder else target.suffixes[0]
    return f"{kept[:_LONGEST_NAME].strip(' .') or job.id}{ending}"


@dataclass(frozen=True, slots=True)
class Extent:
    """What there is to write. `kept` are the scores within the limits, `names` the columns that can be chosen."""

    tally: Tally
    kept: int
    names: tuple[str, ...]
    dimension: int

    @property
    def failed_rows(self) -> int:
        """Rows of the user's file that gave no result and will give none, about."""
        return self.tally.failed + self.tally.left_out + self.tally.skipped

    def rows(self, kind: Kind, *, limited: bool) -> int:
        """Rows of the file: of a ranking also those without a score, with their reason."""
        if kind is Kind.EMBED:
            return self.tally.done
        return (self.kept if limited else self.tally.done) + self.tally.items - self.tally.done + self.tally.skipped


def read_extent(folder: JobFolder, job: Job, limits: Limits) -> Extent:
    """Count. Blocking. Raises DataError."""
    failed = failed_batches(job)
    names = columns_of(folder, job.kind)
    if job.kind is Kind.RANK:
        rankings = Rankings(folder, failed)
        return Extent(rankings.tally(), rankings.counts(limits.top_k, limits.threshold).kept, names, 0)
    embeddings = Embeddings(folder, failed)
    return Extent(embeddings.tally(), 0, names, embeddings.dimension)


def extent_words(extent: Extent, kind: Kind, target: Target, columns: int | None = None) -> str:
    """ "3,816 rows of 15 columns", "18,204 rows of 1,024 numbers, about 205 MB". `columns`: how many are chosen."""
    count = extent.rows(kind, limited=target.has_limits)
    rows = words.plural(count, _tr("{n} row"), _tr("{n} rows"))
    if target.name == "failed":
        return words.plural(extent.failed_rows, _tr("{n} row"), _tr("{n} rows"))
    if target.name == "trec":
        return words.plural(extent.kept, _tr("{n} score"), _tr("{n} scores"))
    if target.name == "beir":
        return _tr("all texts and queries, and how they rank")
    if target.name in _JUDGEMENTS:
        return _tr("one row for each label of your file")
    if kind is Kind.RANK:
        wide = columns if columns is not None and target.has_columns else len(extent.names)
        each = words.plural(wide, _tr("{n} column"), _tr("{n} columns"))
        return _tr("{rows} of {columns}").format(rows=rows, columns=each)
    size = _BYTES_A_NUMBER.get(target.name, 0)
    text = _tr("{rows} of {n} numbers").format(rows=rows, n=words.number(extent.dimension))
    if not size:
        return text
    return _tr("{text}, about {size}").format(text=text, size=words.size(count * extent.dimension * size))


def missing_words(extent: Extent, kind: Kind) -> str:
    """What is not there, and what the file says of it; "" when all came back."""
    missing = extent.tally.items - extent.tally.done + extent.tally.skipped
    if not missing:
        return ""
    if missing == extent.tally.waiting:
        return _waiting_words(missing, kind)
    if kind is Kind.RANK:
        return words.plural(
            missing,
            _tr("{n} row has no score. It is written too, with its reason."),
            _tr("{n} rows have no score. They are written too, with their reasons."),
        )
    return words.plural(
        missing,
        _tr("{n} row has no vector and is left out; the file beside it says so."),
        _tr("{n} rows have no vector and are left out; the file beside it says so."),
    )


def _waiting_words(missing: int, kind: Kind) -> str:
    if kind is Kind.RANK:
        return words.plural(
            missing,
            _tr("{n} row has no score yet. It is written too, without one."),
            _tr("{n} rows have no score yet. They are written too, without one."),
        )
    return words.plural(
        missing,
        _tr("{n} row has no vector yet and is left out; the file beside it says so."),
        _tr("{n} rows have no vector yet and are left out; the file beside it says so."),
    )
