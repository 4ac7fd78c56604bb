"""CF Batch: rank and embed texts with Cloudflare's Workers AI Batch API."""

import gc

__version__ = "0.1.0"

# Rows of a file are many objects without cycles: looking for cycles every 700 objects takes a tenth of reading.
gc.set_threshold(10_000, 10, 10)
