"""The manifest, and trading its code for an App."""

import pytest

from app.adapters.github.setup import EVENT_NEEDS, convert, events, form_target, manifest
from app.core.errors import RetryLater, UserError
from tests.adapters.github.scripted import Reply, Scripted

BASE = "https://gate.example"


def built(**more: object) -> dict[str, object]:
    given = {
        "name": "Pulsegate",
        "url": BASE,
        "hook_url": f"{BASE}/webhooks/github",
        "redirect_url": f"{BASE}/setup/done",
        "callback_url": f"{BASE}/login/done",
        "setup_url": f"{BASE}/installed",
        **more,
    }
    return manifest(**given)  # type: ignore[arg-type]


def test_the_least_permissions_and_their_events() -> None:
    made = built()
    assert made["public"] is False
    assert made["default_permissions"] == {
        "pull_requests": "write",
        "issues": "write",
        "checks": "write",
        "contents": "read",
        "metadata": "read",
        "members": "read",
    }
    assert made["default_events"] == [
        "push",
        "issues",
        "issue_comment",
        "member",
        "pull_request",
        "pull_request_review",
        "pull_request_review_comment",
        "repository",
        "check_run",
    ]


def test_more_permissions_bring_more_events() -> None:
    more = {"actions": "write", "merge_queues": "read"}
    made = built(more=more)["default_events"]
    assert {"workflow_run", "workflow_job", "merge_group"} <= set(made)  # type: ignore[arg-type]
    assert events({}) == []
    assert set(EVENT_NEEDS) >= set(made)  # type: ignore[arg-type]


def test_a_name_fits() -> None:
    assert len(str(built(name="x" * 60)["name"])) == 34


def test_github_must_reach_us() -> None:
    local = "http://127.0.0.1:8000/webhooks/github"
    with pytest.raises(UserError, match="cannot deliver") as caught:
        built(hook_url=local)
    assert "PUBLIC_URL" in caught.value.hint
    assert built(hook_url=local, web_url="http://127.0.0.1:4000")


def test_where_the_form_goes() -> None:
    assert form_target("https://github.com/", "s&1") == (
        "https://github.com/settings/apps/new?state=s%261"
    )
    assert form_target("https://ghe.example", "s", "a/b") == (
        "https://ghe.example/organizations/a%2Fb/settings/apps/new?state=s"
    )


NEW = {
    "id": 99,
    "slug": "pulsegate-acme",
    "client_id": "Iv1",
    "client_secret": "client-secret",
    "webhook_secret": "hook-secret",
    "pem": "-----BEGIN",
    "html_url": "https://github.com/apps/pulsegate-acme",
    "owner": {"id": 1, "login": "acme", "type": "Organization"},
}


def test_a_code_becomes_an_app(scripted: Scripted) -> None:
    scripted.on("POST", "^/api/v3/app-manifests/a%2Fb/conversions$", Reply(201, NEW))
    app = convert(scripted.url + "/api/v3", "a/b")
    assert app.credentials.app_id == 99
    assert app.credentials.bot_login == "pulsegate-acme[bot]"
    assert (app.webhook_secret, app.owner) == ("hook-secret", "acme")
    assert "secret" not in repr(app).replace("webhook_secret", "")
    assert "authorization" not in scripted.seen[0].headers


def test_a_code_that_was_used(scripted: Scripted) -> None:
    with pytest.raises(UserError, match="does not take this code") as caught:
        convert(scripted.url, "old")
    assert "/setup" in caught.value.hint


def test_a_conversion_without_an_answer(scripted: Scripted) -> None:
    scripted.on("POST", "conversions$", Reply(act="drop"), Reply(201, {**NEW, "pem": None}))
    for _ in range(2):
        with pytest.raises(RetryLater) as caught:
            convert(scripted.url, "code")
        assert caught.value.maybe_done
