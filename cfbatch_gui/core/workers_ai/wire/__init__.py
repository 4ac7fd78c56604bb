"""The Batch API's bytes: pure encoding and decoding, without network, clock or files.

requests   bodies that are sent
envelope   the frame that Cloudflare's REST API puts around an answer
answers    whether a batch is queued, running or done, and its undecoded elements; also synchronous answers
replies    which request each element belongs to
values     scores and vectors inside an element
decoding   JSON of the expected type, or a ReplyError

Sources: https://developers.cloudflare.com/workers-ai/features/batch-api/rest-api/,
https://developers.cloudflare.com/workers-ai/features/batch-api/workers-binding/ and
https://developers.cloudflare.com/workers-ai/models/bge-m3/
"""
