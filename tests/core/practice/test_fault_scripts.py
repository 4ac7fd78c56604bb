"""Fault scripts: valid content, messages about invalid content, and the exchange to which each fault applies."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.practice.faults import mutations, script
from cfbatch_gui.core.practice.faults.schedule import Plan
from cfbatch_gui.core.practice.faults.script import describe_faults, load_script, read_script
from cfbatch_gui.core.practice.faults.vectorize_mutations import VectorizeMutation, mutate_vectorize
from cfbatch_gui.core.practice.server import load_certificate

SUBMIT, POLL = frozenset[script.Kind]({"submit"}), frozenset[script.Kind]({"poll"})


def faults(*values: dict[str, Any]) -> tuple[script.AnyFault, ...]:
    return read_script(json.dumps({"faults": values}))


def test_every_fault_has_a_name_and_is_described() -> None:
    for kind in get_args(script.AnyFault):
        more = {script.Mutate: {"how": "value_nan"}, script.MutateVectorize: {"how": "count_lags"}}.get(kind, {})
        name = kind.__struct_config__.tag
        (read,) = faults({"do": name, **more})
        assert type(read) is kind
        assert f"  {name}" in describe_faults() and (kind.__doc__ or "missing").splitlines()[0] in describe_faults()


def test_the_example_of_the_docstring_is_a_script() -> None:
    example = (script.__doc__ or "").split("\n\n")[1]
    first, second = read_script(example)
    assert first == script.ResetAfterBody(on="submit", billed=True)
    assert second == script.Page(on="poll", number=3, times=2, status=502)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "Expected `object`"),
        ("\xff".encode("latin-1"), "is not JSON"),
        ("[]", "Expected `object`"),
        ("{}", "missing required field `faults`"),
        ('{"faults":[],"more":1}', "unknown field `more`"),
        ('{"faults":[{"on":"submit"}]}', "missing required field `do` at “faults[0]”"),
        ('{"faults":[{"do":"explode"}]}', "'explode' at “faults[0].do”"),
        ('{"faults":[{"do":"gzip"},{"do":"gzip","on":"never"}]}', "'never' at “faults[1].on”"),
        ('{"faults":[{"do":"gzip","billed":true}]}', "unknown field `billed`"),
        ('{"faults":[{"do":"reset_in_body","sha256":""}]}', "unknown field `sha256`"),
        ('{"faults":[{"do":"page","number":0}]}', "faults[0].number"),
        ('{"faults":[{"do":"page","status":99}]}', "faults[0].status"),
        ('{"faults":[{"do":"page","sha256":"abc"}]}', "faults[0].sha256"),
        ('{"faults":[{"do":"redirect","location":"a\\r\\nb"}]}', "faults[0].location"),
        ('{"faults":[{"do":"mutate"}]}', "missing required field `how`"),
        ('{"faults":[{"do":"mutate","how":"x"}]}', "'x' at “faults[0].how”"),
    ],
)
def test_a_script_that_cannot_be_used_says_where(text: str | bytes, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_script(text)
    assert words in caught.value.message and caught.value.message.endswith(".")


def test_files_that_are_not_there_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="could not be read"):
        load_script(tmp_path / "none.json")
    (tmp_path / "not.pem").write_text("not a certificate")
    for name in ("none.pem", "not.pem"):
        with pytest.raises(InputError, match="holds no certificate"):
            load_certificate(tmp_path / name)


def hits(plan: Plan, *exchanges: tuple[script.Kind, str]) -> list[str]:
    found = (plan.at_exchange(kind, batch) for kind, batch in exchanges)
    return ["" if fault is None else str(fault.__struct_config__.tag) for fault in found]


def test_faults_are_taken_in_order_each_by_its_kind_and_number() -> None:
    plan = Plan(faults({"do": "page", "on": "poll", "number": 2, "times": 2}, {"do": "gzip", "times": 3}))
    kinds: tuple[script.Kind, ...] = ("poll", "submit", "poll", "poll", "poll", "check")
    assert hits(plan, *((kind, "") for kind in kinds)) == ["gzip", "gzip", "page", "page", "gzip", ""]


def test_zero_times_is_for_good() -> None:
    assert hits(Plan(faults({"do": "page", "times": 0})), *(("poll", "") for _ in range(50))) == ["page"] * 50


def test_a_batch_is_known_by_its_hash() -> None:
    plan = Plan(faults({"do": "page", "sha256": "a" * 64, "times": 0}))
    assert plan.needs_batch("poll") and not plan.waits_for_connections
    assert hits(plan, ("submit", "b" * 64), ("submit", "a" * 64), ("poll", ""), ("poll", "a" * 64)) == [
        "",
        "page",
        "",
        "page",
    ]


def test_connections_are_counted_by_themselves() -> None:
    plan = Plan(faults({"do": "reset_at_accept", "on": "poll", "number": 2}, {"do": "page"}))
    assert plan.waits_for_connections
    assert plan.at_connection(SUBMIT) is None and plan.at_connection(POLL) is None
    assert isinstance(plan.at_connection(POLL), script.ResetAtAccept)
    assert not plan.waits_for_connections
    assert hits(plan, ("submit", "")) == ["page"]


def test_nobody_listens_once_and_before_the_connection_that_is_meant() -> None:
    plan = Plan(faults({"do": "refuse", "number": 2, "seconds": 1}))
    assert plan.refusal(SUBMIT) is None
    plan.at_connection(SUBMIT)
    assert isinstance(plan.refusal(SUBMIT), script.Refuse)
    assert plan.refusal(SUBMIT) is None and not plan.waits_for_connections


@pytest.mark.parametrize("how", get_args(mutations.Mutation))
@pytest.mark.parametrize(
    "data", [b"", b"not JSON", b"[]", b"7", b"{}", b'{"result":null}', b'{"result":{"status":"queued"}}']
)
def test_a_mutation_leaves_alone_what_it_does_not_find(how: mutations.Mutation, data: bytes) -> None:
    assert isinstance(mutations.mutate(data, how), bytes)


@pytest.mark.parametrize("how", get_args(VectorizeMutation))
@pytest.mark.parametrize("data", [b"", b"[]", b"7", b'{"result":null}', b'{"result":[]}', b'{"result":[{"id":"a"}]}'])
def test_a_mutation_of_vectorize_leaves_alone_what_it_does_not_find(how: VectorizeMutation, data: bytes) -> None:
    assert mutate_vectorize(data, how) == data
