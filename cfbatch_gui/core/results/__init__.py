"""What the user takes home: rankings and embeddings read from a job's folder, and their exports.

Everything works offline from the folder, while a job runs (partial results say so) and years later.
"""
