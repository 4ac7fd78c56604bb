"""Results: rankings and embeddings read from a job's folder, and their exports.

Only the folder is read, never the service; a job that still runs gives partial results, which are marked as such.
"""
