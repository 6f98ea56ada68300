"""The stand-in through plain HTTP: GitHub's semantics."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.fakes.github import GitHub
from tests.fakes.github.world import key_pair

REPO = "/repos/acme/widgets"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_only_the_apps_own_key_opens_its_door(github: GitHub, anonymous: httpx.Client) -> None:
    good = [github.app_jwt(), github.app_jwt(issuer=github.world.app.client_id)]
    assert [anonymous.get("/app", headers=bearer(t)).status_code for t in good] == [200, 200]
    other = github.app_jwt(key=key_pair(7)[0])
    long = github.app_jwt(seconds=3600)
    stranger = github.app_jwt(issuer="99")
    answers = [
        anonymous.get("/app", headers=bearer(t)).status_code for t in (other, long, stranger)
    ]
    assert answers == [401, 401, 404]
    assert anonymous.get("/app").status_code == 401
    assert anonymous.get(REPO, headers=bearer(github.app_jwt())).status_code == 403


def test_an_installation_token_is_given_and_works(github: GitHub, anonymous: httpx.Client) -> None:
    path = f"/app/installations/{github.world.installation.id}/access_tokens"
    made = anonymous.post(path, headers=bearer(github.app_jwt()))
    assert made.status_code == 201
    own = bearer(made.json()["token"])
    assert anonymous.get("/installation/repositories", headers=own).status_code == 200


def test_an_installation_token_dies_with_the_installation(
    github: GitHub, api: httpx.Client
) -> None:
    world = github.world
    assert api.get("/installation/repositories").json()["total_count"] == 1
    world.suspend(world.installation, by="olivia")
    assert api.get(REPO).status_code == 403
    world.unsuspend(world.installation, by="olivia")
    assert api.get(REPO).status_code == 200
    world.uninstall(world.installation, by="olivia")
    assert api.get(REPO).status_code == 401
    path = f"/app/installations/{world.installation.id}"
    assert api.get(path, headers=bearer(github.app_jwt())).status_code == 404


def test_a_token_expires(github: GitHub, api: httpx.Client) -> None:
    github.world.clock = lambda: datetime.now(UTC) + timedelta(minutes=61)
    assert api.get(REPO).status_code == 401


@pytest.mark.parametrize(
    ("login", "permission", "role"),
    [
        ("olivia", "admin", "admin"),
        ("mark", "write", "maintain"),
        ("wendy", "write", "write"),
        ("tom", "read", "triage"),
        ("stranger", "read", "read"),
        ("sam", "write", "keeper"),
    ],
)
def test_permission_in_githubs_two_vocabularies(
    github: GitHub, api: httpx.Client, login: str, permission: str, role: str
) -> None:
    github.world.add_user("sam")
    github.world.repository().custom_roles["keeper"] = "write"
    github.world.set_role("sam", "keeper")
    answer = api.get(f"{REPO}/collaborators/{login}/permission").json()
    assert (answer["permission"], answer["role_name"]) == (permission, role)
    assert answer["user"]["id"] == github.world.user(login).id


def test_accounts_come_go_and_are_renamed(github: GitHub, api: httpx.Client) -> None:
    world = github.world
    number = world.open_pull(by="stranger").number
    world.rename_user("stranger", "newname")
    assert api.get(f"{REPO}/collaborators/stranger/permission").status_code == 404
    assert api.get(f"{REPO}/pulls/{number}").json()["user"]["login"] == "newname"
    world.delete_user("newname")
    assert api.get(f"{REPO}/pulls/{number}").json()["user"] is None
    assert api.get("/users/newname").status_code == 404
    world.users["newname"].deleted = "ghost"
    assert api.get(f"{REPO}/pulls/{number}").json()["user"]["id"] == 10137


def test_the_life_of_a_pull_request(github: GitHub, api: httpx.Client) -> None:
    world = github.world
    pull = world.open_pull(by="stranger", title="First", body=None)
    path = f"{REPO}/pulls/{pull.number}"
    first = api.get(path).json()
    assert (first["state"], first["body"], first["merged"]) == ("open", None, False)
    assert first["head"]["repo"]["full_name"] == "stranger/widgets"
    world.clock = lambda: datetime.now(UTC) + timedelta(seconds=5)
    closed = api.patch(path, json={"state": "closed"}).json()
    assert closed["closed_at"] > first["created_at"]
    assert closed["updated_at"] > first["updated_at"]
    assert api.patch(path, json={"state": "open"}).json()["closed_at"] is None
    world.merge_pull(pull.number, by="wendy")
    assert api.get(path).json()["merged_by"]["login"] == "wendy"
    assert api.patch(path, json={"state": "open"}).status_code == 422
    other = world.open_pull(by="stranger").number
    world.close_pull(other, by="wendy")
    world.delete_repository("stranger/widgets")
    assert api.get(f"{REPO}/pulls/{other}").json()["head"]["repo"] is None
    assert api.patch(f"{REPO}/pulls/{other}", json={"state": "open"}).status_code == 422
    assert api.get(f"{REPO}/pulls/99").status_code == 404


def test_lists_come_in_pages(github: GitHub, api: httpx.Client) -> None:
    for _ in range(5):
        github.world.open_pull(by="stranger")
    github.world.edit_pull(2, by="stranger", title="Changed")
    query = {"per_page": "2", "sort": "updated", "direction": "desc", "state": "open"}
    seen, url = [], str(httpx.URL(f"{REPO}/pulls", params=query))
    while url:
        answer = api.get(url)
        seen += [p["number"] for p in answer.json()]
        url = answer.links.get("next", {}).get("url", "")
    assert seen == [2, 5, 4, 3, 1]


def test_unchanged_reads_are_304_and_changed_ones_are_not(
    github: GitHub, api: httpx.Client
) -> None:
    number = github.world.open_pull(by="stranger").number
    first = api.get(f"{REPO}/pulls/{number}")
    tag = {"If-None-Match": first.headers["etag"]}
    left = int(first.headers["x-ratelimit-remaining"])
    second = api.get(f"{REPO}/pulls/{number}", headers=tag)
    assert (second.status_code, second.content) == (304, b"")
    assert int(second.headers["x-ratelimit-remaining"]) == left
    github.world.edit_pull(number, by="stranger", title="Changed")
    assert api.get(f"{REPO}/pulls/{number}", headers=tag).status_code == 200


def test_labels(github: GitHub, api: httpx.Client) -> None:
    number = github.world.open_pull(by="stranger").number
    made = api.post(f"{REPO}/labels", json={"name": "needs-verification", "color": "fbca04"})
    assert made.status_code == 201
    again = api.post(f"{REPO}/labels", json={"name": "Needs-Verification", "color": "fbca04"})
    assert again.status_code == 422
    assert again.json()["errors"][0]["code"] == "already_exists"
    path = f"{REPO}/issues/{number}/labels"
    names = [
        x["name"] for x in api.post(path, json={"labels": ["needs-verification", "a/b"]}).json()
    ]
    assert names == ["needs-verification", "a/b"]
    assert [x["name"] for x in api.delete(f"{path}/a%2Fb").json()] == ["needs-verification"]
    assert api.delete(f"{path}/a%2Fb").status_code == 404


def test_comments(github: GitHub, api: httpx.Client) -> None:
    number = github.world.open_pull(by="stranger").number
    path = f"{REPO}/issues/{number}/comments"
    made = api.post(path, json={"body": "Hello"}).json()
    assert made["user"]["login"] == "pulsegate[bot]"
    assert made["performed_via_github_app"]["id"] == github.world.app.id
    github.world.comment(number, "Hi", by="stranger")
    listed = api.get(path).json()
    assert [c["body"] for c in listed] == ["Hello", "Hi"]
    assert listed[1]["performed_via_github_app"] is None
    one = f"{REPO}/issues/comments/{made['id']}"
    assert api.patch(one, json={"body": "Hello again"}).json()["body"] == "Hello again"
    assert api.get(one).json()["id"] == made["id"]
    github.world.lock_pull(number, by="tom")
    refused = api.post(path, json={"body": "Hello"})
    assert (refused.status_code, len(api.get(path).json())) == (403, 2)
    assert "locked" in refused.json()["message"]


def test_check_runs(github: GitHub, api: httpx.Client) -> None:
    sha = github.world.open_pull(by="stranger").head_sha
    asked = {"name": "pulsegate", "head_sha": sha, "status": "completed", "conclusion": "neutral"}
    button = {"label": "Try again", "description": "Decide anew", "identifier": "again"}
    made = api.post(f"{REPO}/check-runs", json={**asked, "actions": [button]}).json()
    assert made["app"]["id"] == github.world.app.id
    changed = api.patch(f"{REPO}/check-runs/{made['id']}", json={"conclusion": "success"}).json()
    assert changed["conclusion"] == "success"
    listed = api.get(f"{REPO}/commits/{sha}/check-runs?check_name=pulsegate").json()
    assert [r["id"] for r in listed["check_runs"]] == [made["id"]]
    unknown = api.post(f"{REPO}/check-runs", json={**asked, "head_sha": "0" * 40})
    assert unknown.status_code == 422
    github.world.press(made["id"], "again", by="wendy")
    assert github.world.hooks.deliveries[-1].payload["requested_action"] == {"identifier": "again"}


def test_without_the_permission_a_write_is_refused(github: GitHub, api: httpx.Client) -> None:
    number = github.world.open_pull(by="stranger").number
    github.world.installation.permissions["pull_requests"] = "read"
    answer = api.patch(f"{REPO}/pulls/{number}", json={"state": "closed"})
    assert answer.status_code == 403
    assert answer.json()["message"] == "Resource not accessible by integration"
    assert github.world.pull(number).state == "open"


def test_a_private_repository_is_not_there_for_others(
    github: GitHub, api: httpx.Client, anonymous: httpx.Client
) -> None:
    github.world.add_user("other")
    github.world.add_repository("other/secret", private=True)
    assert api.get("/repos/other/secret").status_code == 404


def test_an_old_name_redirects(github: GitHub, api: httpx.Client) -> None:
    number = github.world.open_pull(by="stranger").number
    github.world.rename_repository("gadgets", by="olivia")
    moved = api.get(f"{REPO}/pulls/{number}")
    assert moved.status_code == 301
    found = api.get(f"{REPO}/pulls/{number}", follow_redirects=True).json()
    assert found["base"]["repo"]["full_name"] == "acme/gadgets"


def test_a_file_of_the_default_branch(github: GitHub, api: httpx.Client) -> None:
    assert api.get(f"{REPO}/contents/.github/pulsegate.yml").status_code == 404
    github.world.push_files({".github/pulsegate.yml": "version: 1\n"}, by="wendy")
    raw = api.get(
        f"{REPO}/contents/.github/pulsegate.yml",
        headers={"Accept": "application/vnd.github.raw+json"},
    )
    assert raw.content == b"version: 1\n"
    assert api.get(f"{REPO}/contents/.github/pulsegate.yml").json()["size"] == 11
