"""Batches that the user's own account collects: handed over, fetched, and taken over by another computer."""
