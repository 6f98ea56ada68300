"""What GitHub may answer to a read, and what becomes of it."""

import base64
from typing import Any

import pytest

from app.adapters.github.reader import GitHubReader
from app.core.errors import Rejected, RetryLater
from app.core.facts import RepositoryRef, Role
from app.core.github import Account
from tests.adapters.github.scripted import Reply, Scripted

ANNA = Account(id=11, login="anna")
SHA = "a" * 40
PULL = {
    "id": 1,
    "number": 5,
    "state": "open",
    "title": "T\u202e",
    "body": None,
    "user": None,
    "created_at": "2026-03-01T00:00:00.123Z",
    "updated_at": "2026-03-01T00:00:00Z",
    "head": {"ref": "$(reboot)", "sha": SHA, "repo": None},
    "base": {"ref": "main", "sha": SHA, "repo": {"id": 1}},
}


def permission(word: str, *, id: int = 11, role: str = "", **held: bool) -> dict[str, Any]:
    user = {"id": id, "login": "anna", **({"permissions": held} if held else {})}
    return {"permission": word, "role_name": role or word, "user": user}


ROLES = {
    "admin": (permission("admin", admin=True, push=True, pull=True), Role.ADMIN),
    "maintain": (permission("write", role="maintain", maintain=True, push=True), Role.MAINTAIN),
    "write": (permission("write", push=True, triage=True, pull=True), Role.WRITE),
    "triage": (permission("read", role="triage", triage=True, pull=True), Role.TRIAGE),
    "read": (permission("read", pull=True), Role.READ),
    "nothing held": (permission("none", pull=False), Role.NONE),
    "custom role": (permission("read", role="reviewers", triage=True, pull=True), Role.TRIAGE),
    "no flags, known role": (permission("read", role="triage"), Role.TRIAGE),
    "no flags, custom role": (permission("write", role="reviewers"), Role.WRITE),
    "recycled login": (permission("admin", id=12, admin=True), Role.NONE),
    "nobody": ({"permission": "none", "user": None}, Role.NONE),
}


@pytest.mark.parametrize("case", ROLES)
def test_roles(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef, case: str
) -> None:
    answer, role = ROLES[case]
    scripted.on("GET", "/repos/acme/widgets/collaborators/anna/permission$", Reply(json=answer))
    assert reader.role(repository, ANNA) is role


@pytest.mark.parametrize(
    "answer",
    [
        [],
        None,
        {"permission": "owner"},
        {"permission": "admin", "user": None},
        {"permission": "admin", "user": {"login": "anna"}},
        {"permission": "admin", "user": {"id": 11, "permissions": {"admin": "maybe"}}},
    ],
)
def test_a_permission_that_cannot_be_read_is_no_verdict(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef, answer: Any
) -> None:
    scripted.on("GET", "/permission$", Reply(json=answer))
    with pytest.raises(RetryLater, match="cannot read"):
        reader.role(repository, ANNA)


