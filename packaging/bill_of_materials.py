"""The bill of materials of a build, as CycloneDX 1.6 in JSON."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from licences import Part


class NotValid(Exception):
    """The bill is not as its schema wants it; the message says where."""


def bill_of_materials(parts: Iterable[Part], version: str, epoch: int) -> str:
    """The text of the bill. `epoch`, in seconds, is the time it says it was made."""
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(),
            "component": {
                "type": "application",
                "bom-ref": "cfbatch",
                "name": "cfbatch",
                "version": version,
                "licenses": [{"license": {"id": "MIT"}}],
            },
        },
        "components": [_component(part) for part in parts],
        "dependencies": [{"ref": "cfbatch", "dependsOn": [_reference(part) for part in parts]}],
    }
    return json.dumps(bill, indent=2) + "\n"


def validate(bill: str) -> None:
    """Hold a bill against the schema. Raises NotValid."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    if (problem := JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill)) is not None:
        raise NotValid(str(problem))


def _component(part: Part) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": _reference(part),
        "name": part.name,
        "version": part.version,
        "purl": _reference(part),
    }
    if part.licence:
        component["licenses"] = [{"license": {"name": part.licence}}]
    return component


def _reference(part: Part) -> str:
    return quote(part.purl, safe=":/@.~")
