"""Judgements, metrics, comparison of runs. A *run* is a ranked list for each query, in the sense of TREC."""
