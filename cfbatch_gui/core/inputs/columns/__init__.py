"""What the columns are for, and how rows become texts."""
