"""The project's corpus of messy CSV files: made from a seed, each with what a careful person would read from it."""
