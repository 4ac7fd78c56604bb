"""Rank questions.csv each working day with CF Batch, by Prefect 3: "python prefect_flow.py" serves the schedule.

The variable "cloudflare_account_id" and the block "cloudflare-token" (type: Secret) say who pays.
"""

import os
import subprocess

from prefect import flow, task
from prefect.blocks.system import Secret
from prefect.states import State
from prefect.variables import Variable

FOLDER = "/srv/cfbatch"  # with questions.csv and the data folder, on the machine that serves the flow
RUN = ("run", "questions.csv", "--rank", "--connection", "cloudflare", "--budget", "0.50", "--out", "ranked.csv")
NEEDS_A_PERSON = (1, 2, 3, 5)  # exit statuses that trying again does not change


class CommandFailed(Exception):
    """A command that ended with another exit status than 0."""

    def __init__(self, command: str, status: int) -> None:
        super().__init__(f"cfbatch {command} ended with status {status}")
        self.status = status


def cfbatch(*words: str) -> None:
    """Run one command to its end, with its lines in the task's log."""
    environ = {
        **os.environ,
        "CLOUDFLARE_ACCOUNT_ID": Variable.get("cloudflare_account_id"),
        "CLOUDFLARE_API_TOKEN": Secret.load("cloudflare-token").get(),
    }
    command = ["cfbatch", *words, "--data-dir", "data"]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    with subprocess.Popen(command, cwd=FOLDER, env=environ, **streams) as process:
        try:
            for line in process.stderr:
                print(line, end="")
        except BaseException:  # the task was stopped: the command too, and the next try goes on
            process.terminate()
            raise
    if process.returncode:
        raise CommandFailed(words[0], process.returncode)


def is_worth_another_try(_task: object, _run: object, state: State) -> bool:
    """Whether a failed task is run again by itself."""
    error = state.result(raise_on_failure=False)
    return not (isinstance(error, CommandFailed) and error.status in NEEDS_A_PERSON)


@task(retries=3, retry_delay_seconds=900, retry_condition_fn=is_worth_another_try, log_prints=True)
def rank() -> None:
    """Go on with what was cut, then send what is new. Both are in one task, so that a try begins with the first."""
    cfbatch("resume")
    cfbatch(*RUN)


@flow
def cfbatch_ranking() -> None:
    """One task."""
    rank()


if __name__ == "__main__":
    cfbatch_ranking.serve(name="each-working-day", cron="30 6 * * 1-5", limit=1)
