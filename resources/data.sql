CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- Rows as they were read, without the cells that are in `texts` as they stand; see ROW_FORM.
CREATE TABLE source_rows(file INTEGER, row INTEGER, cells TEXT NOT NULL, PRIMARY KEY(file, row)) WITHOUT ROWID;
-- How rows with a problem stand in the file, where the cells alone do not say it.
CREATE TABLE raw_rows(
    file INTEGER NOT NULL, row INTEGER NOT NULL, raw TEXT NOT NULL, PRIMARY KEY(file, row)) WITHOUT ROWID;
CREATE TABLE queries(query_no INTEGER PRIMARY KEY, query_id TEXT NOT NULL, text TEXT NOT NULL, row INTEGER NOT NULL);
CREATE TABLE texts(
    text_no INTEGER PRIMARY KEY, text_id TEXT NOT NULL, text TEXT NOT NULL, label TEXT NOT NULL,
    file INTEGER NOT NULL, row INTEGER NOT NULL);
-- The lengths of texts in blocks, in order: uint32 of each; see filling.py.
CREATE TABLE lengths(
    first INTEGER PRIMARY KEY,                    -- number of the first text
    sizes BLOB NOT NULL, upper BLOB NOT NULL, lower BLOB NOT NULL);
CREATE TABLE items(
    item_no INTEGER PRIMARY KEY, query_no INTEGER, text_no INTEGER NOT NULL,
    position INTEGER NOT NULL,                    -- place among the contexts of its query, from 1; the rank before
    request_no INTEGER, request_position INTEGER, -- NULL: not sent
    score REAL);                                  -- of an item in parts it is not looked at
-- A repeated item is not sent: it shares the place of the first, and so its answer.
CREATE TABLE repeats(item_no INTEGER PRIMARY KEY, first INTEGER NOT NULL);
CREATE INDEX repeats_of_first ON repeats(first);
-- An item with parts is not sent as a whole: each part has a place of its own, and its score is that of the best. Of
-- texts that become vectors each part is an item with that part as its text; it then has one row here, without a place.
CREATE TABLE parts(
    item_no INTEGER NOT NULL, part INTEGER NOT NULL,  -- from 1
    start INTEGER NOT NULL, stop INTEGER NOT NULL,    -- characters of the whole text
    request_no INTEGER, request_position INTEGER, score REAL,
    PRIMARY KEY(item_no, part)) WITHOUT ROWID;
CREATE INDEX parts_of_request ON parts(request_no, request_position);
CREATE TABLE requests(
    request_no INTEGER PRIMARY KEY, reference TEXT NOT NULL UNIQUE, batch INTEGER NOT NULL,
    position INTEGER NOT NULL,                    -- index in requests[], from 0
    state TEXT NOT NULL DEFAULT 'waiting',        -- waiting, done, failed
    error TEXT NOT NULL DEFAULT '');
CREATE TABLE problems(
    problem_no INTEGER PRIMARY KEY, file INTEGER NOT NULL, row INTEGER NOT NULL,
    kind TEXT NOT NULL, reason TEXT NOT NULL,
    item_no INTEGER);                             -- set when planning left out an item, NULL when reading did
-- What is known of a batch beside the ledger: that its sending began, and what its results were when they were stored;
-- see checksums.py.
CREATE TABLE batches(
    batch INTEGER PRIMARY KEY,
    attempt TEXT, sha256 TEXT, bytes INTEGER,     -- of the last attempt to send, from before its first byte left
    results INTEGER);                             -- CRC-32 of its results, NULL before there are any
CREATE TABLE kept_arrays(name TEXT PRIMARY KEY, content BLOB NOT NULL);  -- see fingerprints.py
-- Judgements of the job's queries whose document is not among the contexts, so that measures are those over all judged
-- documents; labels as they stand in the file.
CREATE TABLE outside_judgements(
    query_id TEXT NOT NULL, document_id TEXT NOT NULL, label TEXT NOT NULL,
    PRIMARY KEY(query_id, document_id)) WITHOUT ROWID;
-- Results that were taken from earlier jobs. Their requests are in batch NOT_SENT; one that is lost later is sent as
-- any other that failed.
CREATE TABLE sources(
    source_no INTEGER PRIMARY KEY, job_id TEXT NOT NULL, job_name TEXT NOT NULL,
    request_id TEXT NOT NULL,                     -- '' for a request without the queue
    sent_at REAL NOT NULL);                       -- seconds since 1970, UTC
CREATE TABLE reused(request_no INTEGER PRIMARY KEY, source_no INTEGER NOT NULL);
-- Items that the user wants to have sent although an earlier job has their results.
CREATE TABLE sent_anew(item_no INTEGER PRIMARY KEY);
-- Sentences that were asked of the job's vectors, and categories that were added later, with their vectors: float32,
-- little-endian.
CREATE TABLE asked(
    sentence TEXT NOT NULL, vector BLOB NOT NULL, asked_at REAL NOT NULL,
    is_question INTEGER NOT NULL,                 -- 0: the words of a category
    PRIMARY KEY(sentence, is_question));
