"""Cloudflare's own client makes the same calls, so the stand-in answers as the API's schema has it."""

from collections.abc import Iterator
from urllib.parse import unquote

import cloudflare
import pytest

from cfbatch_gui.core.worker_setup.account import Step, names_of, removing_calls, setting_up_calls
from tests.account_service import ACCOUNT, AccountService
from tests.canary import SECRET, TOKEN
from tests.core.worker_setup.conftest import shipped_files
from tests.support.faulty_service import Threaded

NAMES = names_of()


@pytest.fixture
def account() -> AccountService:
    return AccountService(deletes_barely=False)


@pytest.fixture
def client(account: AccountService) -> Iterator[cloudflare.Cloudflare]:
    with (
        Threaded(account).opened() as service,
        cloudflare.Cloudflare(api_token=TOKEN, base_url=service.url, max_retries=0) as client,
    ):
        yield client


def test_setting_up_and_taking_down(client: cloudflare.Cloudflare, account: AccountService) -> None:
    files = shipped_files()
    found = client.workers.subdomains.get(account_id=ACCOUNT)
    assert found.subdomain == "anna"
    client.r2.buckets.create(account_id=ACCOUNT, name=NAMES.bucket)
    client.workers.scripts.update(
        NAMES.worker,
        account_id=ACCOUNT,
        metadata={
            "main_module": files.main,
            "compatibility_date": files.compatibility_date,
            "bindings": [
                {"type": "ai", "name": "AI"},
                {"type": "r2_bucket", "name": "BUCKET", "bucket_name": NAMES.bucket},
                {"type": "workflow", "name": "COLLECT", "workflow_name": NAMES.workflow, "class_name": "Collect"},
                {"type": "secret_text", "name": "SHARED_SECRET", "text": SECRET},
            ],
            "observability": {"enabled": False},
            "tags": ["cf-batch"],
        },
        files=[(name, text, "application/javascript+module") for name, text in files.modules.items()],
    )
    client.workflows.update(NAMES.workflow, account_id=ACCOUNT, script_name=NAMES.worker, class_name="Collect")
    client.workers.scripts.subdomain.create(NAMES.worker, account_id=ACCOUNT, enabled=True, previews_enabled=False)
    settings = client.workers.scripts.script_and_version_settings.get(NAMES.worker, account_id=ACCOUNT)
    assert settings.tags == ["cf-batch"]
    assert account.secret() == SECRET and account.scripts[NAMES.worker].modules == files.modules

    planned = [call for call in setting_up_calls(NAMES, "{account}") if call.method != "GET"]
    assert account.changes == [call.words for call in planned]

    account.store("answers/a-job/1/1", "orders/a-job/1")
    account.calls.clear()
    client.workers.scripts.delete(NAMES.worker, account_id=ACCOUNT)
    client.workflows.delete(NAMES.workflow, account_id=ACCOUNT)
    listed = [each.key for each in client.r2.buckets.objects.list(NAMES.bucket, account_id=ACCOUNT)]
    for key in listed:
        assert key is not None
        client.r2.buckets.objects.delete(key, account_id=ACCOUNT, bucket_name=NAMES.bucket)
    client.r2.buckets.delete(NAMES.bucket, account_id=ACCOUNT)
    assert account.state == ({}, {}, {})
    taking = {call.step: call.words for call in removing_calls(NAMES, "{account}", keep_bucket=False)}
    # The client escapes the slashes of a key, against its own page, which says to send them as they are.
    assert [unquote(each) for each in account.changes] == [
        taking[Step.DELETE_WORKER],
        taking[Step.DELETE_WORKFLOW],
        *(taking[Step.DELETE_ANSWER].replace("{key}", str(key)) for key in listed),
        taking[Step.DELETE_BUCKET],
    ]
    assert listed == ["answers/a-job/1/1", "orders/a-job/1"]
