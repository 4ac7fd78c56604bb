"""The page of a draft: what to do, with which data, what it comes to."""
