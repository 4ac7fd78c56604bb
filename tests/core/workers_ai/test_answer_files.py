"""An answer goes to the disk as it arrives: whole, resumed where it was cut, and never with the secret in it."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cfbatch_gui.core.workers_ai.collector import FLUSHED_BYTES, AnswerFile, StoredAnswer
from cfbatch_gui.core.workers_ai.limits import ExchangeLimit
from cfbatch_gui.core.workers_ai.transport import Exchange, ExchangeError, Transport
from tests.canary import TOKEN

Respond = Callable[[bytes], bytes]
LIMIT = ExchangeLimit(30.0, 100_000_000)
SIZE = FLUSHED_BYTES + 5_000_000
ANSWER = (b'{"responses":[%s]}' % b",".join(b"%0200d.5" % n for n in range(SIZE // 200)))[:SIZE]


@asynccontextmanager
async def server(respond: Respond) -> AsyncIterator[str]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(respond(await reader.readuntil(b"\r\n\r\n")))
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/answer"


def whole(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    head = [b"HTTP/1.1 " + status, b"content-length: %d" % len(body), *headers, b"connection: close"]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def like_a_bucket(head: bytes) -> bytes:
    found = re.search(rb"(?i)range: bytes=(\d+)-", head)
    if found is None:
        return whole(ANSWER)
    start = int(found[1])
    place = b"content-range: bytes %d-%d/%d" % (start, len(ANSWER) - 1, len(ANSWER))
    return whole(ANSWER[start:], place, status=b"206 Partial Content")


async def fetch(url: str, file: AnswerFile, exchanges: list[Exchange] | None = None) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"} | file.headers
    transport = Transport(on_exchange=(exchanges if exchanges is not None else []).append)
    await transport.send("GET", url, what="account", headers=headers, limit=LIMIT, sink=file)


def answer_file(folder: Path, size: int = len(ANSWER), etag: str = '"one"') -> AnswerFile:
    file = AnswerFile(folder, StoredAnswer(7, size, etag))
    file.prepare()
    return file


async def test_it_arrives_whole_and_is_counted(tmp_path: Path) -> None:
    exchanges: list[Exchange] = []
    async with server(like_a_bucket) as url:
        file = answer_file(tmp_path)
        await fetch(url, file, exchanges)
    assert file.is_complete
    assert file.read() == ANSWER
    assert [(each.what, each.received, each.status) for each in exchanges] == [("account", len(ANSWER), 200)]
    file.remove()
    assert list(tmp_path.iterdir()) == []


async def test_what_was_cut_goes_on_from_what_was_flushed(tmp_path: Path) -> None:
    cut = FLUSHED_BYTES + 3_000_000
    asked: list[bytes] = []

    def respond(head: bytes) -> bytes:
        asked.append(head)
        return like_a_bucket(head) if len(asked) > 1 else whole(ANSWER)[: cut + 80]

    async with server(respond) as url:
        with pytest.raises(ExchangeError) as caught:
            await fetch(url, answer_file(tmp_path))
        assert caught.value.reason == "broken"
        file = answer_file(tmp_path)  # after a crash
        assert file.size == FLUSHED_BYTES
        await fetch(url, file)
    assert file.read() == ANSWER
    assert b"range: bytes=%d-" % FLUSHED_BYTES in asked[1].lower()
    assert b'if-range: "one"' in asked[1].lower()


@pytest.mark.parametrize("left", [0, 1, FLUSHED_BYTES - 1, FLUSHED_BYTES, FLUSHED_BYTES + 1, 2 * FLUSHED_BYTES + 1])
def test_of_what_a_crash_left_only_what_was_flushed_counts(tmp_path: Path, left: int) -> None:
    answer_file(tmp_path, size=3 * FLUSHED_BYTES).path.write_bytes(bytes(left))
    assert answer_file(tmp_path, size=3 * FLUSHED_BYTES).size == max(left - 1, 0) // FLUSHED_BYTES * FLUSHED_BYTES


def test_parts_of_another_answer_are_removed(tmp_path: Path) -> None:
    old = answer_file(tmp_path, etag='"old"')
    old.path.write_bytes(b"{")
    other_batch = AnswerFile(tmp_path, StoredAnswer(8, 10, '"old"'))
    other_batch.path.write_bytes(b"{")
    answer_file(tmp_path)
    assert not old.path.exists()
    assert other_batch.path.exists()


async def test_an_answer_that_changed_is_taken_from_its_beginning(tmp_path: Path) -> None:
    answer_file(tmp_path).path.write_bytes(bytes(FLUSHED_BYTES + 1))
    async with server(lambda head: whole(ANSWER)) as url:
        file = answer_file(tmp_path)
        assert file.size == FLUSHED_BYTES
        await fetch(url, file)
    assert file.read() == ANSWER


BAD: dict[str, Respond] = {
    "another length": lambda head: whole(ANSWER[:-1]),
    "a part that was not asked for": lambda head: whole(
        ANSWER[5:], b"content-range: bytes 5-%d/%d" % (len(ANSWER) - 1, len(ANSWER)), status=b"206 Partial Content"
    ),
    "a part of another whole": lambda head: whole(
        ANSWER, b"content-range: bytes 0-%d/%d" % (len(ANSWER) - 1, len(ANSWER) + 1), status=b"206 Partial Content"
    ),
    "a part without a place": lambda head: whole(ANSWER, status=b"206 Partial Content"),
    "compressed": lambda head: whole(ANSWER, b"content-encoding: gzip"),
    "more than there is": lambda head: whole(ANSWER).replace(b"content-length", b"x-length") + b"more",
    "cut": lambda head: whole(ANSWER)[:-1],
}


@pytest.mark.parametrize("name", BAD)
async def test_what_cannot_be_the_answer_is_not_taken_for_it(tmp_path: Path, name: str) -> None:
    async with server(BAD[name]) as url:
        file = answer_file(tmp_path)
        with pytest.raises(ExchangeError):
            await fetch(url, file)
    assert not file.is_complete


@pytest.mark.parametrize("place", [0, (1 << 20) - 10, (1 << 20) + 4_090, 6_000_000, len(ANSWER) - len(TOKEN)])
async def test_an_answer_that_repeats_the_secret_is_refused_and_none_of_it_is_on_the_disk(
    tmp_path: Path, place: int
) -> None:
    body = ANSWER[:place] + TOKEN.encode() + ANSWER[place + len(TOKEN) :]
    async with server(lambda head: whole(body)) as url:
        file = answer_file(tmp_path)
        with pytest.raises(ExchangeError) as caught:
            await fetch(url, file)
    assert caught.value.reason == "mixed"
    assert TOKEN not in str(caught.value)
    written = file.path.read_bytes() if file.path.exists() else b""
    assert TOKEN.encode()[:8] not in written


async def test_a_refusal_does_not_go_to_the_disk(tmp_path: Path) -> None:
    async with server(lambda head: whole(b'{"error":{}}', status=b"404 Not Found")) as url:
        await fetch(url, answer_file(tmp_path))
    assert list(tmp_path.iterdir()) == []
