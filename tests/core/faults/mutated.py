"""The expected ending of a batch whose answer has one mutation, with the sentence that is shown."""

import re
from dataclasses import dataclass

from cfbatch_gui.core.jobs.states import BatchState, JobState
from tests.core.faults.table import GOES_WELL, NOT_READABLE, REFUSED, Ending, fails, stays_there
from tests.support import faults
from tests.support.faults import Fault

ANOTHER_JOB = "The service sent the answer of another job. It was put aside."
ONE_REFUSED = "The service refused N of N requests."
PARTLY = Ending(BatchState.DONE, JobState.PARTLY_DONE, (ONE_REFUSED,))
ALL_REFUSED = Ending(BatchState.DONE, JobState.FAILED, (ONE_REFUSED,))


@dataclass(frozen=True)
class Mutated:
    """A mutation, and its endings for a batch of scores and for one of vectors."""

    name: str
    fault: Fault
    scores: Ending
    vectors: Ending


def without_numbers(sentence: str) -> str:
    """The sentence with "N" for numbers, which depend on the random order of the practice service's answer."""
    return re.sub(r"\d+", "N", sentence)


def both(how: str, ending: Ending, *, times: int = 0) -> Mutated:
    return Mutated(how, faults.mutate(how=how, on="poll", times=times), ending, ending)


def put_aside(how: str, scores: str, vectors: str = "") -> Mutated:
    """`scores` and `vectors` are the reasons with which the sentence ends; `vectors` "" means the same reason."""
    fault = faults.mutate(how=how, on="poll", times=0)
    return Mutated(how, fault, untrusted(scores), untrusted(vectors or scores))


def untrusted(reason: str) -> Ending:
    return fails(f"The answer to this batch cannot be trusted and was put aside: {reason}.")


def of_vectors(how: str, ending: Ending) -> Mutated:
    return Mutated(how, faults.mutate(how=how, on="poll", times=0), GOES_WELL, ending)


def of_scores(how: str, ending: Ending) -> Mutated:
    return Mutated(how, faults.mutate(how=how, on="poll", times=0), ending, GOES_WELL)


MUTATED = [
    put_aside("element_missing", "N of N results are missing"),
    put_aside("element_repeated", "the result for request N is there twice"),
    put_aside("no_elements", "N of N results are missing"),
    put_aside("ids_swapped", "the result for request N carries the mark of another"),
    put_aside("references_swapped", "the result for request N carries the mark of another"),
    put_aside("id_unknown", "it has a result for a request that was not sent"),
    both("id_as_string", fails(NOT_READABLE)),
    both("reference_foreign", fails(ANOTHER_JOB)),
    put_aside("unmarked", "a result does not say which request it belongs to"),
    put_aside("result_missing", "the result for request N is empty"),
    put_aside(
        "value_missing",
        "the result for request N has N scores for N contexts",
        "the result for request N has N vectors for N texts",
    ),
    put_aside(
        "value_repeated",
        "the result for request N has two scores for one context",
        "the result for request N has N vectors for N texts",
    ),
    both("value_nan", fails(NOT_READABLE)),
    both("value_infinite", fails(NOT_READABLE)),
    both("value_null", fails(NOT_READABLE)),
    both("value_as_string", fails(NOT_READABLE)),
    of_scores("context_id_twice", untrusted("the result for request N has two scores for one context")),
    of_scores("context_id_unknown", untrusted("the result for request N has a score for a context that was not sent")),
    of_vectors("wrong_dimension", untrusted("the result for request N has a vector of another length")),
    of_vectors("zero_vector", untrusted("the result for request N has a vector of nothing but zeros")),
    of_vectors("wrong_shape", untrusted("the result for request N declares another shape than was asked for")),
    of_vectors("mixed_pooling", untrusted("it mixes vectors of different kinds")),
    put_aside("both_lists", "it holds two lists of results"),
    put_aside("result_null", "it says neither that the batch is waiting nor what came out"),
    put_aside("result_empty", "it says neither that the batch is waiting nor what came out"),
    both("success_as_string", fails(NOT_READABLE)),
    both("errors_as_string", fails(NOT_READABLE)),
    both("array", fails(NOT_READABLE)),
    both("nested_deeply", fails(NOT_READABLE)),
    both("not_utf8", fails(NOT_READABLE)),
    both("not_successful", stays_there(REFUSED)),
    both("error_string", PARTLY),
    both("error_object", PARTLY),
    both("error_missing", PARTLY),
    # Mutations after which the results are still correct.
    both("ids_missing", GOES_WELL),
    both("references_null", GOES_WELL),
    both("result_nested", GOES_WELL),
    both("results_without_id", GOES_WELL),
    both("no_usage", GOES_WELL),
    both("strange_usage", GOES_WELL),
    both("no_envelope", GOES_WELL),
    both("no_request_id", GOES_WELL),
    both("unknown_status", GOES_WELL, times=2),
    Mutated("another job", faults.another_answer(on="poll", times=0), fails(ANOTHER_JOB), fails(ANOTHER_JOB)),
    Mutated("all failed", faults.fail_requests(on="poll", requests=(0, 1, 2)), ALL_REFUSED, ALL_REFUSED),
]
