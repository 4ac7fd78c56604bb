"""What is shown before anything is sent: names, calls and permissions; and the files that are uploaded."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import cloudflare
import pytest

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.resources import resource
from cfbatch_gui.core.worker_setup import Step, names_of, removing_calls, setting_up_calls, upload, worker_files
from cfbatch_gui.core.workers_ai.api_tokens import Token
from tests.account_service import ACCOUNT, AccountService
from tests.canary import CORE, SECRET, TOKEN
from tests.core.worker_setup.conftest import MODULES, metadata
from tests.support.faulty_service import Threaded
from tests.support.sentences import refuses
from tests.worker.runtime import configuration


@pytest.mark.parametrize("path", sorted(resource("worker").glob("*.jsonc")), ids=lambda path: path.name)
def test_names_and_date_are_those_of_the_files_for_wrangler(path: Path) -> None:
    found, names = configuration(path), names_of()
    assert found["name"] == names.worker
    assert found["compatibility_date"] == worker_files()[1]
    assert found["observability"] == {"enabled": False} and found["preview_urls"] is False
    for bucket in found.get("r2_buckets", ()):
        assert (bucket["binding"], bucket["bucket_name"]) == ("BUCKET", names.bucket)
    for workflow in found.get("workflows", ()):
        assert workflow == {"binding": "COLLECT", "name": names.workflow, "class_name": "Collect"}


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a b", "a/b", "a.b", "ü", "a" * 54, "a\n", "../x"])
def test_what_cannot_be_the_name_of_a_worker_is_said(name: str) -> None:
    with refuses(UsageError, "name_cannot_be_name_worker_small"):
        names_of(name)


def test_the_upload_hides_the_secret_in_it() -> None:
    _, body = upload(worker_files(), names_of(), Token(SECRET), keep_variables=False)
    assert CORE.encode() in bytes(body)
    assert repr(body) == f"UploadBody({len(body)} bytes)" and CORE not in f"{body!r} {[body]}"


def test_a_module_that_holds_anything_arrives_as_it_is() -> None:
    odd = b'--cfbatch-0\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{}\r\n--'
    content_type, body = upload(({"index.js": odd}, "2026-07-01"), names_of(), Token(SECRET), keep_variables=True)
    boundary = content_type.rpartition("=")[2].encode()
    assert body.count(b"--" + boundary) == 3 and odd in bytes(body)


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
    found = client.workers.subdomains.get(account_id=ACCOUNT)
    assert found.subdomain == "anna"
    client.r2.buckets.create(account_id=ACCOUNT, name=NAMES.bucket)
    client.workers.scripts.update(
        NAMES.worker,
        account_id=ACCOUNT,
        metadata=metadata(SECRET),
        files=[(name, text, "application/javascript+module") for name, text in MODULES.items()],
    )
    client.workflows.update(NAMES.workflow, account_id=ACCOUNT, script_name=NAMES.worker, class_name="Collect")
    client.workers.scripts.subdomain.create(NAMES.worker, account_id=ACCOUNT, enabled=True, previews_enabled=False)
    settings = client.workers.scripts.script_and_version_settings.get(NAMES.worker, account_id=ACCOUNT)
    assert settings.tags == ["cf-batch"]
    assert account.secret() == SECRET and account.scripts[NAMES.worker].modules == MODULES

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
