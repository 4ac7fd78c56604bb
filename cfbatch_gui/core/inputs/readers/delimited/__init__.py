"""Delimited text: read into rows, in each way of quoting, with a doubt about each row that may be misread."""
