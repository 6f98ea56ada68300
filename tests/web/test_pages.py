from datetime import timedelta

import pytest
from sqlalchemy import Engine, text

from app.core.effects import Notice, Receipt
from app.core.github import Account
from app.core.modes import Mode
from app.core.proofs.probe import Probe
from app.core.said import say
from app.core.text import one_line
from app.db import cases, challenges
from tests.scorer import SCORER
from tests.web.deciding import NOON, Decided
from tests.web.serving import Server

SPOOFED = {"host": "attacker.example"}
REMOTE = {"x-forwarded-for": "203.0.113.7"}


def test_a_flood_is_one_row_among_a_normal_day(server: Server, decided: Decided):
    repository = decided.repository("northlight/lumen", recorded=True)
    decided.flood(repository, 41)
    for number in range(1, 6):
        decided.pull(
            repository, number, title=f"Normal {number}", at=NOON + timedelta(minutes=number)
        )
    page = server.http.get("/").text
    assert "<b>41</b> pull requests" in page
    assert "within 7 minutes" in page
    assert "would have closed" in page
    assert "Improve file" not in page
    assert all(f"Normal {n}" in page for n in range(1, 6))
    assert "Recorded day" in page
    assert "No GitHub App is configured" in page
    narrowed = server.http.get("/?repository=northlight/lumen&author=4242").text
    assert narrowed.count("Improve file") == 41
    assert "Normal" not in narrowed


def test_a_flood_that_was_closed_says_how_many(server: Server, decided: Decided, engine: Engine):
    repository = decided.repository("northlight/lumen", recorded=True)
    decided.flood(repository, 5, mode=Mode.CLOSE)
    with engine.begin() as connection:
        connection.execute(
            text("update cases set state = 'closed', closed_at = now() where number < 103")
        )
    page = server.http.get("/").text
    assert "closed 3 of 5" in page
    assert "would have" not in page


def test_the_list_goes_on_by_key_and_shows_each_once(server: Server, decided: Decided):
    one = decided.repository("o/one", recorded=True)
    two = decided.repository("o/two", recorded=True)
    for number in range(130):
        # Several within the same moment, over two repositories.
        decided.pull(
            one if number % 2 else two,
            number + 1,
            title=f"Number {number + 1}.",
            at=NOON - timedelta(minutes=number // 7),
        )
    seen: list[str] = []
    address, pages = "/", 0
    while address:
        page = server.http.get(address).text
        seen += [part.partition("<")[0] for part in page.split("<bdi>Number ")[1:]]
        address = page.partition('<a href="')[2] and _older(page)
        pages += 1
    assert pages == 3
    assert sorted(int(n.rstrip(".")) for n in seen) == list(range(1, 131))


def _older(page: str) -> str:
    import html

    before, found, _ = page.partition('" rel="next">Older</a>')
    return html.unescape(before.rpartition('<a href="')[2]) if found else ""


def test_filters_by_state_and_repository(server: Server, decided: Decided):
    one = decided.repository("o/one", recorded=True)
    two = decided.repository("o/two", recorded=True)
    decided.pull(one, 1, title="Clear one")
    decided.pull(two, 2, title="Clear two")
    decided.pull(two, 3, title="Flagged two", flood=6)
    assert "Flagged two" in server.http.get("/").text
    flagged = server.http.get("/?state=flagged").text
    assert "Flagged two" in flagged
    assert "Clear" not in flagged
    only = server.http.get("/?repository=O/ONE").text
    assert "Clear one" in only
    assert "two" not in only
    nothing = server.http.get("/?repository=o/one&state=flagged").text
    assert "No decision fits these filters" in nothing
    assert server.http.get("/?state=nonsense").status_code == 400
    assert server.http.get("/?before=nonsense").status_code == 400
    assert server.http.get("/?repository=o/none").status_code == 404


def test_a_pull_request_whole(server: Server, decided: Decided):
    repository = decided.repository("northlight/lumen", recorded=True)
    decided.pull(repository, 7, title="Seven", flood=43, ref="$(reboot)")
    page = server.http.get("/pull/northlight/lumen/7").text
    for said in ("Seven", "$(reboot)", "burst", "One account opened 44", "only recorded",
                 "needs-verification", "/pulse reopen", SCORER.model, "observe"):  # fmt: skip
        assert said in page, said
    assert "not asked</strong>: Its author is asked nothing." in page
    with decided.database.begin() as tx:
        row = cases.get(tx, repository.id, 7)
        assert row is not None
        probe = Probe(kind="added", sentence=say("Why **{name}**?", name="<b>"), names=("<b>",))
        asked = Notice(kind="ask_comment", body="", probe=probe)
        challenges.asked(tx, row.case.id, asked, Receipt(id=1, at=NOON), NOON, NOON)
        later = NOON + timedelta(minutes=7)
        challenges.said(tx, row.case.id, by_author=True, at=later, body="<b> since")
    page = server.http.get("/pull/northlight/lumen/7").text
    for said in ("asked</strong>", "Why &lt;b&gt;?", "answered within 7 minutes"):
        assert said in page, said
    assert server.http.get("/pull/northlight/lumen/8").status_code == 404
    assert server.http.get("/pull/northlight/none/7").status_code == 404
    assert server.http.get("/pull/northlight/lumen/0").status_code == 400
    assert server.http.get("/pull/northlight/lumen/x").status_code == 400


HOSTILE = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "{{ 7 * 7 }}{% raw %}",
    "</title><img src=x onerror=alert(1)>",
    "safe\u202eexe.gpj\u202c",
    "zero\x00byte\x1b[31m",
    "&lt;b&gt;",
]


