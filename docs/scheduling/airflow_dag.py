"""Rank questions.csv each working day with CF Batch, by Airflow 3.

The connection "cloudflare" (type: generic) has the account's ID as its login and the API token as its password.
"""

import os
import subprocess
from datetime import datetime, timedelta

from airflow.sdk import Connection, dag, task
from airflow.sdk.exceptions import AirflowFailException

FOLDER = "/srv/cfbatch"  # with questions.csv and the data folder, on the machine that runs the task
RUN = ("run", "questions.csv", "--rank", "--connection", "cloudflare", "--budget", "0.50", "--out", "ranked.csv")
NEEDS_A_PERSON = (1, 2, 3, 5)  # exit statuses that trying again does not change


def cfbatch(*words: str) -> None:
    """Run one command to its end, with its lines in the task's log."""
    account = Connection.get("cloudflare")
    environ = {**os.environ, "CLOUDFLARE_ACCOUNT_ID": account.login, "CLOUDFLARE_API_TOKEN": account.password}
    command = ["cfbatch", *words, "--data-dir", "data"]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    with subprocess.Popen(command, cwd=FOLDER, env=environ, **streams) as process:
        try:
            for line in process.stderr:
                print(line, end="")
        except BaseException:  # the task was stopped: the command too, and the next try goes on
            process.terminate()
            raise
    if process.returncode in NEEDS_A_PERSON:
        raise AirflowFailException(f"cfbatch {words[0]} ended with status {process.returncode}")
    if process.returncode:
        raise RuntimeError(f"cfbatch {words[0]} ended with status {process.returncode}")


@dag(schedule="30 6 * * 1-5", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1)
def cfbatch_ranking() -> None:
    """One task: each try goes on with what was cut before it sends anything."""

    @task(retries=3, retry_delay=timedelta(minutes=15))
    def rank() -> None:
        cfbatch("resume")
        cfbatch(*RUN)

    rank()


cfbatch_ranking()
