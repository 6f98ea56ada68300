"""The App in its own name."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.adapters.github.app_api import GitHubAppApi, Identity
from app.core.errors import Rejected, RetryLater
from tests.adapters.github.scripted import Reply, Scripted

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def delivery(id: int, hours: float, status: int) -> dict[str, Any]:
    at = (AT - timedelta(hours=hours)).isoformat()
    return {"id": id, "guid": f"g{id}", "delivered_at": at, "status_code": status, "status": "x"}


def test_deliveries_by_cursor_down_to_a_time(scripted: Scripted, app_api: GitHubAppApi) -> None:
    link = {"link": '</app/hook/deliveries?per_page=100&cursor=v1_17>; rel="next"'}
    newest = [delivery(2**60, 0, 202), delivery(18, 1, 500)]
    older = [delivery(17, 2, 0), delivery(16, 2.5, 299), delivery(15, 9, 200)]
    scripted.on(
        "GET", "^/app/hook/deliveries$", Reply(json=newest, headers=link), Reply(json=older)
    )
    found = list(app_api.deliveries(AT - timedelta(hours=3)))
    assert [(d.id, d.ok) for d in found] == [
        (2**60, True),
        (18, False),
        (17, False),
        (16, True),
    ]
    assert scripted.seen[-1].query == {"per_page": "100", "cursor": "v1_17"}


@pytest.mark.parametrize(
    "change", [{"delivered_at": "2026-03-01T00:00:00"}, {"id": "x"}, {"status_code": None}]
)
def test_a_delivery_that_cannot_be_read(
    scripted: Scripted, app_api: GitHubAppApi, change: Any
) -> None:
    scripted.on("GET", "deliveries$", Reply(json=[{**delivery(1, 0, 200), **change}]))
    with pytest.raises(RetryLater, match="cannot read"):
        list(app_api.deliveries(AT))


def test_redelivery(scripted: Scripted, app_api: GitHubAppApi) -> None:
    scripted.on("POST", "^/app/hook/deliveries/17/attempts$", Reply(202, {}))
    app_api.redeliver(17)
    scripted.on("POST", "/attempts$", Reply(act="drop"))
    with pytest.raises(RetryLater) as caught:
        app_api.redeliver(17)
    assert caught.value.maybe_done


def test_an_installation_and_what_it_reaches(scripted: Scripted, app_api: GitHubAppApi) -> None:
    found = {"id": 2, "account": None, "suspended_at": None}
    scripted.on("GET", "^/app/installations/2$", Reply(json=found))
    assert app_api.installation(2).account is None
    repositories = {"total_count": 1, "repositories": [{"id": 9, "full_name": "acme/widgets"}]}
    scripted.on("GET", "^/installation/repositories$", Reply(json=repositories))
    assert [r.full_name for r in app_api.repositories(2)] == ["acme/widgets"]
    assert scripted.seen[-1].headers["authorization"] == "Bearer ghs_1"


def test_an_installation_that_was_deleted(scripted: Scripted, app_api: GitHubAppApi) -> None:
    with pytest.raises(Rejected) as caught:
        app_api.installation(3)
    assert caught.value.status == 404


def test_who_we_are(scripted: Scripted, app_api: GitHubAppApi) -> None:
    scripted.on("GET", "^/app$", Reply(json={"id": 4242, "slug": "pulsegate"}))
    assert app_api.identity() == Identity(4242, "pulsegate")


def test_forgetting_drops_the_token(scripted: Scripted, app_api: GitHubAppApi) -> None:
    scripted.on("GET", "repositories$", Reply(json={"repositories": []}))
    list(app_api.repositories(2))
    app_api.forget(2)
    list(app_api.repositories(2))
    assert scripted.tokens == 2
