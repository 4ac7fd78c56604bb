"""Judgements of how relevant a text is for a query: books that keep them, scales, files, agreement of judges."""
