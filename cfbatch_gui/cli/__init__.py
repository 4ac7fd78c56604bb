"""The terminal program. Standard output carries the result only; everything else is written to stderr."""
