"""Texts as points in a plane."""
