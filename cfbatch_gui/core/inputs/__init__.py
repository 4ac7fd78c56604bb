"""What the user brings: kinds of file, layouts, roles of columns, problems of rows."""
