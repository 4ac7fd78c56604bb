"""A small, paid check of the live service: each assumption about it is held, not held or not seen.

assumption_values, seen_assumptions, unseen_assumptions, assumptions   the table
requests    what is sent, and its price
evidence    what came back, undecoded and decoded
findings    what is said of an assumption; judging: how each of them is told from the evidence
probing     the calls, in their order
report      as text and as JSON, without anything secret
learned     what the program goes by afterwards, kept for each connection and model
"""
