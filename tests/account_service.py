"""A stand-in for Cloudflare's account API as far as the Worker is set up by it; an ASGI application that keeps state.

It answers by the pages of the API and by what users of wrangler were shown: docs/decisions/setting-up-by-api.md. Every
call is recorded. It is served on loopback by `FaultyService`, which can cut any exchange.
"""

import json
from dataclasses import dataclass, field, replace
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qsl, unquote

from cfbatch_gui.core.practice.app import Receive, Scope, Send
from tests.canary import TOKEN
from tests.support.http import Answer, Head, application, as_json

ACCOUNT = "0123456789abcdef0123456789abcdef"
SCRIPTS, STORAGE = "Workers Scripts Write", "Workers R2 Storage Write"
PREFIX = "/client/v4"
_PAGE = 3  # objects, so that a bucket has several pages


class Refused(Exception):
    """A refusal with its HTTP status and its code; code 0 is none."""

    def __init__(self, status: int, code: int, words: str) -> None:
        super().__init__(words)
        self.status, self.code, self.words = status, code, words


@dataclass(frozen=True)
class Script:
    """A Worker as it was uploaded."""

    metadata: dict[str, Any]
    modules: dict[str, bytes]
    address: bool = False

    def binding(self, kind: str) -> dict[str, Any]:
        (found,) = [each for each in self.metadata["bindings"] if each["type"] == kind]
        return dict(found)


