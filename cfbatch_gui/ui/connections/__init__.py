"""The connection page: the practice service, the Cloudflare account, and how the window looks."""
