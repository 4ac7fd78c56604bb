"""submissions.jsonl with any bytes in it: readable ids are known, damaged ones are never taken by themselves."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import BatchState, JobState
from cfbatch_gui.core.jobs.store.submissions import Event, Submission, read_submissions, submissions, write_down
from tests.core.jobs.conftest import Bench
from tests.core.jobs.test_runner import CLOUDS

Write = Callable[[str, str], Path]
LINES = tuple(Submission(f"a{n}", f"id-{n}", "5" * 64, 1.5 + n, f"job{n}", n, "cloudflare", "@cf/m") for n in range(9))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "submissions.jsonl"
    for line in LINES:
        write_down(path, line)
    return path


def test_lines_are_read_as_they_were_written(path: Path) -> None:
    assert submissions(path) == list(LINES)
    write_down(path, replace_event(LINES[0], Event.SENDING))
    assert [line.event for line in read_submissions(path).lines][-1] is Event.SENDING
    assert submissions(path) == list(LINES)


def replace_event(line: Submission, event: Event) -> Submission:
    """The line with another event."""
    return Submission(line.attempt, "", line.sha256, line.time, line.job_id, line.batch, event=event)


def test_every_flipped_bit_of_a_line_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    first = whole.split(b"\n")[3]
    start = whole.index(first)
    for bit in range(8 * len(first)):
        damaged = bytearray(whole)
        damaged[start + bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        written = read_submissions(path)
        assert [line for line in written.lines if line not in LINES] == [], bit
        assert len(written.lines) == 8 and written.damaged, bit


def test_any_bytes_at_all_are_read(path: Path) -> None:
    random = Random(7)
    whole = path.read_bytes()
    for _ in range(300):
        at, length = random.randrange(len(whole)), random.randrange(200)
        path.write_bytes(whole[:at] + random.randbytes(length) + whole[at + random.randrange(200) :])
        assert set(read_submissions(path).lines) <= set(LINES)
    nothing = [b"", b"\0" * 4096, b"\xff\xfe\n" * 9, b"[" * 100_000, b"{}\n", b'{"attempt":"\xff"}\n', os.urandom(999)]
    for data in nothing:
        path.write_bytes(data)
        assert read_submissions(path).lines == ()


def test_a_last_line_that_a_crash_cut_short_is_no_damage(path: Path) -> None:
    whole = path.read_bytes()
    for length in range(len(whole) - 150, len(whole)):
        path.write_bytes(whole[:length])
        written = read_submissions(path)
        assert written.damaged == () and set(written.lines) <= set(LINES) and len(written.lines) >= 8


async def test_the_program_starts_says_it_and_goes_on(bench: Bench, write: Write) -> None:
    job = bench.draft(write("clouds.csv", CLOUDS), Kind.RANK)
    await bench.actions.send(job.id)
    while not bench.store.job(job.id).batches[0].state.is_at_service:
        await bench.clock.sleep(0)
    await bench.stop()
    data = bench.paths.submissions.read_bytes()
    damaged = data.replace(b'"batch":1', b'"batch":\xff', 2)
    bench.paths.submissions.write_bytes(damaged)
    bench.start()
    (sentence,) = bench.opened.damage
    assert "2 lines of “submissions.jsonl”" in sentence
    (aside,) = bench.paths.root.glob("submissions.jsonl.damaged-*")
    assert aside.read_bytes() == damaged and aside.name in sentence
    await bench.runner.resume_all()
    assert (await bench.runner.wait(job.id)).state is JobState.DONE
    assert len(bench.faulty.submits) == 1
    (line,) = submissions(bench.paths.submissions)  # written down again, as the ledger has it
    assert line.request_id == bench.ledger.batch(job.id, 1).request_id
    await bench.restart()
    assert bench.opened.damage == ()  # said once


async def test_an_altered_id_is_not_adopted(bench: Bench, write: Write) -> None:
    """The program ended after the id was written down, before the ledger had it; then one letter of it changes."""
    job = await bench.run(bench.draft(write("clouds.csv", CLOUDS), Kind.RANK))
    batch = job.batches[0]
    bench.ledger.save_batch(replace(batch, state=BatchState.SENDING, request_id=""))
    await bench.stop()
    altered = "x" + batch.request_id[1:]
    bench.paths.submissions.write_bytes(
        bench.paths.submissions.read_bytes().replace(batch.request_id.encode(), altered.encode())
    )
    bench.start()
    await bench.runner.resume_all()
    unknown = bench.ledger.batch(job.id, 1)
    assert unknown.state is BatchState.OUTCOME_UNKNOWN and not unknown.request_id
    assert altered in unknown.error_detail  # a hint for the user
