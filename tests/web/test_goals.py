"""The page of a repository's goals, budgets and audit log."""

from app.core import audit as entries
from app.db import audit, usage
from tests.web.deciding import Decided
from tests.web.serving import Server


def test_a_repository_s_goals_and_budgets(server: Server, decided: Decided) -> None:
    where = decided.repository("acme/widgets", recorded=True)
    decided.flood(where, 6)
    with server.parts.base.database.begin() as tx:
        usage.add(tx, where.id, "github_requests", "known", 1234, server.parts.clock())
    listed = server.http.get("/?repository=acme/widgets").text
    assert "/goals/acme/widgets" in listed
    page = server.http.get("/goals/acme/widgets").text
    assert "95.0% within 5 minutes asked for, over 28 days" in page
    assert "1,234 of 20,000" in page
    assert "0, no limit" in page


def test_they_are_for_who_may_see_the_repository(server: Server, decided: Decided) -> None:
    decided.repository("acme/widgets", recorded=True)
    away = {"x-forwarded-for": "203.0.113.9"}
    assert server.http.get("/goals/acme/widgets", headers=away).status_code == 404
    path = "/audit.jsonl?repository=acme/widgets"
    assert server.http.get(path, headers=away).status_code == 404


def test_the_audit_log_is_streamed_as_json_lines(server: Server, decided: Decided) -> None:
    where = decided.repository("acme/widgets", recorded=True)
    made = decided.pull(where, 7)
    with server.parts.base.database.begin() as tx:
        place = entries.Place(
            installation_id=where.installation_id, repository_id=where.id, number=7
        )
        audit.note(tx, place, entries.decided(made))
    answer = server.http.get("/audit.jsonl?repository=acme/widgets")
    assert answer.headers["content-type"] == "application/x-ndjson"
    (line,) = answer.text.splitlines()
    assert '"act": "decision"' in line
    assert "person-7" not in line
