"""What a job comes to, and which request carries which text."""
