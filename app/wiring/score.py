"""`pulsegate score`: one pull request, or many as JSON lines, scored and explained."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from app.adapters.github.client import public
from app.adapters.github.connection import path
from app.adapters.github.errors import narrow
from app.adapters.github.public_events import public_events
from app.adapters.model import Models
from app.core.errors import Rejected, UserError
from app.core.facts import Facts, PublicEvent
from app.core.github import PullRequest
from app.core.render import evidence, explain_score
from app.core.said import english
from app.core.scoring import Score
from app.core.text import one_line
from app.core.textmodel import TextReading
from app.settings import Settings

_ADDRESS = re.compile(
    r"^https?://[^/\s]+/([\w.-]{1,100})/([\w.-]{1,100})/pull/(\d{1,12})(?:[/?#].*)?$"
)
_LONGEST = 4_000_000


@dataclass(frozen=True)
class Scored:
    """A pull request with its score, and what its text is like."""

    name: str
    score: Score
    text: TextReading

    def as_json(self) -> str:
        """One line; `text` is for maintainers and acts on nothing."""
        score = self.score.model_dump(mode="json")
        score["signals"] = [
            {"name": s.name, "value": s.value, "weight": s.weight, "sentence": str(s.sentence)}
            for s in self.score.signals
        ]
        return json.dumps(
            {"pull_request": self.name, "score": score, "text": self.text._asdict()},
            ensure_ascii=False,
        )


def told(one: Scored) -> str:
    """For a terminal: the check run's own words."""
    seen = [f"- {english(s.sentence)} ({s.weight:+.1f})" for s in one.score.signals]
    lines = [one.name, *(seen or evidence(english, one.score)), english(explain_score(one.score))]
    word = {"agent": "an agent's", "people": "a person's", "unknown": "neither (unknown)"}
    lines.append(
        f"Text alone, for the queue and no act: most like {word[one.text.verdict]}; "
        f"{one.text.log_odds:+.1f} in log-odds."
    )
    return "\n".join(lines) + "\n"


def from_lines(models: Models, lines: Iterable[str]) -> Iterator[Scored]:
    """Each line a pull request, a delivery that holds one, or just a title and a body."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if len(line) > _LONGEST:
            raise UserError(
                f"line {number} is too long", hint="GitHub's bodies end at 65,536 characters"
            )
        try:
            data = json.loads(line)
        except ValueError as error:
            raise UserError(
                f"line {number} is no JSON: {error}", hint='write {"title": …}'
            ) from None
        if not isinstance(data, dict):
            raise UserError(
                f"line {number} is no JSON object", hint='write {"title": …, "body": …}'
            )
        pull = _pull(data.get("pull_request", data), number)
        yield _scored(models, pull, None, f"line {number}: {pull.title or '(no title)'}")


def _pull(data: Any, number: int) -> PullRequest:
    try:
        return PullRequest.model_validate(data)
    except ValidationError:
        if not isinstance(data, dict) or not isinstance(data.get("title"), str):
            raise UserError(
                f"line {number} is no pull request", hint='it needs at least {"title": …}'
            ) from None
    now = datetime.now(UTC)
    side = {"ref": str(data.get("ref") or ""), "sha": ""}
    return PullRequest.model_validate(
        {
            "id": 0, "number": number, "state": "open", "title": data["title"],
            "body": data.get("body"), "head": side, "base": {"ref": "", "sha": ""},
            "created_at": now, "updated_at": now,
        }
    )  # fmt: skip


def from_address(models: Models, settings: Settings, address: str) -> Iterator[Scored]:
    """The pull request at an address, with its author's public activity: two requests."""
    found = _ADDRESS.match(address)
    if found is None:
        raise UserError(
            f"{one_line(address, 100)!r} is no pull request's address",
            hint="write it as https://github.com/OWNER/REPO/pull/NUMBER, or - for JSON lines",
        )
    token = settings.github_token.get_secret_value() if settings.github_token else None
    owner, name, number = found.groups()
    with public(settings.github_api_url, token) as github:
        try:
            where = path("repos", owner, name, "pulls", number)
            pull = narrow(PullRequest, github.read(where).payload)
            activity = public_events(github, pull.user) if pull.user else None
        except Rejected as error:
            raise UserError(
                f"GitHub does not show {address}: {error.reason}",
                hint="check the address; for a private repository set GITHUB_TOKEN",
            ) from None
    yield _scored(models, pull, activity, f"{owner}/{name}#{number}: {pull.title}")


def _scored(
    models: Models, pull: PullRequest, activity: tuple[PublicEvent, ...] | None, name: str
) -> Scored:
    scorer = models.scorer()
    facts = Facts(pull=pull, role=None, activity=activity, installed_at=pull.created_at)
    return Scored(one_line(name, 200), scorer.of(facts), scorer.text(facts))
