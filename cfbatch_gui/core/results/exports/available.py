"""What there is to choose from when a job's results are exported."""

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.results.exports.score_rows import score_columns
from cfbatch_gui.core.results.exports.vector_rows import vector_columns


def columns_of(folder: JobFolder, kind: Kind) -> tuple[str, ...]:
    """The names that `ExportOptions.columns` takes. Raises DataError.

    Of a ranking these are all columns of its long table; of vectors the user's own: id and numbers are always written.
    """
    return score_columns(folder) if kind is Kind.RANK else vector_columns(folder)
