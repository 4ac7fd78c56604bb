"""The window, and what puts the pages into it."""
