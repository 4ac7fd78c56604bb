"""The practice service on a real socket, with faults that follow a script.

script          the kinds of faults as values; reading a script from a file
schedule        which fault happens to which exchange
faulty_service  connections, requests, the record of what arrived
delivery        sending a reply whole, cut, late or byte by byte
bad_replies     faulty replies
mutations       finished answers with one thing wrong; vectorize_mutations: those of Vectorize
http            HTTP/1.1 without a library
"""
