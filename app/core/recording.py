"""Recordings of webhook deliveries: JSON lines, read one by one and trusted in nothing.

The first line may be a header, `{"recording": 1, "note": …, "roles": {account id: role},
"policies": {"owner/name": YAML text}}`. Each other line is one delivery, `{"at": ISO 8601,
"event": …, "guid": …, "payload": {…}}`. Without `guid` it is a digest of the line, without `at`
the time that the payload itself names. `"change": {…}` (`core.change`) is what the pull request
changed then, for want of a GitHub to ask.
"""

import codecs
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Annotated, Any, NoReturn

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import from_json

from app.core.change import Change
from app.core.config import Version
from app.core.errors import UserError
from app.core.fact import Fact
from app.core.facts import Role
from app.core.github import Id, Moment
from app.core.text import clean, one_line

LINE_LIMIT = 25_000_000  # bytes; GitHub caps a payload at 25 MB
# Stands for "some installation" where a recorded payload names none.
NO_INSTALLATION = -1

_HINT = (
    'Each line is one JSON object, {"at": …, "event": "pull_request", "guid": …, "payload": {…}}; '
    'only the first may be the header {"recording": 1, …}. Mend or remove the line.'
)
_ROLE_WORDS = {role.word: role for role in Role}


def _role(value: Any) -> Any:
    if isinstance(value, str) and value in _ROLE_WORDS:
        return _ROLE_WORDS[value]
    raise ValueError(f"must be one of {', '.join(_ROLE_WORDS)}")


def _text(value: Any) -> Any:
    return clean(value) if isinstance(value, str) else value


Words = Annotated[str, BeforeValidator(_text)]
_TIME: TypeAdapter[datetime] = TypeAdapter(Moment)


class Header(Fact):
    """What a recording says of itself.

    `roles` is permission by account id, for want of a GitHub to ask; `policies` is the text of
    the configuration by `owner/name`.
    """

    recording: Version = 1
    note: Words = ""
    roles: Mapping[Id, Annotated[Role, BeforeValidator(_role)]] = Field(default_factory=dict)
    policies: Mapping[Words, Words] = Field(default_factory=dict)


class RecordedDelivery(Fact):
    """One delivery. `at` is in UTC, and None where neither line nor payload names a time."""

    at: datetime | None
    event: str
    guid: str
    payload: dict[str, Any]
    change: Change | None = None


class _Line(BaseModel):
    # Files of examples carry more than we need (`file`, `action`).
    model_config = ConfigDict(extra="ignore")

    at: Moment | None = None
    event: Annotated[str, BeforeValidator(lambda v: one_line(v, 80) if isinstance(v, str) else v)]
    guid: Annotated[
        str, BeforeValidator(lambda v: one_line(v, 100) if isinstance(v, str) else v)
    ] = ""
    payload: dict[str, Any]
    change: Change | None = None


def read(lines: Iterable[str | bytes]) -> tuple[Header, Iterator[RecordedDelivery]]:
    """The header (an empty one where there is none) and the deliveries, read as they are asked for.

    Raises `UserError`, at once or while iterating, naming the line that is broken. Blank lines
    count and are skipped.
    """
    rows = _objects(lines)
    first = next(rows, None)
    if first is None:
        return Header(), iter(())
    number, _, value = first
    if "recording" not in value:
        return Header(), _deliveries(chain([first], rows))
    try:
        return Header.model_validate(value), _deliveries(rows)
    except ValidationError as error:
        _refuse(number, _first_problem(error), "Mend the header, the first line of the recording.")


# The number of a line, a digest of it, and the object that it holds.
_Row = tuple[int, str, dict[str, Any]]


def _objects(lines: Iterable[str | bytes]) -> Iterator[_Row]:
    for number, line in enumerate(lines, 1):
        raw = _bytes(number, line)
        if raw:
            yield number, hashlib.sha256(raw).hexdigest()[:32], _object(number, raw)


def _bytes(number: int, line: str | bytes) -> bytes:
    """A line without its end; empty for a blank one."""
    raw = line if isinstance(line, bytes) else line.encode("utf-8", "surrogatepass")
    if len(raw) > LINE_LIMIT:
        _refuse(
            number, "is longer than 25 MB", "GitHub sends no payload as long as that; remove it."
        )
    return (raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw).strip()


