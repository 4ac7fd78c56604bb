"""The Batch API's bytes: pure encoding and decoding, without network, clock or files.

requests   the body that goes out, and bodies as people have them
envelope   the frame that Cloudflare's REST API puts around an answer
answers    what an answer says
replies    which request each of its elements belongs to
values     scores and vectors inside an element
decoding   JSON that keeps its word, or a ReplyError

Sources: https://developers.cloudflare.com/workers-ai/features/batch-api/rest-api/,
https://developers.cloudflare.com/workers-ai/features/batch-api/workers-binding/ and
https://developers.cloudflare.com/workers-ai/models/bge-m3/
"""
