"""What a user can look up in the program: the help page, the shortcuts, and what the program is made of."""
