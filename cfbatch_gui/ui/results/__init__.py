"""Results on the screen: rankings, vectors, and the way home for both."""
