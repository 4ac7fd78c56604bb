"""Texts that were longer than the model reads, and were sent in parts."""

from cfbatch_gui.core.job_folder.folder import JobFolder


def has_parts(folder: JobFolder) -> bool:
    """Whether any text of the job was split. Of a ranking, a score is then that of the best part. Raises DataError."""
    with folder.open(read_only=True) as database:
        return database.execute("SELECT 1 FROM parts LIMIT 1").fetchone() is not None
