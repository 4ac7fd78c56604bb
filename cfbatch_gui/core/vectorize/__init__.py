"""Vectors of a job in an index of Cloudflare Vectorize: checked, pushed, compared with what is there, and searched."""
