"""What a maintainer sees in a real browser: signs in, reads a flood as one row, opens one of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.service import Service, settings_of
from tests.fakes.github import GitHub

pytestmark = pytest.mark.browser

POLICY = b"version: 1\nmode: close\nrules:\n  burst: {mode: close, prs: 3, minutes: 10}\n"
HOSTILE = (
    "Improve <script>document.title='taken'</script> <img src=x onerror=document.title='x'> {}"
)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def service(
    folder: Path,
    wait_for: Callable[..., None],
    database_url: str,
    redis_url: str,
    sql: Callable[..., list[dict[str, Any]]],
) -> Iterator[tuple[Service, GitHub]]:
    """The whole service with a flood already closed, and the GitHub that it works for."""
    with GitHub() as github:
        world = github.world
        world.repository().files[".github/pulsegate.yml"] = POLICY
        running = Service(
            folder,
            wait_for,
            **settings_of(github, database_url, redis_url),
        )
        try:
            running.start_all()
            world.app.webhook_url = f"{running.url}/webhooks/github"
            flood = [world.open_pull(by="stranger", title=HOSTILE.format(n)) for n in range(3)]
            world.open_pull(by="wendy", title="Bump the version")
            wait_for(lambda: all(p.state == "closed" for p in flood), "the flood is closed", 40)
            states = "SELECT count(*) AS n FROM cases WHERE state IN ('closed', 'exempt')"
            wait_for(lambda: sql(states)[0]["n"] == 4, "all are decided", 20)
            yield running, github
        finally:
            world.app.webhook_url = None
            running.stop()
    assert running.faults() == []
    assert github.violations == []


def _opened(browser: Browser, **more: Any) -> tuple[Page, list[str]]:
    page = browser.new_context(**more).new_page()
    said: list[str] = []
    page.on("console", lambda m: said.append(m.text) if m.type in {"error", "warning"} else None)
    page.on("pageerror", lambda e: said.append(str(e)))
    return page, said


def test_a_maintainer_reads_what_was_decided(
    browser: Browser, service: tuple[Service, GitHub]
) -> None:
    running, github = service
    github.world.browser = "tom"
    page, said = _opened(browser, viewport={"width": 360, "height": 740})
    page.goto(running.url)
    assert "stranger" not in page.content(), "nothing of a live repository without sign-in"
    page.click("text=Sign in")
    page.wait_for_url(f"{running.url}/**")
    page.goto(running.url)
    assert page.locator("text=closed 3 of 3").count() == 1, "a flood is one row"
    assert page.locator("text=Bump the version").count() == 1
    wider = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert not wider, "no sideways scrolling on a phone"
    page.click("a:has-text('pull requests')")
    page.click("a[href^='/pull/']")
    assert "Improve <script>" in page.inner_text("h1")
    assert page.title() not in {"taken", "x"}
    assert page.locator("text=carried out").count() >= 4
    assert "quick succession" in page.inner_text("main")
    page.click("text=Sign out")
    page.goto(running.url)
    assert "stranger" not in page.content()
    assert said == []


def test_a_stranger_who_signs_in_sees_nothing_of_it(
    browser: Browser, service: tuple[Service, GitHub]
) -> None:
    running, github = service
    github.world.browser = "stranger"
    page, said = _opened(browser)
    page.goto(f"{running.url}/login")
    page.wait_for_url(f"{running.url}/**")
    page.goto(running.url)
    assert "stranger" in page.inner_text("header"), "signed in"
    assert "Improve" not in page.content()
    page.goto(f"{running.url}/pull/acme/widgets/1")
    assert "Improve" not in page.content()
    assert [text for text in said if "404" not in text] == []
