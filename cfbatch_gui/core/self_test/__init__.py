"""The self-test: what the program needs is tried, one thing after the other, without the user's data and settings."""
