"""Scores, and the ranks that follow from them."""
