"""The user's Worker, put into their account by Cloudflare's API, and taken away again."""
