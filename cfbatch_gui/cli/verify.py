"""`cfbatch verify`: hold results against the answers that are kept."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict

from cfbatch_gui.cli.console import Call, ExitStatus
from cfbatch_gui.cli.jobs import read_ledger
from cfbatch_gui.cli.parser import Parser
from cfbatch_gui.cli.working import opened
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.jobs.store.ledger import Ledger
from cfbatch_gui.core.jobs.verifying import JobCheck, Outcome, asked_for_again, verify_job
from cfbatch_gui.core.messages import quoted
from cfbatch_gui.words.figures import told, worded
from cfbatch_gui.words.languages import said, tr


def add_arguments(parser: Parser) -> None:
    parser.add_options("""
        job [JOB]  a job's id, the beginning of it, or its name (default: every job that was sent)
        --mend  put right what the answers hold; close the window first. Sends nothing
        --json  print one JSON object
    """)


async def run(call: Call) -> int:
    """Exit status 0: all is whole, or was put right."""
    if call.mend:
        async with opened(call) as work:
            checks = await asyncio.to_thread(_check, call, work.program.ledger)
    else:
        with closing(read_ledger(call)) as ledger:
            checks = await asyncio.to_thread(_check, call, ledger)
    call.answer(
        {"jobs": [{"job": check.job_id, **asdict(check), "whole": check.is_mended} for check in checks]},
        (line for check in checks for line in _lines(check)),
        tr("No job has been sent yet, so there is nothing to check."),
    )
    return ExitStatus.DONE if all(check.is_mended for check in checks) else ExitStatus.FAILED


def _check(call: Call, ledger: Ledger) -> list[JobCheck]:
    jobs: Sequence[Job] = [ledger.find(call.job)] if call.job else ledger.jobs()
    checks = []
    for job in jobs:
        if not job.is_sent:
            continue
        check = verify_job(JobFolder(call.paths.job(job.id)), job, mend=call.mend)
        if check.lost:
            ledger.change(job.id, lambda known, check=check: asked_for_again(known, check))  # type: ignore[misc]
        checks.append(check)
        if call.console.is_interactive and len(jobs) > 1:
            call.console.tell("checked_n_all", n=len(checks), all=len(jobs))
    return checks


def _lines(check: JobCheck) -> list[str]:
    about, count = f"{check.job_id} {said(quoted(check.name))}", len(check.findings)
    left = sum(finding.outcome is not Outcome.HEALED for finding in check.findings)
    if check.is_whole:
        return [worded("{job}: whole", job=about)]
    if check.is_mended:
        head = told("job_whole_again_n_findings_put", n=count, job=about)
    else:
        head = told("job_n_findings_left_not_put", n=count, job=about, left=left)
    return [head, *(f"  {said(finding.sentence)}" for finding in check.findings)]
