"""The adapter against the stateful stand-in, which GitHub's own OpenAPI description judges.

Where that description (an npm package) is not installed, the stand-in judges nothing.
"""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from app.adapters.github.app_api import GitHubAppApi
from app.adapters.github.client import AppCredentials, GitHub
from app.adapters.github.oauth import SignIn
from app.adapters.github.reader import GitHubReader
from app.adapters.github.setup import convert, form_target, manifest
from app.adapters.github.writer import GitHubWriter
from app.core.effects import (
    CheckButton,
    Close,
    Effect,
    Known,
    Notice,
    Receipt,
    Reopen,
    SetCheckRun,
    SetLabel,
    StatusComment,
)
from app.core.errors import Rejected, RetryLater
from app.core.facts import RepositoryRef, Role
from app.core.github import Account
from tests.adapters.github.conftest import writer_of
from tests.fakes.github import GitHub as StandIn

# A test of github.com and of an Enterprise Server.
both = pytest.mark.parametrize(
    "stand_in", ["", "/api/v3"], indirect=True, ids=["github.com", "enterprise"]
)


@pytest.fixture
def stand_in(request: pytest.FixtureRequest) -> Iterator[StandIn]:
    with StandIn(prefix=getattr(request, "param", "")) as running:
        yield running
        assert running.violations == []


@pytest.fixture
def github(stand_in: StandIn, connect: Callable[..., GitHub]) -> GitHub:
    app = stand_in.world.app
    credentials = AppCredentials(
        app.id, app.private_key_pem, app.client_id, app.client_secret, app.slug
    )
    return connect(stand_in.api_url, credentials=credentials)


@pytest.fixture
def repository(stand_in: StandIn) -> RepositoryRef:
    here = stand_in.world.repository()
    installation = stand_in.world.installation.id
    return RepositoryRef(id=here.id, installation_id=installation, owner="acme", name=here.name)


@pytest.fixture
def number(stand_in: StandIn) -> int:
    return stand_in.world.open_pull(by="stranger", title="Fix $(reboot)").number


def account(stand_in: StandIn, login: str) -> Account:
    user = stand_in.world.user(login)
    return Account(id=user.id, login=user.login, type=user.type)


def test_roles(stand_in: StandIn, reader: GitHubReader, repository: RepositoryRef) -> None:
    world = stand_in.world
    world.repository().custom_roles["reviewers"] = "triage"
    world.set_role("stranger", "reviewers")
    wanted = {
        "olivia": Role.ADMIN,
        "mark": Role.MAINTAIN,
        "wendy": Role.WRITE,
        "tom": Role.TRIAGE,
        "stranger": Role.TRIAGE,
        "renovate[bot]": Role.NONE,
    }
    for login, role in wanted.items():
        assert reader.role(repository, account(stand_in, login)) is role
    tom = account(stand_in, "tom")
    world.rename_user("tom", "thomas")
    assert reader.role(repository, tom) is Role.NONE
    world.add_user("tom")
    world.set_role("tom", "admin")
    assert reader.role(repository, tom) is Role.NONE


@both
def test_reads(
    stand_in: StandIn, reader: GitHubReader, repository: RepositoryRef, number: int
) -> None:
    assert reader.pull(repository, number).title == "Fix $(reboot)"
    assert reader.policy_file(repository) is None
    stand_in.world.push_files({".github/pulsegate.yml": "version: 1\n"}, by="olivia")
    found = reader.policy_file(repository)
    assert found is not None
    assert found.text == "version: 1\n"
    for _ in range(101):
        stand_in.world.open_pull(by="stranger")
    stand_in.world.edit_pull(3, by="stranger", title="Newest")
    pulls = list(reader.open_pulls(repository))
    assert len({p.number for p in pulls}) == len(pulls) == 102
    assert pulls[0].number == 3


def test_an_unchanged_read_costs_nothing(
    stand_in: StandIn, reader: GitHubReader, repository: RepositoryRef, number: int
) -> None:
    first = reader.pull(repository, number)
    assert reader.pull(repository, number) == first
    assert [r.status for r in stand_in.requests if "/pulls/" in r.path] == [200, 304]
    stand_in.world.edit_pull(number, by="stranger", title="Other")
    assert reader.pull(repository, number).title == "Other"


@both
def test_a_renamed_repository_is_read_and_written(
    stand_in: StandIn, github: GitHub, repository: RepositoryRef, number: int
) -> None:
    stand_in.world.rename_repository("gadgets", by="olivia")
    assert GitHubReader(github.installation).pull(repository, number).number == number
    carry(writer_of(github), repository, number, Notice(kind="ask_comment", body="Hello?"))
    assert len(stand_in.world.pull(number).comments) == 1


