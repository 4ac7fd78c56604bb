"""What the window and the terminal both say: states, facts and figures in the language that is in use."""
