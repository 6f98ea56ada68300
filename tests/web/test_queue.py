"""The queue's page: parts in order, further by key, each once, for those who may see it."""

import html
import re

from sqlalchemy import Engine, text

from app.core.facts import Role
from tests.web.deciding import Decided
from tests.web.serving import Server


def test_whom_to_look_at_first_stands_first(server: Server, decided: Decided) -> None:
    repository = decided.repository("o/one", recorded=True)
    decided.pull(repository, 1, title="Of a stranger")
    decided.pull(repository, 2, title="Of the team", role=Role.WRITE)
    decided.flood(repository, 3)
    page = server.http.get("/queue").text
    places = [page.index(words) for words in ("Of the team", "Of a stranger", "Improve file")]
    assert places == sorted(places)
    assert [part.partition("<")[0] for part in re.split(r'<h2 id="part-\d">', page)[1:]] == [
        "Somebody is there: proven, vouched for, or of the team",
        "Unknown",
        "A rule applies, or probably nobody answers",
    ]
    assert "/queue" in server.http.get("/").text


def test_it_goes_on_by_key_and_shows_each_once(server: Server, decided: Decided) -> None:
    one = decided.repository("o/one", recorded=True)
    two = decided.repository("o/two", recorded=True)
    for number in range(1, 121):
        decided.pull(one if number % 2 else two, number, title=f"Number {number}.")
    seen: list[str] = []
    address, pages = "/queue", 0
    while address:
        page = server.http.get(address).text
        seen += re.findall(r"<bdi>Number (\d+)\.", page)
        on = re.search(r'<a href="([^"]+)" rel="next">', page)
        address, pages = html.unescape(on[1]) if on else "", pages + 1
    assert pages == 3
    assert sorted(map(int, seen)) == list(range(1, 121))
    assert server.http.get("/queue?repository=o/one").text.count("<bdi>Number") == 50


def test_what_is_closed_waits_for_nobody(server: Server, decided: Decided, engine: Engine) -> None:
    repository = decided.repository("o/one", recorded=True)
    decided.pull(repository, 1, title="Closed meanwhile")
    with engine.begin() as connection:
        connection.execute(text("UPDATE cases SET pull_state = 'closed'"))
    page = server.http.get("/queue").text
    assert "Closed meanwhile" not in page
    assert "Nothing waits" in page


def test_addresses_that_nobody_gave_out(server: Server, decided: Decided) -> None:
    decided.repository("o/one", recorded=True)
    for after in ("x", "1~2", "9~0.0~1", "1~nan~x"):
        assert server.http.get(f"/queue?after={after}").status_code == 400
    assert server.http.get("/queue?repository=o/none").status_code == 404
