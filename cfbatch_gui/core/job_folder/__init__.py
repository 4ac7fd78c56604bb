"""A job is a folder: its inputs, the requests sent, the answers. Delete, copy, hand over a job = the folder.

data.db      inputs, requests, scores, problems (schema.py), checksums of results and answers (checksums.py)
vectors.npy  float32 (items, dimension); row = item number - 1
map.npz      where the texts stand on the map; can be made anew from the vectors (results/cached_map.py)
bodies/      the exact bytes of batches that are being sent or waited for
replies/     raw answers, compressed, written before they are decoded
job.json     the job as it was filled and planned
draft.json   the file and how it is read, until the job is sent and after
"""
