"""What an export says about the job it comes from. Results know nothing of jobs; a face makes this value from one."""

from dataclasses import dataclass, field

from cfbatch_gui.core.inputs.input_values import Kind


@dataclass(frozen=True, slots=True)
class JobMetadata:
    """A job as its results need it. `connection` is its title, for people; never an account id.

    `request_ids` has the service's id for each batch number, `failed_batches` the sentence of each batch that ended
    without an answer: its texts are failed, not waiting. `pooling` is "" for the model's own. `sent_at` is in
    seconds since 1970, UTC, 0.0 when not sent. `source_sha256` is in hexadecimal.
    """

    id: str
    name: str
    kind: Kind
    model: str
    connection: str
    truncate_inputs: bool = True
    pooling: str = ""
    request_ids: dict[int, str] = field(default_factory=dict)
    failed_batches: dict[int, str] = field(default_factory=dict)
    source_name: str = ""
    source_sha256: str = ""
    rows_in: int = 0
    usage_tokens: int = 0
    sent_at: float = 0.0
    program_version: str = ""