def _object(number: int, raw: bytes) -> dict[str, Any]:
    try:
        raw.decode()
        # Read as a webhook's body is: what goes in can be stored, and read from there again.
        value = from_json(raw, allow_inf_nan=False)
    except UnicodeDecodeError:
        _refuse(
            number,
            "is not UTF-8 text",
            "Is it packed? gzip is known by its first two bytes, whatever the file is called; "
            "unpack anything else first.",
        )
    except (ValueError, RecursionError) as error:
        if "recursion limit" in str(error):
            _refuse(number, "is nested too deeply", _HINT)
        _refuse(number, f"is not JSON ({error})", _HINT)
    if not isinstance(value, dict):
        _refuse(number, "is not a JSON object", _HINT)
    return value


def _deliveries(rows: Iterator[_Row]) -> Iterator[RecordedDelivery]:
    for number, digest, value in rows:
        if "recording" in value:
            _refuse(number, "is a second header", _HINT)
        try:
            line = _Line.model_validate(value)
        except ValidationError as error:
            _refuse(number, _first_problem(error), _HINT)
        if not line.event:
            _refuse(number, "names no event", _HINT)
        yield RecordedDelivery(
            at=line.at or own_time(line.event, line.payload),
            event=line.event,
            guid=line.guid or digest,
            payload=line.payload,
            change=line.change and _change_as_recorded(line.change),
        )


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    spot = ".".join(str(part) for part in first["loc"])
    return f"does not fit: {spot}: {first['msg']}"


def _refuse(number: int, problem: str, hint: str) -> NoReturn:
    raise UserError(f"line {number} of the recording {one_line(problem)}", hint=hint)


# Where a payload names the moment that it tells of, the best first.
_TIMES = {
    "pull_request": ("pull_request.updated_at",),
    "issue_comment": ("comment.updated_at", "comment.created_at"),
    "pull_request_review": ("review.submitted_at", "pull_request.updated_at"),
    "pull_request_review_comment": ("comment.updated_at", "comment.created_at"),
    "issues": ("issue.updated_at",),
    "check_run": ("check_run.completed_at", "check_run.started_at"),
    "push": ("head_commit.timestamp", "repository.pushed_at"),
    "installation": ("installation.updated_at", "installation.created_at"),
    "installation_repositories": ("installation.updated_at", "installation.created_at"),
    "workflow_run": ("workflow_run.updated_at",),
    "workflow_job": ("workflow_job.completed_at", "workflow_job.started_at"),
    "repository": ("repository.updated_at",),
}


def own_time(event: str, payload: Mapping[str, Any]) -> datetime | None:
    """When a payload says that it happened, in UTC; None where it does not say."""
    for path in _TIMES.get(event, ()):
        value: Any = payload
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            try:
                return _TIME.validate_python(value)
            except ValidationError:
                continue
    return None


def as_recorded(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A copy whose repositories and installation have negative ids.

    GitHub's are positive, so that a recording can never be taken for a live repository.
    """
    copy = dict(payload)
    if isinstance(copy.get("repository"), Mapping):
        copy["repository"] = _negated(copy["repository"])
    for name in ("repositories", "repositories_added", "repositories_removed"):
        if isinstance(copy.get(name), list):
            copy[name] = [_negated(r) if isinstance(r, Mapping) else r for r in copy[name]]
    pull = copy.get("pull_request")
    if isinstance(pull, Mapping):
        copy["pull_request"] = {
            **pull,
            **{s: _side(pull[s]) for s in ("base", "head") if s in pull},
        }
    installation = copy.get("installation")
    known = _negated(installation) if isinstance(installation, Mapping) else {}
    copy["installation"] = known if _is_id(known.get("id")) else {**known, "id": NO_INSTALLATION}
    return copy


def _side(part: Any) -> Any:
    repository = part.get("repo") if isinstance(part, Mapping) else None
    return {**part, "repo": _negated(repository)} if isinstance(repository, Mapping) else part


def _change_as_recorded(change: Change) -> Change:
    """With the ids of repositories as in `as_recorded`."""
    issues = change.issues
    if issues is None:
        return change
    own = tuple(i.model_copy(update={"repository_id": -abs(i.repository_id)}) for i in issues)
    return change.model_copy(update={"issues": own})


def _negated(part: Mapping[str, Any]) -> dict[str, Any]:
    # Not merely the other sign: what was negated once stays negative.
    return {**part, "id": -abs(part["id"])} if _is_id(part.get("id")) else dict(part)


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
