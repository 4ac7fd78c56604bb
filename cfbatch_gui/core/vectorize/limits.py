"""What this program sets for its pushes, within the limits of `workers_ai.limits`, each with its unit."""

import re
from typing import Final

# Bytes of the lines of one upload. Set here, below the service's limit: a part that fails is sent again as a whole,
# each part in its two or three forms is in memory, and the progress that is shown moves with every part.
PART_BYTES: Final = 25_000_000

# Seconds. An upload of PART_BYTES takes 200 s over a line of one megabit a second. Set here.
UPLOAD_SECONDS: Final = 900.0
CALL_SECONDS: Final = 60.0
ANSWER_BYTES: Final = 64 << 20

# Vectors that are read back to compare them. Set here: 10 calls of the account's 1,200 in five minutes.
SAMPLE: Final = 200

# The form of an index's name; what is no such name would change the rest of an address.
INDEX_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
