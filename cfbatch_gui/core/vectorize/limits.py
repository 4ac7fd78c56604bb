"""The limits of Vectorize and those of this program, each with its unit.

Source of the service's: https://developers.cloudflare.com/vectorize/platform/limits/ and
https://developers.cloudflare.com/vectorize/reference/client-api/, 2026-11. "Set here" marks this program's own.
"""

import re
from typing import Final

MAX_DIMENSIONS: Final = 1_536
MAX_VECTORS: Final = 10_000_000
MAX_ID_BYTES: Final = 64
MAX_NAME_BYTES: Final = 64  # of an index
MAX_NAMESPACE_BYTES: Final = 64
MAX_METADATA_BYTES: Final = 10_240  # of the JSON of one vector
MAX_UPLOAD_VECTORS: Final = 5_000
MAX_UPLOAD_BYTES: Final = 100_000_000
MAX_PAGE: Final = 1_000  # ids of one answer to a listing
MAX_TOP_K: Final = 100

# Bytes of the lines of one upload. Set here, below the service's limit: a part that fails is sent again as a whole,
# each part in its two or three forms is in memory, and the progress that is shown moves with every part.
PART_BYTES: Final = 25_000_000

# Ids of one question for vectors, and of one deletion. The first is what is known to be answered with all values; the
# second is set here: a deletion's answer has no vectors, and its body stays below 100 kB.
IDS_READ_AT_ONCE: Final = 20
IDS_DELETED_AT_ONCE: Final = 1_000

# Seconds. An upload of PART_BYTES takes 200 s over a line of one megabit a second. Set here.
UPLOAD_SECONDS: Final = 900.0
CALL_SECONDS: Final = 60.0
ANSWER_BYTES: Final = 64 << 20

# Vectors that are read back to compare them. Set here: 10 calls of the account's 1,200 in five minutes.
SAMPLE: Final = 200

INDEX_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
