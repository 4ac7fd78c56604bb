"""The metadata of a job that its results and exports need. Results do not import jobs: the caller makes this value."""

from dataclasses import dataclass, field

from cfbatch_gui.core.inputs.input_values import Kind


@dataclass(frozen=True, slots=True)
class JobMetadata:
    """`connection` is the title of the job's connection as people read it; it never holds an account id.

    `request_ids` maps batch numbers to the service's ids. `failed_batches` maps the number of each batch that ended
    without an answer to the reason, a sentence; the texts of such a batch are failed, not waiting. `pooling` is "" for
    the model's default. `sent_at` is in seconds since 1970, UTC, and 0.0 if not sent. `source_sha256` is hexadecimal.
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
