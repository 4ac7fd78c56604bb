"""What the program takes for granted about the live service.

All of it was read, in Cloudflare's pages or in what others report; none of it was seen, because none of the makers has
an account. `docs/protocol.md` shows this table, and a probe says of each entry whether it holds.
"""

from typing import Final

from cfbatch_gui.core.workers_ai.probe.assumption_values import Area
from cfbatch_gui.core.workers_ai.probe.seen_assumptions import SEEN_BY_A_PROBE
from cfbatch_gui.core.workers_ai.probe.unseen_assumptions import UNSEEN

ASSUMPTIONS: Final = tuple(sorted((*SEEN_BY_A_PROBE, *UNSEEN), key=lambda each: list(Area).index(each.area)))
"""All of them, by area; ids are unique."""
