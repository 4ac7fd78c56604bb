"""CF Batch: rank and embed texts with Cloudflare's Workers AI Batch API."""

__version__ = "0.1.0"
