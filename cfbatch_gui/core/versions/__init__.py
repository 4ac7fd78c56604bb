"""What differs between two versions of a file, as two jobs have read them."""
