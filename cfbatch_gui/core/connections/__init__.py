"""The user's ways to the service, by name, and the secrets of each."""
