"""Maps of embedded texts: layouts in two dimensions, their cache, and the colours of the points."""