def test_an_account_that_is_gone(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    gone = Reply(404, {"message": "anna is not a user"})
    scripted.on("GET", "/permission$", gone)
    assert reader.role(repository, ANNA) is Role.NONE


def test_a_repository_that_is_gone_says_nothing_of_the_account(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    with pytest.raises(Rejected) as caught:
        reader.role(repository, ANNA)
    assert caught.value.status == 404
    scripted.on("GET", "/repos/acme/widgets$", Reply(json={"id": 1}))
    assert reader.role(repository, ANNA) is Role.NONE


def test_apps_cost_no_request(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    assert reader.role(repository, Account(id=1, login="x[bot]", type="Bot")) is Role.NONE
    assert reader.role(repository, Account(id=1, login="x[bot]")) is Role.NONE
    assert not scripted.seen


def test_a_hostile_login_stays_in_its_place(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    scripted.on("GET", "/repos/acme/widgets$", Reply(json={"id": 1}))
    reader.role(repository, Account(id=1, login="../../../orgs/acme?x=#"))
    (asked,) = scripted.asked("GET", "collaborators")
    assert asked.path.count("/") == 6
    assert asked.query == {}
    with pytest.raises(Rejected):
        reader.role(repository, Account(id=1, login=".."))


def test_a_pull_request_with_much_missing(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    scripted.on("GET", "/repos/acme/widgets/pulls/5$", Reply(json=PULL))
    pull = reader.pull(repository, 5)
    assert (pull.user, pull.body, pull.title, pull.head.repo) == (None, "", "T", None)


@pytest.mark.parametrize("change", [{"state": "ajar"}, {"number": None}, {"created_at": "soon"}])
def test_a_pull_request_that_does_not_fit(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef, change: Any
) -> None:
    scripted.on("GET", "/pulls/5$", Reply(json={**PULL, **change}))
    scripted.on("GET", "/pulls$", Reply(json=[{**PULL, **change}]))
    with pytest.raises(RetryLater, match="cannot read"):
        reader.pull(repository, 5)
    with pytest.raises(RetryLater, match="cannot read"):
        list(reader.open_pulls(repository))


def test_open_pull_requests_come_lazily_and_once(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    link = {"link": '</repositories/1/pulls?page=2>; rel="next"'}
    first = [{**PULL, "number": n} for n in (5, 4)]
    second = [{**PULL, "number": n} for n in (4, 3)]
    scripted.on("GET", "/pulls$", Reply(json=first, headers=link), Reply(json=second))
    pulls = reader.open_pulls(repository)
    assert next(pulls).number == 5
    assert len(scripted.asked("GET", "/pulls$")) == 1
    assert [p.number for p in pulls] == [4, 3]
    asked = scripted.asked("GET", "/pulls$")[0].query
    assert asked == {"state": "open", "sort": "updated", "direction": "desc", "per_page": "100"}


def file(raw: bytes, **more: Any) -> dict[str, Any]:
    text = base64.encodebytes(raw).decode()
    size = len(raw)
    return {"type": "file", "sha": SHA, "size": size, "encoding": "base64", "content": text, **more}


def test_the_configuration(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    assert reader.policy_file(repository) is None
    # 404 says also that a repository is hidden from us, which says nothing about the file.
    with pytest.raises(Rejected):
        reader.require(repository)
    scripted.on("GET", "/repos/acme/widgets$", Reply(json={"id": 1}))
    reader.require(repository)
    where = "/repos/acme/widgets/contents/.github/pulsegate.yml$"
    scripted.on("GET", where, Reply(json=file("\ufeffversion: 1 # ü\n".encode() * 10)))
    found = reader.policy_file(repository)
    assert found is not None
    assert found.sha == SHA
    assert found.text.startswith("version: 1 # ü\n")
    assert scripted.seen[-1].query == {}


REFUSED = {
    "a directory": ([file(b"")], "is a directory"),
    "a symlink": (file(b"", type="symlink"), "is a symlink"),
    "a submodule": (file(b"", type="submodule"), "is a submodule"),
    "too large": (file(b"", size=100_001, encoding="none"), "is larger than"),
    "larger than it says": (file(b"x" * 100_001, size=5), "is larger than"),
    "not UTF-8": (file(b"\xff\xfe"), "is not UTF-8"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_configuration_that_is_refused(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef, case: str
) -> None:
    answer, why = REFUSED[case]
    scripted.on("GET", "/contents/", Reply(json=answer))
    with pytest.raises(Rejected, match=why) as caught:
        reader.policy_file(repository)
    assert caught.value.status == 422


@pytest.mark.parametrize(
    "answer", [{}, file(b"", sha="../x"), file(b"x", content="!"), file(b"x", encoding="rot13")]
)
def test_a_configuration_that_cannot_be_read(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef, answer: Any
) -> None:
    scripted.on("GET", "/contents/", Reply(json=answer))
    with pytest.raises(RetryLater, match="cannot read"):
        reader.policy_file(repository)


def test_the_diff_with_and_without_hunks(
    scripted: Scripted, reader: GitHubReader, repository: RepositoryRef
) -> None:
    files = [
        {"filename": "a.py", "status": "modified", "patch": "@@ -1 +1 @@\n-x\x00\n+y", "sha": SHA},
        {"filename": "logo.png", "status": "added", "patch": None},
    ]
    scripted.on("GET", "/repos/acme/widgets/pulls/5/files$", Reply(json=files))
    code, image = reader.patches(repository, 5)
    assert (code.path, code.status, code.text) == ("a.py", "modified", "@@ -1 +1 @@\n-x\n+y")
    assert (image.path, image.text) == ("logo.png", "")
    assert scripted.asked("GET", "files$")[0].query["per_page"] == "100"
