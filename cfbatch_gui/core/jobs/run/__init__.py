"""Jobs at work: sending, asking, collecting."""
