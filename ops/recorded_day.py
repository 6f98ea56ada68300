"""Writes `app/demo/day.jsonl`, the recorded day that `pulsegate up` replays without a GitHub App.

Run `python -m ops.recorded_day` from the root of the repository. The same story gives the same
bytes. Payloads are shaped as GitHub's; everything in them is invented.
"""

import json
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from app.core.events import Unread, parse
from ops import recorded_story as story
from ops.recorded_pulls import (
    DAY,
    INSTALLATION,
    OWNER,
    REPOSITORIES,
    Json,
    Life,
    Row,
    account,
    clock,
    iso,
    person,
)

TARGET = Path(__file__).parent.parent / "app" / "demo" / "day.jsonl"
INSTALLED = datetime(2026, 11, 9, 8, 12, 44, tzinfo=UTC)
FIRST_NUMBER = {"lumen": 2481, "lumen-kernels": 212}
OLD_NUMBER = 2437
FLOOD_START, FLOOD_END = (
    DAY.replace(hour=13, minute=2, second=7),
    DAY.replace(hour=13, minute=11, second=31),
)
NOTE = (
    "An invented Monday of an invented project: people at work, and one account that opens "
    "43 pull requests within ten minutes."
)
POLICY = """\
version: 1
mode: observe
rules:
  burst: {mode: close, prs: 5, minutes: 10}
"""


def main() -> None:
    """Writes the file and says what stands in it."""
    text = recording()
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(text, encoding="utf-8")
    sys.stdout.write(
        f"{TARGET}: {len(text.splitlines()) - 1} deliveries, {len(text.encode())} bytes\n"
    )


def recording() -> str:
    """The whole file."""
    random = Random(20261116)  # noqa: S311 - the same day each time, nothing secret
    rows = sorted([installation(), *old_pull(), *pulls(random)], key=lambda row: row[0])
    lines: list[Json] = [header()]
    for at, event, payload in rows:
        parsed = parse(event, payload)
        if isinstance(parsed, Unread):
            raise TypeError(f"{event} at {at}: {parsed.problem}")
        guid = str(uuid.UUID(int=random.getrandbits(128), version=4))
        lines.append({"at": iso(at), "event": event, "guid": guid, "payload": payload})
    return "".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
    )


def header() -> Json:
    """Who may do what, and the configuration."""
    roles = {str(p.id): p.role for p in story.PEOPLE.values() if p.role}
    return {
        "recording": 1,
        "note": NOTE,
        "roles": roles,
        "policies": {f"{OWNER['login']}/lumen": POLICY},
    }


def installation() -> Row:
    """The App arrives, a week before."""
    payload = {
        "action": "created",
        "installation": {
            "id": INSTALLATION,
            "account": account(OWNER),
            "repository_selection": "selected",
            "app_slug": "pulsegate",
            "target_type": "Organization",
            "permissions": {
                "checks": "write",
                "issues": "write",
                "metadata": "read",
                "pull_requests": "write",
            },
            "events": ["check_run", "issue_comment", "pull_request", "pull_request_review"],
            "created_at": iso(INSTALLED),
            "updated_at": iso(INSTALLED),
            "suspended_at": None,
        },
        "repositories": [
            {"id": id_, "name": name, "full_name": f"{OWNER['login']}/{name}", "private": False}
            for name, id_ in REPOSITORIES.items()
        ],
        "sender": person(story.ADMIN),
    }
    return INSTALLED, "installation", payload


def pulls(random: Random) -> Iterator[Row]:
    """Every pull request of the day, numbered as they came, with what became of it."""
    numbers = dict(FIRST_NUMBER)
    opened = [(clock(p.time, random), p) for p in story.PULLS] + list(flood(random))
    told = 0
    for at, pull in sorted(opened, key=lambda o: o[0]):
        number = numbers[pull.repository]
        numbers[pull.repository] += 1
        steps = pull.steps
        if pull.author == story.FLOOD:
            told += 1
            steps = {9: story.FLOOD_COMMENTS[:1], 24: story.FLOOD_COMMENTS[1:]}.get(told, ())
        yield from Life(pull, number, at).rows(steps, random)


def flood(random: Random) -> Iterator[tuple[datetime, story.Pull]]:
    """One account, one template, 43 files."""
    length = int((FLOOD_END - FLOOD_START).total_seconds())
    between = sorted(random.sample(range(1, length), len(story.FLOOD_FILES) - 2))
    for second, file in zip([0, *between, length], story.FLOOD_FILES, strict=True):
        name = file.removesuffix(".py").replace("/", "-")
        yield (
            FLOOD_START + timedelta(seconds=second),
            story.Pull(
                "",
                story.FLOOD,
                f"improve-{name}",
                story.FLOOD_TITLE.format(file=file),
                story.FLOOD_BODY.format(file=file),
            ),
        )


def old_pull() -> Iterator[Row]:
    """A pull request from before the installation, pushed to on the day."""
    life = Life(story.OLD_PULL, OLD_NUMBER, datetime(2026, 10, 28, 17, 3, 50, tzinfo=UTC))
    at = DAY.replace(hour=9, minute=27, second=12)
    life.push(at)
    yield life.event(at, "synchronize", story.OLD_PULL.author)


if __name__ == "__main__":
    main()
