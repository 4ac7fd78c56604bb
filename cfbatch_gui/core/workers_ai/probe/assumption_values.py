"""What an assumption about the live service is, and the sources that the tables of them name.

Paths of sources are below https://developers.cloudflare.com/.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.connection_kinds import ConnectionKind

READ_ON: Final = "2026-08"  # when the pages were read

BATCH: Final = "workers-ai/features/batch-api/"
REST: Final = "workers-ai/features/batch-api/rest-api/"
BINDING: Final = "workers-ai/features/batch-api/workers-binding/"
BGE_M3: Final = "workers-ai/models/bge-m3/"
BGE_BASE: Final = "workers-ai/models/bge-base-en-v1.5/"
ERRORS: Final = "workers-ai/platform/errors/"
PRICING: Final = "workers-ai/platform/pricing/"
LIMITS: Final = "fundamentals/api/reference/limits/"
LIST: Final = "api/resources/ai/subresources/models/methods/list/"
GATEWAY: Final = "ai-gateway/usage/providers/workersai/"
OTHERS: Final = message("no page; other programs met it")
NOWHERE: Final = message("no page; assumed here")


class Sight(StrEnum):
    """Whether a probe can tell."""

    BOTH = "yes"
    HELD_ONLY = message("only that it holds")
    NEVER = "no"


class Area(StrEnum):
    """The headings of the table, in their order."""

    FORM = message("Form of every answer")
    MODELS = message("List of models")
    REFUSALS = message("Refusals")
    SENDING = message("Sending a batch")
    WAITING = message("Waiting for a batch")
    ANSWER = message("The answer to a batch")
    SCORES = message("Scores")
    VECTORS = message("Vectors")
    RUN = message("Without the queue")
    LIMITS = message("Limits")
    PRICE = message("Price")


@dataclass(frozen=True, slots=True)
class Assumption:
    """`otherwise` is what the program does if `sentence` is not true. `reason` says why a probe cannot see it.

    `kinds` are the kinds of connections that it is about.
    """

    id: str
    area: Area
    sentence: str
    source: str
    otherwise: str
    sight: Sight = Sight.BOTH
    reason: str = ""
    kinds: frozenset[ConnectionKind] = frozenset(ConnectionKind)