def carry(
    writer: GitHubWriter,
    repository: RepositoryRef,
    number: int,
    effect: Effect,
    *,
    again: bool = False,
    known: Known = Known(),  # noqa: B008 - frozen
) -> Receipt:
    return writer.carry_out(repository, number, effect, key="1:2:x", known=known, again=again)


def run(stand_in: StandIn, number: int, title: str = "Evidence") -> SetCheckRun:
    return SetCheckRun(
        head_sha=stand_in.world.pull(number).head_sha,
        conclusion="neutral",
        title=title,
        summary="- nothing",
        buttons=(CheckButton(label="Reopen", description="Open it again", identifier="reopen"),),
    )


def shown(stand_in: StandIn, number: int) -> dict[str, Any]:
    """What a visitor of the pull request sees of us."""
    pull = stand_in.world.pull(number)
    return {
        "labels": [x.name for x in pull.labels],
        "comments": [c.body.partition("\n")[0] for c in pull.comments],
        "runs": [(r.conclusion, r.output["title"]) for r in stand_in.world.repository().checks],
        "state": pull.state,
    }


WRITES: dict[str, tuple[Callable[[StandIn, int], Effect], dict[str, Any], dict[str, Any]]] = {
    "label": (
        lambda *_: SetLabel(name="needs-verification", present=True),
        {"method": "POST", "path": r"/issues/\d+/labels$"},
        {"labels": ["needs-verification"]},
    ),
    "new label": (
        lambda *_: SetLabel(name="needs-verification", present=True),
        {"method": "POST", "path": r"widgets/labels$"},
        {"labels": ["needs-verification"]},
    ),
    "unlabel": (
        lambda *_: SetLabel(name="there", present=False),
        {"method": "DELETE", "path": r"/labels/"},
        {"labels": []},
    ),
    "status comment": (
        lambda *_: StatusComment(body="Status"),
        {"method": "POST", "path": r"/comments$"},
        {"comments": ["Status"]},
    ),
    "notice": (
        lambda *_: Notice(kind="close_comment", body="Closed, because …"),
        {"method": "POST", "path": r"/comments$"},
        {"comments": ["Closed, because …"]},
    ),
    "check run": (
        run,
        {"method": "POST", "path": r"/check-runs$"},
        {"runs": [("neutral", "Evidence")]},
    ),
    "close": (
        lambda *_: Close(),
        {"method": "PATCH", "path": r"/pulls/\d+$"},
        {"state": "closed"},
    ),
    "reopen": (
        lambda *_: Reopen(),
        {"method": "PATCH", "path": r"/pulls/\d+$"},
        {"state": "open"},
    ),
}


def prepare(stand_in: StandIn, case: str, number: int) -> None:
    if case == "unlabel":
        stand_in.world.label(number, "there", by="tom")
    if case == "reopen":
        stand_in.world.close_pull(number, by="tom")


@pytest.mark.parametrize("breakage", [None, "drop_before", "drop_after", "status_after"])
@pytest.mark.parametrize("case", WRITES)
def test_each_write_happens_once(
    stand_in: StandIn,
    writer: GitHubWriter,
    repository: RepositoryRef,
    number: int,
    case: str,
    breakage: Any,
) -> None:
    effect_of, where, wanted = WRITES[case]
    prepare(stand_in, case, number)
    effect = effect_of(stand_in, number)
    if breakage is not None:
        stand_in.fault(breakage, status=502, **where)
        with pytest.raises(RetryLater) as caught:
            carry(writer, repository, number, effect)
        assert caught.value.maybe_done
    carry(writer, repository, number, effect, again=breakage is not None)
    after = shown(stand_in, number)
    assert {key: after[key] for key in wanted} == wanted


def test_a_planted_marker_does_not_silence_us(
    stand_in: StandIn, writer: GitHubWriter, repository: RepositoryRef, number: int
) -> None:
    stand_in.world.comment(number, "Hi\n\n<!-- pulsegate:1:2:x -->", by="stranger")
    for _ in range(230):
        stand_in.world.comment(number, "noise", by="stranger")
    notice = Notice(kind="ask_comment", body="Are you there?")
    first = carry(writer, repository, number, notice, again=True)
    assert first.changed
    for _ in range(100):
        stand_in.world.comment(number, "noise", by="stranger")
    assert carry(writer, repository, number, notice, again=True) == Receipt(
        id=first.id, at=first.at, changed=False
    )


