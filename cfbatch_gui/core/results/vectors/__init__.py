"""The vectors of embedding jobs: nearest texts, near duplicates, clusters, checks, comparison with scores."""
