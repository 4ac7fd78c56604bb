"""Vectorize in the practice service: indexes of vectors, whose changes are applied some time after they were accepted.

routes            which operation an address calls
refusals          the service's codes and words
bodies            decoding what is posted as JSON
uploads           decoding NDJSON, bare or in multipart/form-data
database          one SQLite file for all that is kept
indexes           creating, finding and deleting indexes
metadata_indexes  which properties are indexed
filters           conditions on metadata
changes           accepting and applying changes
queries, reading  the nearest vectors, exactly; vectors by id and in pages
ledger            what was ever accepted, for whoever compares
service           from an operation and a body to an answer
"""
