"""Judges requests, answers and webhooks by GitHub's own OpenAPI description.

The description is the npm package `@octokit/openapi` (13 MB, OpenAPI 3.0.3 with `nullable`). It is
read once for each process; validators are built on first use and kept. A judgement is remembered
by the bytes that it was about, since a test suite sees the same bodies again and again.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from openapi_schema_validator import OAS30Validator, oas30_format_checker
from referencing import Registry, Resource

from tests.fakes.node import package

ROOT = "urn:github"
Json = Any


class Operation(NamedTuple):
    """One method of one path template. `where` is its JSON pointer in the description."""

    method: str
    template: str
    names: tuple[str, ...]
    pattern: re.Pattern[str]
    where: str
    spec: Mapping[str, Json]

    def parameters(self, path: str) -> dict[str, str] | None:
        """The path's parameters; None where the path is not of this template."""
        match = self.pattern.fullmatch(path)
        return match and dict(zip(self.names, map(unquote, match.groups()), strict=True))


def _escape(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _operation(method: str, template: str, spec: Mapping[str, Json]) -> Operation:
    """`{path}` and `{ref}` take slashes, as they do at GitHub; all other names do not."""
    parts = re.split(r"\{([^}]+)\}", template)
    wide = {"path", "ref", "basehead"}
    built = [
        re.escape(part) if i % 2 == 0 else "(.+)" if part in wide else "([^/]+)"
        for i, part in enumerate(parts)
    ]
    where = f"#/paths/{_escape(template)}/{method.lower()}"
    return Operation(method, template, tuple(parts[1::2]), re.compile("".join(built)), where, spec)


class Description:
    """GitHub's description of its API, ready to judge."""

    def __init__(self, document: Mapping[str, Json]) -> None:
        if not str(document["openapi"]).startswith("3.0"):
            raise ValueError(f"OpenAPI {document['openapi']}: only 3.0 is understood")
        self._document = document
        # Opaque: the document has no ids or anchors, and crawling 13 MB for them takes seconds.
        resource = Resource.opaque(document)
        self._registry: Registry[Json] = Registry().with_resource(ROOT, resource)
        self._validators: dict[str, Any] = {}
        self._remembered: dict[tuple[str, bytes], tuple[str, ...]] = {}
        self._operations: dict[tuple[str, str], list[Operation]] = {}

    def _candidates(self, method: str, start: str) -> list[Operation]:
        """Operations by method and first segment: compiling all 1,200 of them would be slow."""
        key = (method, start)
        if key not in self._operations:
            found = [
                _operation(method, template, methods[method.lower()])
                for template, methods in self._document["paths"].items()
                if template.split("/")[1] == start and method.lower() in methods
            ]
            # A literal segment wins over a parameter, as with any router.
            self._operations[key] = sorted(found, key=lambda o: (len(o.names), -len(o.template)))
        return self._operations[key]

    def operation(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        """The operation that a request line names, and the parameters of its path."""
        for found in self._candidates(method, path.partition("/")[2].partition("/")[0]):
            given = found.parameters(path)
            if given is not None:
                return found, given
        return None

    def _resolve(self, node: Mapping[str, Json], where: str) -> tuple[Mapping[str, Json], str]:
        while "$ref" in node:
            where = node["$ref"]
            node = self._document
            for part in where[2:].split("/"):
                node = node[part.replace("~1", "/").replace("~0", "~")]
        return node, where

    def _judge(self, where: str, value: Json) -> tuple[str, ...]:
        """What is wrong with a value by the schema at a JSON pointer; empty where nothing is."""
        key = (where, hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest())
        if key not in self._remembered:
            if where not in self._validators:
                self._validators[where] = OAS30Validator(
                    {"$ref": ROOT + where},
                    registry=self._registry,
                    format_checker=oas30_format_checker,
                )
            errors = self._validators[where].iter_errors(value)
            self._remembered[key] = tuple(
                f"{'/'.join(str(p) for p in e.absolute_path) or '(all)'}: {e.message[:300]}"
                for e in errors
            )
        return self._remembered[key]

    def request(
        self, method: str, path: str, query: Mapping[str, str], body: bytes
    ) -> Iterator[str]:
        """What is wrong with a request."""
        found = self.operation(method, path)
        if found is None:
            yield f"GitHub has no {method} {path}"
            return
        operation, given = found
        yield from self._parameters(operation, given, query)
        spec = operation.spec.get("requestBody")
        if spec is None:
            if body.strip() not in {b"", b"{}"}:
                yield f"{method} {operation.template} takes no body"
            return
        spec, where = self._resolve(spec, operation.where + "/requestBody")
        if not body.strip():
            if spec.get("required"):
                yield f"{method} {operation.template} needs a body"
            return
        try:
            value = json.loads(body)
        except ValueError:
            yield "the body is not JSON"
            return
        media = next(iter(spec["content"]))
        pointer = f"{where}/content/{_escape(media)}/schema"
        for problem in self._judge(pointer, value):
            yield f"body of {method} {operation.template}: {problem}"

    def _parameters(
        self, operation: Operation, given: Mapping[str, str], query: Mapping[str, str]
    ) -> Iterator[str]:
        known = set()
        for i, raw in enumerate(operation.spec.get("parameters", ())):
            spec, where = self._resolve(raw, f"{operation.where}/parameters/{i}")
            source = given if spec["in"] == "path" else query if spec["in"] == "query" else {}
            name = spec["name"]
            if spec["in"] == "query":
                known.add(name)
            if name not in source:
                if spec.get("required") and spec["in"] in {"path", "query"}:
                    yield f"{operation.method} {operation.template} needs the parameter {name}"
                continue
            kind = self._resolve(spec["schema"], where)[0].get("type")
            for problem in self._judge(where + "/schema", _typed(source[name], kind)):
                yield f"parameter {name} of {operation.method} {operation.template}: {problem}"
        for name in sorted(set(query) - known):
            yield f"{operation.method} {operation.template} knows no query parameter {name}"

    def answer(self, method: str, path: str, status: int, media: str, body: bytes) -> Iterator[str]:
        """What is wrong with an answer. Refusals that GitHub does not list must look like one."""
        found = self.operation(method, path)
        if found is None:
            return
        operation, _ = found
        responses = operation.spec["responses"]
        about = f"answer {status} of {method} {operation.template}"
        if str(status) not in responses:
            if status < 300:
                yield f"{about}: GitHub does not answer so"
            elif status != 304:
                yield from self._refusal(about, body)
            return
        spec, where = self._resolve(responses[str(status)], f"{operation.where}/responses/{status}")
        content = spec.get("content") or {}
        if not media.startswith("application/json"):
            if content and status < 300 and "raw" not in media:
                yield f"{about}: content type {media}"
            return
        if "application/json" not in content:
            if body.strip() not in {b"", b"{}"} and status < 300 and status != 202:
                yield f"{about}: has a body"
            return
        for problem in self._judge(f"{where}/content/application~1json/schema", json.loads(body)):
            yield f"{about}: {problem}"

    def _refusal(self, about: str, body: bytes) -> Iterator[str]:
        for problem in self._judge("#/components/schemas/basic-error", json.loads(body or b"{}")):
            yield f"{about}: {problem}"

    def webhook(self, event: str, payload: Mapping[str, Json]) -> Iterator[str]:
        """What is wrong with a webhook's payload, by GitHub's description of that webhook."""
        name = "-".join(filter(None, [event, payload.get("action")])).replace("_", "-")
        hooks = self._document["x-webhooks"]
        if name not in hooks:
            yield f"GitHub has no webhook {name}"
            return
        spec = hooks[name]["post"]["requestBody"]
        where = f"#/x-webhooks/{name}/post/requestBody/content/application~1json/schema"
        if "application/json" not in spec["content"]:
            yield f"the webhook {name} has no JSON"
            return
        for problem in self._judge(where, payload):
            yield f"webhook {name}: {problem}"


def _typed(text: str, kind: str | None) -> Json:
    """A parameter's text as the JSON value that its schema is about."""
    if kind == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if kind == "boolean" and text in {"true", "false"}:
        return text == "true"
    return text


def _mend(document: Json) -> Json:
    """Slips of the description that our requests meet.

    - The list of installations says that an account is a user AND an enterprise (`allOf`); the
      description of a single installation says OR (`anyOf`), and so GitHub answers.
    - A pull request is said to have a `user` and a `head.repo` always; the webhooks' descriptions
      know that both may be null, and so they are once the account or the fork was deleted.
    - The payload of a public event is said to fit exactly one description, but that of `PublicEvent`
      asks for nothing and so fits them all: one at least is what is meant.
    """
    answer = document["paths"]["/app/installations"]["get"]["responses"]["200"]
    account = answer["content"]["application/json"]["schema"]["items"]["properties"]["account"]
    account["anyOf"] = account.pop("allOf")
    schemas = document["components"]["schemas"]
    for name in ("pull-request", "pull-request-simple"):
        pull = schemas[name]["properties"]
        head = pull["head"]["properties"]
        pull["user"] = head["user"] = {**schemas["simple-user"], "nullable": True}
        head["repo"] = {**schemas["repository"], "nullable": True}
    payload = schemas["event"]["properties"]["payload"]
    payload["anyOf"] = payload.pop("oneOf")
    return document


@cache
def description() -> Description | None:
    """GitHub's description; None where the npm package is not installed."""
    folder = package("@octokit/openapi")
    if folder is None:
        return None
    path: Path = folder / "generated" / "api.github.com.json"
    return Description(_mend(json.loads(path.read_bytes())))
