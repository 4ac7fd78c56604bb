"""Results held against the answers they came from, and put right."""
