"""What a file is, and where its table stands."""
