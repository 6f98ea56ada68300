"""A mail in a real mailbox proves an account: `pulsegate mail` reads it by IMAP, over TLS."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.e2e.service import Service, settings_of
from tests.e2e.test_browser import POLICY
from tests.fakes.certificates import files
from tests.fakes.github import GitHub
from tests.fakes.letters import SELECTOR, key, signed, written
from tests.fakes.mailbox import PASSWORD, USER, Client, mail_server
from tests.fakes.names import Names


@contextmanager
def signed_in(running: Service, github: GitHub, login: str) -> Iterator[httpx.Client]:
    """A browser that went through GitHub."""
    github.world.browser = login
    with httpx.Client(base_url=running.url, follow_redirects=True, trust_env=False) as browser:
        assert browser.get("/login").is_success
        yield browser


def test_a_mail_in_a_mailbox_opens_what_was_closed(
    folder: Path,
    wait_for: Callable[..., None],
    database_url: str,
    redis_url: str,
    engine: object,  # empties the tables afterwards
) -> None:
    certificate, _ = files(folder)
    with (
        Names({f"{SELECTOR}._domainkey.corp.example": key()[1]}) as names,
        mail_server(folder) as port,
        GitHub() as github,
    ):
        world = github.world
        world.repository().files[".github/pulsegate.yml"] = POLICY
        running = Service(
            folder,
            wait_for,
            **settings_of(github, database_url, redis_url),
            MAIL_INBOUND=f"imap://{USER}:{PASSWORD}@localhost:{port}/Proofs"
            "?address=proof@gate.example&behind=mx.gate.example&every=1&after=delete",
            NAME_SERVER=f"127.0.0.1:{names.port}",
            SSL_CERT_FILE=str(certificate),
        )
        box = Client(port, "Proofs")
        try:
            running.start_all()
            running.start("mail", "mail")
            world.app.webhook_url = f"{running.url}/webhooks/github"
            flood = [world.open_pull(by="stranger", title=f"Change {n}") for n in range(3)]
            wait_for(lambda: all(p.state == "closed" for p in flood), "it is closed", 40)
            said = " ".join(c.body for c in flood[0].comments)
            page = re.search(r"/verify/acme/widgets/\d+", said)
            assert page, said
            with signed_in(running, github, "stranger") as browser:
                shown = browser.get(page[0]).text
                to = re.search(r"proof\+[a-z2-7]{52}@gate\.example", shown)
                assert to, shown
                header = b"Authentication-Results: mx.gate.example; spf=fail\r\n"
                forged = written("mallory@corp.example", to[0])
                box.put(forged, header + signed(written("alice@corp.example", to[0])))
                wait_for(lambda: all(p.state == "open" for p in flood), "all are open again", 30)
                mine = browser.get("/mine").text
                assert "a mail from you (own domain)" in mine
                assert "SPF: fail" in mine
                metrics = browser.get("/metrics").text
            wait_for(lambda: box.all() == 0, "what was taken is deleted", 10)
            unread = re.search(r"^pulsegate_mailbox_unread_seconds (\S+)$", metrics, re.MULTILINE)
            assert unread
            assert float(unread[1]) < 30
            with signed_in(running, github, "tom") as browser:
                stranger = world.user("stranger").id
                person = browser.get(f"/people/acme/widgets/{stranger}").text
            assert "a mail from them (own domain)" in person
            assert "SPF: fail" in person
            assert "alice" not in person
            began = time.monotonic()
            assert running.end("mail") == 0
            assert time.monotonic() - began < 5
        finally:
            world.app.webhook_url = None
            box.imap.logout()
            running.stop()
    assert running.faults() == []
    assert github.violations == []
