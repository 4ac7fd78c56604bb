"""Results: rankings and embeddings read from a job's folder, also while it runs, and their exports."""
