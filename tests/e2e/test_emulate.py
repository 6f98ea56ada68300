"""The whole service against a GitHub that nobody here wrote: webhooks in, acts out, sign-in.

Real processes (web, worker, clock) on a real PostgreSQL and Valkey; `emulate` runs on Node.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.service import Service
from tests.fakes.emulate import Emulate
from tests.fakes.loopback import client

pytestmark = pytest.mark.emulate
POLICY = "version: 1\nmode: close\nrules:\n  burst: {mode: close, prs: 3, minutes: 10}\n"


@dataclass
class Town:
    """GitHub, the service, and somebody who waits and looks."""

    github: Emulate
    service: Service
    wait_for: Callable[..., None]
    sql: Callable[..., list[dict[str, Any]]]

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait; a failure shows what the service said."""
        try:
            self.wait_for(condition, what)
        except AssertionError as error:
            rows = self.sql("SELECT event, action, outcome, last_error FROM inbox ORDER BY id")
            acts = self.sql("SELECT number, kind, state, reason FROM outbox ORDER BY id")
            told = "\n".join(str(row) for row in [*rows, *acts])
            raise AssertionError(f"{error}\n{told}\n{self.service.log()[-6000:]}") from None

    def state(self, number: int) -> str:
        """What was decided."""
        found = self.sql("SELECT state FROM cases WHERE number = :n", n=number)
        return str(found[0]["state"]) if found else "unknown"

    def at_rest(self) -> bool:
        """Nothing waits any more, neither in nor out."""
        waiting = self.sql(
            "SELECT 1 FROM inbox WHERE handled_at IS NULL UNION ALL"
            " SELECT 1 FROM outbox WHERE state IN ('pending', 'doing')"
        )
        return not waiting

    def flood(self, count: int, by: str) -> list[dict[str, Any]]:
        """Pull requests by one account, one after the other."""
        return [self.github.open_pull(by=by, title=f"Change {n}") for n in range(count)]

    @contextmanager
    def browser(self, login: str = "") -> Iterator[httpx.Client]:
        """A browser; with a login, one that signed in at GitHub."""
        with client(self.service.url) as browser:
            if login:
                away = browser.get("/login").headers["location"]
                assert away.startswith(self.github.web_url)
                back = browser.get(self.github.sign_in(away, login))
                assert back.status_code == 303, back.text
                assert login in browser.get("/").text
            yield browser


@pytest.fixture
def town(
    folder: Path,
    database_url: str,
    redis_url: str,
    sql: Callable[..., list[dict[str, Any]]],
    wait_for: Callable[..., None],
) -> Iterator[Town]:
    service = Service(folder, wait_for, DATABASE_URL=database_url, REDIS_URL=redis_url)
    with Emulate(callback_urls=[f"{service.url}/login/callback"]) as github:
        key = folder / "app.pem"
        key.write_text(github.private_key_pem)
        service.env |= {
            "GITHUB_API_URL": github.api_url,
            "GITHUB_WEB_URL": github.web_url,
            "GITHUB_APP_ID": str(github.app_id),
            "GITHUB_PRIVATE_KEY_FILE": str(key),
            "GITHUB_WEBHOOK_SECRET": github.webhook_secret,
            "GITHUB_CLIENT_ID": github.client_id,
            "GITHUB_CLIENT_SECRET": github.client_secret,
        }
        try:
            service.start_all()
            github.webhook_url = f"{service.url}/webhooks/github"
            yield Town(github, service, wait_for, sql)
        finally:
            github.webhook_url = None
            service.stop()
    assert service.faults() == []


