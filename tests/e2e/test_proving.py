"""Proof of life in a real browser, with real mail both ways: challenged, proven, opened again."""

import re
import smtplib
from collections.abc import Callable, Iterator
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.service import Service, free_port, settings_of
from tests.e2e.test_browser import ARGUMENTS, POLICY
from tests.fakes.github import GitHub
from tests.fakes.letters import SELECTOR, bounce, key, signed, written
from tests.fakes.names import Names

pytestmark = pytest.mark.browser


class Postbox:
    """A mail server that keeps what it is given."""

    def __init__(self) -> None:
        self.taken: list[Any] = []
        self.senders: list[str] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.senders.append(envelope.mail_from)
        self.taken.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"


@pytest.fixture
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield opened
        opened.close()


class Town:
    """GitHub, the service, mail both ways, and a flood by `stranger` that was closed."""

    def __init__(self, github: GitHub, running: Service, post: Postbox, inbound: int) -> None:
        self.github, self.running, self.post, self.inbound = github, running, post, inbound
        self.flood: list[Any] = []

    def signed_in(self, browser: Browser, login: str, **more: Any) -> Page:
        self.github.world.browser = login
        page: Page = browser.new_context(**more).new_page()
        page.goto(f"{self.running.url}/login")
        page.wait_for_url(f"{self.running.url}/**")
        return page

    def takes_mail(self) -> bool:
        try:
            smtplib.SMTP("127.0.0.1", self.inbound, timeout=10).quit()
        except OSError:
            return False
        return True

    def link(self) -> str:
        """Where the comment leads to."""
        said = " ".join(c.body for c in self.flood[0].comments)
        found = re.search(r"(http://\S+/verify/acme/widgets/\d+)", said)
        assert found, said
        return found[1]


@pytest.fixture
def town(
    folder: Path,
    wait_for: Callable[..., None],
    database_url: str,
    redis_url: str,
    engine: object,  # empties the tables afterwards
) -> Iterator[Town]:
    post, inbound = Postbox(), free_port()
    door = Controller(post, hostname="127.0.0.1", port=free_port())
    door.start()
    mx = {("corp.example", "MX"): ["10 mx.corp.example."]}
    with (
        Names({f"{SELECTOR}._domainkey.corp.example": key()[1]}, mx) as names,
        GitHub() as github,
    ):
        world = github.world
        world.repository().files[".github/pulsegate.yml"] = POLICY
        running = Service(
            folder,
            wait_for,
            **settings_of(github, database_url, redis_url),
            SMTP_URL=f"smtp://127.0.0.1:{door.port}",
            MAIL_FROM="gate@gate.example",
            MAIL_INBOUND=f"smtp://127.0.0.1:{inbound}?domain=gate.example",
            NAME_SERVER=f"127.0.0.1:{names.port}",
        )
        made = Town(github, running, post, inbound)
        try:
            running.start_all()
            running.start("mail", "mail")
            world.app.webhook_url = f"{running.url}/webhooks/github"
            made.flood = [world.open_pull(by="stranger", title=f"Change {n}") for n in range(3)]
            wait_for(lambda: all(p.state == "closed" for p in made.flood), "it is closed", 40)
            wait_for(made.takes_mail, "the receiver listens", 40)
            yield made
        finally:
            world.app.webhook_url = None
            running.stop()
            door.stop()
    assert running.faults() == []
    assert github.violations == []


def test_a_contributor_shows_that_somebody_is_there(
    browser: Browser, town: Town, wait_for: Callable[..., None]
) -> None:
    impostor = town.signed_in(browser, "tom")
    impostor.goto(town.link())
    assert "There is no such pull request of yours" in impostor.content()

    page = town.signed_in(
        browser, "stranger", viewport={"width": 360, "height": 740}, java_script_enabled=False
    )
    page.goto(town.link())
    assert "This is no test of you" in page.inner_text("main")
    page.fill("input[type=email]", "nobody@corp.example")
    page.keyboard.press("Enter")
    page.wait_for_url("**mailed=1**")
    wait_for(lambda: town.post.taken, "the mail is there", 20)
    town.post.taken.clear()
    back = town.post.senders[0]
    with smtplib.SMTP("127.0.0.1", town.inbound, timeout=10) as session:
        session.sendmail("", [back], bounce(back))

    def told() -> bool:
        page.goto(town.link())
        return "The last mail came back" in page.inner_text("main")

    wait_for(told, "it is told", 20)
    page.fill("input[type=email]", "alice@corp.example")
    page.keyboard.press("Enter")
    page.wait_for_url("**mailed=1**")
    assert "If that address can be used" in page.inner_text("main")
    wait_for(lambda: town.post.taken, "the mail is there", 20)
    text = town.post.taken[0].get_body(("plain",)).get_content()
    link = next(word for word in text.split() if "/verify/confirm/" in word)
    impostor.goto(link)
    impostor.click("text=Yes, confirm it")
    impostor.wait_for_selector("text=somebody else's")
    assert "somebody else's" in impostor.content()
    page.goto(link)
    page.click("text=Yes, confirm it")
    page.wait_for_selector("h1:has-text('Confirmed')")
    assert "Confirmed" in page.inner_text("h1")
    wait_for(lambda: all(p.state == "open" for p in town.flood), "all are open again", 30)
    labelled = lambda: [label.name for label in town.flood[0].labels] == ["verified"]  # noqa: E731
    wait_for(labelled, "it is marked, and the old label is gone", 20)
    page.goto(town.link())
    assert "Nothing more is asked" in page.inner_text("main")


def test_a_mail_from_ones_own_server_does_as_well(
    browser: Browser, town: Town, wait_for: Callable[..., None]
) -> None:
    page = town.signed_in(browser, "stranger")
    page.goto(town.link())
    to = page.inner_text("a[href^='mailto:']")
    with smtplib.SMTP("127.0.0.1", town.inbound, timeout=10) as session:
        session.sendmail("mallory@corp.example", [to], written("mallory@corp.example", to))
        session.sendmail("alice@corp.example", [to], signed(written("alice@corp.example", to)))
    wait_for(lambda: all(p.state == "open" for p in town.flood), "all are open again", 30)
    page.goto(f"{town.running.url}/mine")
    assert "a mail from you (own domain)" in page.inner_text("main")
    assert "alice" not in page.content()