@pytest.mark.parametrize("title", HOSTILE)
def test_hostile_titles_are_text(server: Server, decided: Decided, title: str):
    repository = decided.repository("o/r", recorded=True)
    author = Account(id=66, login=title)
    decided.pull(repository, 1, title=title, author=author, ref=title)
    for address in ("/", "/pull/o/r/1", "/?author=66"):
        page = server.http.get(address).text
        assert "<script" not in page
        assert "<img src=x" not in page
        assert '" onmouseover' not in page
        assert "\u202e" not in page
        assert "\x00" not in page
        assert "\x1b" not in page
        assert "&amp;lt;" in page or "&lt;" not in title
    if title.startswith("{{"):
        assert "{{ 7 * 7 }}" in page
    assert one_line(title)


def test_demo_data_needs_a_browser_on_this_machine(server: Server, decided: Decided):
    repository = decided.repository("northlight/lumen", recorded=True)
    decided.pull(repository, 7, title="Seven of the recording")
    shown = ["/", "/?repository=northlight/lumen", "/pull/northlight/lumen/7"]
    for address in shown:
        assert "Seven of the recording" in server.http.get(address).text
    for headers in (
        SPOOFED,
        REMOTE,
        {"host": "localhost.attacker.example"},
        {"host": "127.0.0.1.nip.io"},
    ):
        for address in shown:
            answer = server.http.get(address, headers=headers)
            assert "Seven of the recording" not in answer.text, (address, headers)
            assert "northlight" not in answer.text
    for name in ("x-forwarded-for", "forwarded", "x-real-ip", "x-forwarded-proto", "via"):
        answer = server.http.get("/", headers={name: "198.51.100.7"})
        assert "northlight" not in answer.text, "what a proxy passes on is not from here"
    for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:8"):
        assert "Seven of the recording" in server.http.get("/", headers={"host": host}).text


def test_real_data_is_never_shown_without_sign_in(server: Server, decided: Decided):
    repository = decided.repository("acme/widgets")
    decided.pull(repository, 7, title="Seven is real")
    for address in ("/", "/?author=5007"):
        page = server.http.get(address)
        assert "Seven is real" not in page.text
        assert "acme" not in page.text
    assert server.http.get("/?repository=acme/widgets").status_code == 404
    assert server.http.get("/pull/acme/widgets/7").status_code == 404


def test_an_empty_service_says_what_to_do_next(server: Server):
    page = server.http.get("/").text
    assert "/setup" in page
    assert "recorded day" in page
    away = server.http.get("/", headers=REMOTE).text
    assert "Sign in" in away


def test_error_pages_say_what_to_do_and_nothing_of_the_inside(server: Server, engine: Engine):
    missing = server.http.get("/nowhere")
    assert missing.status_code == 404
    assert "To the decisions" in missing.text
    with engine.begin() as connection:
        connection.execute(text("alter table cases rename to cases_away"))
    try:
        broken = server.http.get("/")
        assert broken.status_code == 500
        assert "Something went wrong on this server" in broken.text
        for inside in ("cases", "SELECT", "psycopg", "Traceback"):
            assert inside not in broken.text
        assert broken.headers["content-security-policy"]
    finally:
        with engine.begin() as connection:
            connection.execute(text("alter table cases_away rename to cases"))
    assert server.http.get("/").status_code == 200


@pytest.mark.parametrize(
    "address", ["/?repository=a%00/b", "/?repository=a/b%00", "/pull/a%00/b/1", "/pull/a/%00/1"]
)
def test_a_name_that_no_database_can_store_is_no_repository(server: Server, address: str):
    assert server.http.get(address).status_code == 404


def test_database_down_is_a_page_that_says_so(serve):
    server = serve(database_url="postgresql://127.0.0.1:1/none")
    answer = server.http.get("/")
    assert answer.status_code == 503
    assert "Try again" in answer.text
    assert server.http.get("/static/style.css").status_code == 200


def test_a_recording_of_the_same_name_hides_nothing(server: Server, decided: Decided):
    recorded = decided.repository("acme/widgets", recorded=True)
    decided.pull(recorded, 7, title="Seven of the recording")
    live = decided.repository("acme/widgets")
    decided.pull(live, 7, title="Seven is real")
    page = server.http.get("/pull/acme/widgets/7")
    assert "Seven of the recording" in page.text
    assert "Seven is real" not in page.text


@pytest.mark.parametrize("address", ["/healthz", "/readyz"])
def test_a_check_may_ask_for_the_head_alone(server: Server, address: str):
    answer = server.http.head(address)
    assert (answer.status_code, answer.text) == (200, "")


def test_a_slash_too_many_leads_nowhere_else(server: Server):
    assert server.http.get("/login/", follow_redirects=False).status_code == 404
