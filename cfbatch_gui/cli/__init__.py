"""The face in a terminal. Standard output carries the result and nothing else; the rest goes to stderr."""
