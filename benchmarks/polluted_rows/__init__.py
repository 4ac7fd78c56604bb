"""CSV files of which one row was spoilt by one character, and what is said of that row."""
