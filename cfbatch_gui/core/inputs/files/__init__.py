"""From a path to bytes, and from bytes to text."""
