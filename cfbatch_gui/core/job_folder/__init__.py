"""A job is a folder: its inputs, the requests sent, the answers. Delete, copy, hand over a job = the folder.

data.db      all but what follows: schema.py has its tables. A body is made anew from it, the same each time
vectors.npy  float32 (items, dimension); row = item number - 1
replies/     raw answers, compressed, written before they are decoded
"""
