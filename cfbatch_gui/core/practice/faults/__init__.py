"""The practice service on a real socket, with faults that follow a script.

script.py       what may go wrong, as values; reading a script from a file
plan.py         which of it happens to which exchange
faulty_service.py  the service: connections, requests, what was seen
delivery.py     how a reply goes out: whole, cut, late, byte by byte
replies.py      replies that nobody should send
mutations.py    finished answers with one thing wrong
http.py         HTTP/1.1 by hand, because every byte counts here
serving.py      the faulty service as a command
"""
