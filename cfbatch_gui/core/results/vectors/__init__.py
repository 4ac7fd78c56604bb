"""Vectors, and what is read from them."""
