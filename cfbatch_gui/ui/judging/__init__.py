"""Judging: one query and one text at a time, and what is asked before and said after."""
