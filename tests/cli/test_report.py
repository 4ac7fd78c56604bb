from cfbatch_gui.cli.language import plural
from cfbatch_gui.cli.pricing import share_words
from cfbatch_gui.cli.report import lines_of_jobs
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.workers_ai.catalogue import Price


def test_a_connection_stands_in_the_list_by_the_name_that_people_gave_it() -> None:
    jobs = [Job("j1", "May", Kind.RANK, "m", "3mn5jytq", 0.0), Job("j2", "June", Kind.RANK, "m", "gone", 0.0)]
    names = {"3mn5jytq": "My\nWorker"}
    _, first, second = lines_of_jobs(jobs, 100, lambda connection: names.get(connection, connection))
    assert first.split("  ")[0] == "j1" and "My Worker" in first and "3mn5jytq" not in first
    assert "gone" in second


def test_a_share_that_is_not_nothing_does_not_look_like_it() -> None:
    assert [share_words(Price(0.0, 0.0, share)) for share in (0.0, 0.0004, 0.032)] == ["0.0%", "less than 0.1%", "3.2%"]


def test_one_is_not_many() -> None:
    assert [plural(number, "{n} batch", "{n} batches") for number in (1, 0, 2_000)] == [
        "1 batch",
        "0 batches",
        "2,000 batches",
    ]
