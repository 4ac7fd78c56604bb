"""The stand-in service: speaks the Batch API on this machine, for people without an account and for every test."""
