"""The terminal program. Standard output carries the result only; all else goes to stderr."""