@dataclass
class AccountService:
    """An account. `permissions` are those of all `tokens` that are valid.

    `deletes_barely`: the answer to the deletion of a Worker has no body, as the API's page says; Cloudflare's own
    client cannot read such an answer.
    """

    subdomain: str = "anna"
    r2_active: bool = True
    tokens: tuple[str, ...] = (TOKEN,)
    permissions: frozenset[str] = frozenset((SCRIPTS, STORAGE))
    scripts: dict[str, Script] = field(default_factory=dict)
    workflows: dict[str, dict[str, str]] = field(default_factory=dict)
    buckets: dict[str, dict[str, bytes]] = field(default_factory=dict)
    deletes_barely: bool = True
    calls: list[tuple[str, str]] = field(default_factory=list)  # method and path, in the account's own words
    refuse_first: dict[str, list[Refused]] = field(default_factory=dict)  # by method and path, each once

    @property
    def changes(self) -> list[str]:
        """The calls that change something."""
        return [f"{method} {path}" for method, path in self.calls if method != "GET"]

    @property
    def state(self) -> tuple[object, ...]:
        """All that the account has, without the secret of a Worker, which is new in each new set-up."""
        scripts = {
            name: (_without_secret(script.metadata), script.modules, script.address)
            for name, script in self.scripts.items()
        }
        return scripts, dict(self.workflows), {name: dict(objects) for name, objects in self.buckets.items()}

    def secret(self, name: str = "cf-batch-door") -> str:
        """The secret that a Worker was given last."""
        return str(self.scripts[name].binding("secret_text")["text"])

    def foreign(self, name: str = "cf-batch-door") -> None:
        """Put a Worker there that somebody else has made."""
        metadata = {"main_module": "theirs.js", "bindings": [{"type": "plain_text", "name": "THEIRS", "text": "yes"}]}
        self.scripts[name] = Script(metadata, {"theirs.js": b"// theirs"})

    def store(self, *keys: str, bucket: str = "cf-batch-answers") -> None:
        """Put objects into a bucket, as the Worker does."""
        self.buckets[bucket].update(dict.fromkeys(keys, b"{}"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await application(self._reply)(scope, receive, send)

    async def _reply(self, head: Head, body: bytes) -> Answer:
        path, _, question = head.target.removeprefix(PREFIX).partition("?")
        self.calls.append((head.method, path.replace(ACCOUNT, "{account}")))
        try:
            result = self._answer(head.method, path, dict(parse_qsl(question)), dict(head.headers), body)
            status, content = 200, {"success": True, "errors": [], "messages": [], "result": result}
        except Refused as refused:
            errors = [{"code": refused.code, "message": refused.words}] if refused.code else []
            status, content = refused.status, {"success": False, "errors": errors, "messages": [], "result": None}
        is_bare = status == 200 and head.method == "DELETE" and "/workers/scripts/" in path
        answer = as_json(status, content)
        return replace(answer, body=b"") if is_bare and self.deletes_barely else answer

    def _answer(self, method: str, path: str, query: dict[str, str], headers: dict[str, str], body: bytes) -> Any:
        is_valid = headers.get("authorization", "").removeprefix("Bearer ") in self.tokens
        if path in ("/user/tokens/verify", f"/accounts/{ACCOUNT}/tokens/verify"):
            if not is_valid or "/user/" not in path:
                raise Refused(401, 1000, "Invalid API Token")
            return {"id": "1", "status": "active"}
        if not is_valid:
            raise Refused(401, 10000, "Authentication error")
        if not path.startswith(f"/accounts/{ACCOUNT}/"):
            raise Refused(404, 7003, "Could not route to /accounts, perhaps your object identifier is invalid?")
        rest = path.removeprefix(f"/accounts/{ACCOUNT}/")
        if (STORAGE if rest.startswith("r2/") else SCRIPTS) not in self.permissions:
            raise Refused(403, 10000, "Authentication error")
        waiting = self.refuse_first.get(f"{method} {rest}")
        if waiting:
            raise waiting.pop(0)
        match method, *rest.split("/"):
            case "GET", "workers", "subdomain":
                if not self.subdomain:
                    raise Refused(404, 10007, "workers.api.error.subdomain_not_found")
                return {"subdomain": self.subdomain}
            case "GET", "workers", "scripts", name, "settings":
                return _settings(self._script(name))
            case "PUT", "workers", "scripts", name:
                return self._put_script(name, headers["content-type"], body)
            case "POST", "workers", "scripts", name, "subdomain":
                script, wanted = self._script(name), json.loads(body)
                self.scripts[name] = Script(script.metadata, script.modules, wanted["enabled"])
                return wanted
            case "DELETE", "workers", "scripts", name:
                self._script(name)
                del self.scripts[name]
                return None
            case "GET", "workflows", name:
                return {"id": "1", "name": name, **self._workflow(name)}
            case "PUT", "workflows", name:
                wanted = json.loads(body)
                if wanted["script_name"] not in self.scripts:
                    raise Refused(400, 10005, "workflows.api.error.script_not_found")
                self.workflows[name] = {key: wanted[key] for key in ("script_name", "class_name")}
                return {"name": name, **self.workflows[name]}
            case "DELETE", "workflows", name:
                self._workflow(name)
                del self.workflows[name]
                return {"status": "ok", "success": True}
            case _, "r2", "buckets", *_:
                return self._storage(method, rest.removeprefix("r2/buckets").strip("/"), query, body)
        raise Refused(404, 7000, "No route for that URI")

    def _put_script(self, name: str, content_type: str, body: bytes) -> dict[str, str]:
        if not self.subdomain:
            raise Refused(400, 10063, "You need a workers.dev subdomain in order to proceed.")
        whole: Any = BytesParser().parsebytes(b"content-type: " + content_type.encode() + b"\r\n\r\n" + body)
        metadata, modules = {}, {}
        for part in whole.get_payload():
            if part.get_param("name", header="content-disposition") == "metadata":
                metadata = json.loads(part.get_payload(decode=True))
            else:  # the schema tells modules apart by their file names
                assert part.get_content_type() == "application/javascript+module"
                modules[part.get_filename()] = part.get_payload(decode=True)
        if metadata["main_module"] not in modules:
            raise Refused(400, 10021, "no such module")
        for binding in metadata["bindings"]:
            if binding["type"] == "r2_bucket" and binding["bucket_name"] not in self.buckets:
                raise Refused(400, 10085, f"R2 bucket '{binding['bucket_name']}' not found")
        kept = metadata.pop("keep_bindings", [])
        if name in self.scripts:
            metadata["bindings"] += [each for each in self.scripts[name].metadata["bindings"] if each["type"] in kept]
        address = name in self.scripts and self.scripts[name].address
        self.scripts[name] = Script(metadata, modules, address)
        return {"id": name}

    def _storage(self, method: str, rest: str, query: dict[str, str], body: bytes) -> Any:
        if not self.r2_active:
            raise Refused(403, 10042, "Please enable R2 through the Cloudflare Dashboard.")
        name, _, inside = rest.partition("/")
        match method, name, inside:
            case "POST", "", _:
                wanted = json.loads(body)["name"]
                if wanted in self.buckets:
                    raise Refused(409, 10004, "The bucket you tried to create already exists, and you own it.")
                self.buckets[wanted] = {}
                return {"name": wanted}
            case "GET", _, "":
                self._bucket(name)
                return {"name": name}
            case "GET", _, "objects":
                keys = sorted(key for key in self._bucket(name) if key.startswith(query.get("prefix", "")))
                return [{"key": key, "size": 2} for key in keys[:_PAGE]]
            case "DELETE", _, "":
                if self._bucket(name):
                    raise Refused(409, 0, f"The bucket you tried to delete ({name}) is not empty (account {ACCOUNT}).")
                del self.buckets[name]
                return {}
            case "DELETE", _, _:
                key = unquote(inside.removeprefix("objects/"))
                if key not in self._bucket(name):
                    raise Refused(404, 10007, "The specified key does not exist.")
                del self.buckets[name][key]
                return {"key": key}
        raise Refused(404, 7000, "No route for that URI")

    def _script(self, name: str) -> Script:
        if name not in self.scripts:
            raise Refused(404, 10007, "This Worker does not exist on your account.")
        return self.scripts[name]

    def _workflow(self, name: str) -> dict[str, str]:
        if name not in self.workflows:
            raise Refused(404, 10200, "workflow.not_found")
        return self.workflows[name]

    def _bucket(self, name: str) -> dict[str, bytes]:
        if name not in self.buckets:
            raise Refused(404, 10006, "The specified bucket does not exist.")
        return self.buckets[name]


def _settings(script: Script) -> dict[str, Any]:
    shown = [{key: value for key, value in each.items() if key != "text"} for each in script.metadata["bindings"]]
    return {"bindings": shown, "tags": script.metadata.get("tags")}


def _without_secret(metadata: dict[str, Any]) -> dict[str, Any]:
    bindings = [{**each, "text": "…"} if each["type"] == "secret_text" else each for each in metadata["bindings"]]
    return {**metadata, "bindings": bindings}
