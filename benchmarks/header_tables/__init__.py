"""Tables whose first row is known to be a header or a row of data, to measure how often that is found."""
