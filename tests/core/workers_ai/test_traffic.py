"""The log of exchanges: correct sums, bounded size, and errors of writing that are not raised."""

from pathlib import Path

from cfbatch_gui.core.workers_ai.traffic import MAX_BYTES, HostTraffic, TrafficLog, entries, traffic
from cfbatch_gui.core.workers_ai.transport import Exchange


def test_hosts_are_told_apart_and_summed(tmp_path: Path) -> None:
    path = tmp_path / "traffic.jsonl"
    log = TrafficLog(path)
    log.note("c", Exchange("api.example.com", "submit", 1_000, 200, 200), now=10.0)
    log.note("c", Exchange("api.example.com", "ask", 60, 5_000, 200), now=20.0)
    TrafficLog(path).note("c", Exchange("api.example.com", "submit", 500, 0, 0), now=30.0)  # after a restart
    log.note("w", Exchange("mine.example.dev", "run", 70, 90, 200), now=25.0)
    assert traffic(path) == (
        HostTraffic("api.example.com", "c", "submit", 2, 1_500, 200, 10.0, 30.0),
        HostTraffic("mine.example.dev", "w", "run", 1, 70, 90, 25.0, 25.0),
        HostTraffic("api.example.com", "c", "ask", 1, 60, 5_000, 20.0, 20.0),
    )


def test_it_stays_small_and_its_sums_stay_right(tmp_path: Path) -> None:
    path = tmp_path / "traffic.jsonl"
    log = TrafficLog(path)
    for number in range(12_000):
        log.note("c", Exchange("api.example.com", "ask", 60, number % 7, 200), now=float(number))
    assert path.stat().st_size <= MAX_BYTES and len(entries(path)) < 12_000
    (summed,) = traffic(path)
    assert summed.exchanges == 12_000 and summed.sent == 720_000
    assert summed.received == sum(number % 7 for number in range(12_000))
    assert (summed.first, summed.last) == (0.0, 11_999.0)


def test_a_torn_line_and_a_folder_that_is_gone_stop_nothing(tmp_path: Path) -> None:
    path = tmp_path / "traffic.jsonl"
    log = TrafficLog(path)
    log.note("c", Exchange("a", "ask", 1, 1, 200), now=1.0)
    with path.open("ab") as stream:
        stream.write(b'{"time":2.0,"host":')
    assert len(entries(path)) == 1 and traffic(tmp_path / "none") == ()
    TrafficLog(tmp_path / "gone" / "traffic.jsonl").note("c", Exchange("a", "ask", 1, 1, 200), now=1.0)