def test_a_repository_from_observing_to_closing_and_back(town: Town) -> None:
    observed = [pull["number"] for pull in _nothing_is_written_without_a_configuration(town)]
    _only_the_team_sees_the_decisions(town, observed[-1])
    town.github.put_file(".github/pulsegate.yml", POLICY)
    town.until(
        lambda: town.sql("SELECT 1 FROM repositories WHERE policy->>'mode' = 'close'"),
        "the configuration is in force",
    )
    ours = town.github.open_pull(by="olivia", title="Ours")["number"]
    closed = _a_burst_is_closed(town)
    _the_author_has_it_opened_again(town, closed)
    assert town.state(ours) == "exempt"
    assert town.github.pull(ours)["state"] == "open"
    assert (town.github.labels(ours), town.github.comments(ours)) == ([], [])


def _nothing_is_written_without_a_configuration(town: Town) -> list[dict[str, Any]]:
    pulls = town.flood(5, "stranger")
    town.until(
        lambda: all(town.state(p["number"]) == "flagged" for p in pulls) and town.at_rest(),
        "the burst is decided",
    )
    for pull in pulls:
        assert town.github.pull(pull["number"])["state"] == "open"
        assert town.github.labels(pull["number"]) == []
        assert town.github.comments(pull["number"]) == []
        assert town.github.check_runs(pull["head"]["sha"]) == []
    acts = town.sql("SELECT kind, state FROM outbox")
    assert {act["state"] for act in acts} == {"observed"}
    assert "close" in {act["kind"] for act in acts}
    return pulls


def _only_the_team_sees_the_decisions(town: Town, number: int) -> None:
    with town.browser() as nobody:
        assert "acme/widgets" not in nobody.get("/").text
        assert nobody.get(f"/pull/acme/widgets/{number}").status_code == 404
    for login in ("olivia", "tom"):
        with town.browser(login) as browser:
            assert "by <bdi>stranger</bdi>" in browser.get("/").text
            page = browser.get(f"/pull/acme/widgets/{number}")
            assert page.status_code == 200
            assert "5 pull requests here in quick succession" in page.text
    with town.browser("stranger") as stranger:
        page = stranger.get("/")
        assert page.status_code == 200
        assert "acme" not in page.text
        assert "Change 4" not in page.text
        assert stranger.get(f"/pull/acme/widgets/{number}").status_code == 404
        assert stranger.get("/?repository=acme/widgets").status_code == 404


def _a_burst_is_closed(town: Town) -> list[int]:
    github = town.github
    pulls = town.flood(3, "newcomer")
    town.until(
        lambda: all(town.state(p["number"]) == "closed" for p in pulls) and town.at_rest(),
        "the burst is closed",
    )
    for pull in pulls:
        number = pull["number"]
        assert github.pull(number)["state"] == "closed"
        assert github.labels(number) == ["needs-verification"]
        comments = github.comments(number)
        assert {c["user"]["login"] for c in comments} == {"pulsegate[bot]"}
        status, notice = (c["body"] for c in comments)
        assert "It is closed for now" in status
        assert "3 pull requests here in quick succession" in notice
        assert "/pulse reopen" in notice
        assert "@" not in status + notice
        assert comments[1]["created_at"] <= github.pull(number)["closed_at"]
        check = github.check_runs(pull["head"]["sha"])[0]
        assert (check["name"], check["conclusion"]) == ("pulsegate", "neutral")
        assert "**burst**" in check["output"]["summary"]
        acts = town.sql(
            "SELECT kind FROM outbox WHERE number = :n AND state = 'done'"
            " AND kind IN ('close_comment', 'close') ORDER BY ended_at",
            n=number,
        )
        assert [act["kind"] for act in acts] == ["close_comment", "close"]
    return [pull["number"] for pull in pulls]


def _the_author_has_it_opened_again(town: Town, closed: list[int]) -> None:
    github = town.github
    github.comment(closed[1], "/pulse reopen", by="stranger")
    github.comment(closed[0], "/pulse reopen", by="newcomer")
    town.until(
        lambda: github.pull(closed[0])["state"] == "open" and town.at_rest(), "it is open again"
    )
    assert town.state(closed[0]) == "reopened"
    assert [github.pull(n)["state"] for n in closed[1:]] == ["closed", "closed"]
