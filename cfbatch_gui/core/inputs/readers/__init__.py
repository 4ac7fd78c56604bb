"""One reader per format of files, and the table of formats."""