@both
def test_what_is_known_is_updated_in_place(
    stand_in: StandIn, writer: GitHubWriter, repository: RepositoryRef, number: int
) -> None:
    comment = carry(writer, repository, number, StatusComment(body="One")).id
    check = carry(writer, repository, number, run(stand_in, number, "One")).id
    sha = stand_in.world.pull(number).head_sha
    known = Known(status_comment_id=comment, check_run_id=check, check_run_sha=sha)
    carry(writer, repository, number, StatusComment(body="Two"), known=known)
    carry(writer, repository, number, run(stand_in, number, "Two"), known=known)
    after = shown(stand_in, number)
    assert after["comments"] == ["Two"]
    assert after["runs"] == [("neutral", "Two")]
    stand_in.world.pull(number).comments.clear()
    with pytest.raises(Rejected, match="deleted the comment"):
        carry(writer, repository, number, StatusComment(body="Three"), known=known)


def test_a_locked_conversation_refuses(
    stand_in: StandIn, writer: GitHubWriter, repository: RepositoryRef, number: int
) -> None:
    stand_in.world.lock_pull(number, by="olivia")
    with pytest.raises(Rejected, match="locked") as caught:
        carry(writer, repository, number, Notice(kind="ask_comment", body="Hello?"))
    assert caught.value.status == 403


def test_a_suspended_and_a_removed_installation(
    stand_in: StandIn, github: GitHub, repository: RepositoryRef, number: int
) -> None:
    writer, installation = writer_of(github), stand_in.world.installation
    carry(writer, repository, number, Notice(kind="ask_comment", body="Hello?"))
    stand_in.world.suspend(installation, by="olivia")
    with pytest.raises(RetryLater, match="suspended"):
        carry(writer, repository, number, Close())
    assert GitHubAppApi(github).installation(installation.id).suspended_at is not None
    stand_in.world.uninstall(installation, by="olivia")
    with pytest.raises(Rejected):
        carry(writer, repository, number, Close())
    assert stand_in.world.pull(number).state == "open"


def test_a_permission_that_was_not_granted(
    stand_in: StandIn, writer: GitHubWriter, repository: RepositoryRef, number: int
) -> None:
    stand_in.world.installation.permissions["checks"] = "read"
    with pytest.raises(Rejected, match="Resource not accessible") as caught:
        carry(writer, repository, number, run(stand_in, number))
    assert caught.value.status == 403


@both
def test_the_app(stand_in: StandIn, app_api: GitHubAppApi) -> None:
    world = stand_in.world
    assert app_api.identity() == (world.app.id, world.app.slug)
    assert app_api.installation(world.installation.id).id == world.installation.id
    found = [r.full_name for r in app_api.repositories(world.installation.id)]
    assert found == ["acme/widgets"]


@both
def test_deliveries(
    stand_in: StandIn, app_api: GitHubAppApi, wait_for: Callable[..., None]
) -> None:
    stand_in.world.app.webhook_url = "http://127.0.0.1:1/webhooks/github"
    for _ in range(105):
        stand_in.world.open_pull(by="stranger")
    since = datetime.now(UTC) - timedelta(hours=1)
    wait_for(lambda: len(list(app_api.deliveries(since))) >= 105, "all are attempted")
    found = list(app_api.deliveries(since))
    assert len({d.guid for d in found}) == len(found)
    assert not any(d.ok for d in found)
    assert [d.id for d in found] == sorted((d.id for d in found), reverse=True)
    app_api.redeliver(found[-1].id)
    wait_for(lambda: len(list(app_api.deliveries(since))) > len(found), "it is redelivered")
    assert next(app_api.deliveries(since)).guid == found[-1].guid
    assert list(app_api.deliveries(datetime.now(UTC) + timedelta(hours=1))) == []


@both
def test_setup_and_sign_in(stand_in: StandIn, connect: Callable[..., GitHub]) -> None:
    back = "https://gate.example/back"
    made = manifest(
        name="Gate",
        url="https://gate.example",
        hook_url="https://gate.example/webhooks/github",
        redirect_url=back,
        callback_url=back,
        setup_url=back,
    )
    answer = httpx.post(
        form_target(stand_in.web_url, "state", "acme"), data={"manifest": json.dumps(made)}
    )
    sent = parse_qs(urlsplit(answer.headers["location"]).query)
    assert sent["state"] == ["state"]
    app = convert(stand_in.api_url, sent["code"][0])
    assert app.owner == "acme"
    assert GitHubAppApi(connect(stand_in.api_url, credentials=app.credentials)).identity() == (
        app.credentials.app_id,
        app.credentials.slug,
    )
    stand_in.world.browser = "stranger"
    sign_in = SignIn(
        app.credentials, api_url=stand_in.api_url, web_url=stand_in.web_url, redirect_uri=back
    )
    begun = sign_in.begin()
    answer = httpx.get(begun.url)
    came = {k: v[0] for k, v in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    who = sign_in.finish(
        code=came["code"], state=came["state"], begun_state=begun.state, verifier=begun.verifier
    )
    assert who.id == stand_in.world.user("stranger").id
