"""The page that sends the vectors of a job to an index of Vectorize."""
