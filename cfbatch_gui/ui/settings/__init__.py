"""The settings of the program, besides the connections, which have a room of their own."""
