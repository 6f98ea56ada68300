"""Each fault does what it says."""

import time

import httpx
import pytest

from tests.fakes.github import GitHub
from tests.fakes.github.process import GitHubProcess
from tests.fakes.loopback import Listener, wait_until

REPO = "/repos/acme/widgets"
COMMENTS = f"{REPO}/issues/1/comments"


@pytest.fixture(autouse=True)
def pull(github: GitHub) -> None:
    github.world.open_pull(by="stranger")


@pytest.mark.parametrize("status", [500, 502, 503, 403, 429])
def test_a_status_is_answered_and_nothing_is_carried_out(
    github: GitHub, api: httpx.Client, status: int
) -> None:
    fault = github.fault("status", status=status, method="POST", path="/comments$")
    assert api.post(COMMENTS, json={"body": "a"}).status_code == status
    assert github.world.pull(1).comments == []
    assert api.post(COMMENTS, json={"body": "a"}).status_code == 201
    assert fault.hits == 1


def test_the_nth_request_fails_or_all_do(github: GitHub, api: httpx.Client) -> None:
    github.fault("status", status=500, path=r"/pulls/1$", skip=2, times=2)
    assert [api.get(f"{REPO}/pulls/1").status_code for _ in range(6)] == [200] * 2 + [500] * 2 + [
        200
    ] * 2
    always = github.fault("status", status=502, path=r"/pulls/1$", times=None)
    assert [api.get(f"{REPO}/pulls/1").status_code for _ in range(4)] == [502] * 4
    assert always.hits == 4
    github.faults.clear()
    assert api.get(f"{REPO}/pulls/1").status_code == 200


def test_limits_look_like_githubs(github: GitHub, api: httpx.Client) -> None:
    github.fault("primary_limit", seconds=90)
    primary = api.get(REPO)
    assert (primary.status_code, primary.headers["x-ratelimit-remaining"]) == (403, "0")
    assert 80 < int(primary.headers["x-ratelimit-reset"]) - time.time() < 100
    assert "rate limit" in primary.json()["message"]
    github.fault("secondary_limit", seconds=30, status=429)
    secondary = api.get(REPO)
    assert (secondary.status_code, secondary.headers["retry-after"]) == (429, "30")
    assert secondary.headers["x-ratelimit-remaining"] != "0"


def test_a_connection_is_dropped_before_the_write(github: GitHub, api: httpx.Client) -> None:
    github.fault("drop_before", method="POST")
    with pytest.raises(httpx.RemoteProtocolError):
        api.post(COMMENTS, json={"body": "a"})
    assert github.world.pull(1).comments == []
    assert github.requests[-1].status is None


def test_a_write_is_carried_out_although_the_answer_is_dropped(
    github: GitHub, api: httpx.Client
) -> None:
    github.fault("drop_after", method="POST")
    with pytest.raises(httpx.RemoteProtocolError):
        api.post(COMMENTS, json={"body": "a"})
    assert [c.body for c in github.world.pull(1).comments] == ["a"]
    github.fault("status_after", status=502, method="PATCH")
    assert api.patch(f"{REPO}/pulls/1", json={"state": "closed"}).status_code == 502
    assert github.world.pull(1).state == "closed"


def test_an_answer_comes_late_but_the_write_is_carried_out(
    github: GitHub, api: httpx.Client
) -> None:
    github.fault("delay", seconds=0.4, method="POST")
    with pytest.raises(httpx.ReadTimeout):
        api.post(COMMENTS, json={"body": "a"}, timeout=0.1)
    wait_until(lambda: github.world.pull(1).comments)


def test_the_log_has_everything(github: GitHub, api: httpx.Client) -> None:
    api.post(COMMENTS, json={"body": "a"})
    api.get(f"{REPO}/pulls?state=open")
    lines = [(r.method, r.path, r.query, r.body, r.status) for r in github.requests]
    assert lines == [
        ("POST", COMMENTS, "", {"body": "a"}, 201),
        ("GET", f"{REPO}/pulls", "state=open", None, 200),
    ]


def test_as_a_process_of_its_own(listener: Listener) -> None:
    with GitHubProcess(webhook_url=listener.url, prefix="/api/v3") as github:
        made = github.do("open_pull", by="stranger", title="From outside")
        listener.wait_for(lambda r: r.headers["x-github-event"] == "pull_request")
        delivery = github.state()["deliveries"][0]
        github.do("deliver", id=delivery["id"])
        first, second = listener.received
        assert first == second
        github.set_faults({"kind": "status", "status": 503, "path": "/pulls"})
        url = f"{github.api_url}{REPO}/pulls/{made['number']}"
        answers = [httpx.get(url, trust_env=False) for _ in range(2)]
        assert [a.status_code for a in answers] == [503, 200]
        assert answers[1].json()["url"] == url
        github.do("suspend", installation=github.state()["installations"][0]["id"], by="olivia")
        state = github.state()
        assert state["installations"][0]["suspended_at"]
        [pull] = state["repositories"]["acme/widgets"]["pulls"]
        assert (pull["title"], state["faults"][0]["hits"]) == ("From outside", 1)
        assert state["violations"] == []
