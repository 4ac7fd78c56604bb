"""The collecting room of the user's own Worker: its calls, what they say, and answers fetched to the disk.

The calls and the keys in the bucket are described in docs/collecting.md; the Worker is resources/worker/src/collect.js.
"""
