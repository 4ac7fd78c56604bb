"""The counts of a screening in words."""

from cfbatch_gui.core.results.screening import Flow
from cfbatch_gui.words.figures import Runs, emphasised, number


def flow_runs(flow: Flow) -> Runs:
    """As a PRISMA flow diagram wants them: they always add up."""
    return emphasised(
        "Identified {identified} · Duplicates {duplicates} · Screened {screened} (included {included}, maybe {maybe},"
        " excluded {excluded}) · Left {left}",
        identified=number(flow.identified),
        duplicates=number(flow.duplicates),
        screened=number(flow.screened),
        included=number(flow.included),
        maybe=number(flow.maybe),
        excluded=number(flow.excluded),
        left=number(flow.left),
    )
