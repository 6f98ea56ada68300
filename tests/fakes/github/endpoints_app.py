"""Endpoints of the App itself, of signed-in users, and of the web pages around them."""

import base64
import hashlib
import json
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tests.fakes.github.acts import Acts
from tests.fakes.github.model import Installation, User, sha_of
from tests.fakes.github.routes import Answer, Call, Refusal, route
from tests.fakes.github.shapes import when


def _installation(call: Call) -> Installation:
    number = int(call.params["installation_id"])
    living = (i for i in call.world.installations if i.id == number and not i.deleted)
    found = call.found(next(living, None))
    if call.app is not None and found.app is not call.app:
        raise Refusal(404, "Not Found")
    return found


@route("GET", "/app", "app")
def get_app(call: Call) -> Answer:
    """The App that asks."""
    assert call.app is not None
    count = sum(i.app is call.app and not i.deleted for i in call.world.installations)
    return Answer(200, call.world.shapes.app(call.app) | {"installations_count": count})


@route("GET", "/app/installations", "app")
def list_installations(call: Call) -> Answer:
    """All installations of the App, the suspended ones too."""
    mine = [i for i in call.world.installations if i.app is call.app and not i.deleted]
    items, links = call.page(mine)
    return Answer(200, [call.world.shapes.installation(i) for i in items], links)


@route("GET", "/app/installations/{installation_id}", "app")
def get_installation(call: Call) -> Answer:
    """One installation."""
    return Answer(200, call.world.shapes.installation(_installation(call)))


@route("POST", "/app/installations/{installation_id}/access_tokens", "app")
def create_token(call: Call) -> Answer:
    """A token of the installation for an hour."""
    found = _installation(call)
    if found.suspended_at:
        raise Refusal(403, "This installation has been suspended")
    text = call.world.issue_token(installation=found, app=found.app)
    body = {
        "token": text,
        "expires_at": when(call.world.tokens[text].expires_at),
        "permissions": dict(found.permissions),
        "repository_selection": "all" if found.repositories is None else "selected",
    }
    return Answer(201, body)


@route("GET", "/installation/repositories", "installation")
def installation_repositories(call: Call) -> Answer:
    """What the installation reaches."""
    assert call.installation is not None
    covered = call.installation.covered(call.world.repositories)
    items, links = call.page(covered)
    body = {
        "total_count": len(covered),
        "repository_selection": "all" if call.installation.repositories is None else "selected",
        "repositories": [call.world.shapes.repository(r) for r in items],
    }
    return Answer(200, body, links)


@route("GET", "/app/hook/deliveries", "app")
def list_deliveries(call: Call) -> Answer:
    """Attempts at delivery, the newest first, by cursor."""
    wanted = call.query.get("status")
    mine = [
        d
        for d in call.world.hooks.attempted()
        if d.app is call.app and (not wanted or (d.status == "OK") is (wanted == "success"))
    ]
    per_page = min(int(call.query.get("per_page", 30)), 100)
    cursor = call.query.get("cursor", "")
    if cursor:
        mine = [d for d in mine if d.id < int(cursor.removeprefix("v1_"))]
    items = mine[:per_page]
    links = {}
    if len(mine) > per_page:
        pairs = {**call.query, "per_page": per_page, "cursor": f"v1_{items[-1].id}"}
        links["Link"] = f'<{call.world.shapes.api}{call.path}?{urlencode(pairs)}>; rel="next"'
    return Answer(200, [d.item() for d in items], links)


@route("POST", "/app/hook/deliveries/{delivery_id}/attempts", "app")
def redeliver(call: Call) -> Answer:
    """Deliver once more, with the same GUID."""
    number = int(call.params["delivery_id"])
    found = next((d for d in call.world.hooks.attempted() if d.id == number), None)
    call.world.hooks.redeliver(call.found(found), call.world.now())
    return Answer(202, {})


# The manifest flow


@route("POST", "/settings/apps/new", "anybody")
@route("POST", "/organizations/{org}/settings/apps/new", "anybody")
def new_app(call: Call) -> Answer:
    """The page that a manifest is posted to; the person at once says yes."""
    form = dict(parse_qsl(call.raw.decode()))
    manifest = json.loads(form["manifest"])
    missing = [k for k in ("url", "redirect_url", "hook_attributes") if k not in manifest]
    if missing:
        raise Refusal(422, f"Invalid GitHub App configuration: {missing[0]} is missing")
    code = sha_of("manifest", next(call.world.ids))
    call.world.codes[code] = {
        "manifest": manifest,
        "owner": call.params.get("org") or call.world.browser,
    }
    return _redirect(manifest["redirect_url"], code=code, state=call.query.get("state"))


@route("POST", "/app-manifests/{code}/conversions", "anybody")
def convert_manifest(call: Call) -> Answer:
    """Trade a code, once, for the new App and its secrets."""
    held = call.found(call.world.codes.pop(call.params["code"], None))
    manifest = call.found(held.get("manifest"))
    app = call.world.add_app(
        held["owner"] or call.world.app.owner.login,
        manifest.get("name", "Pulsegate"),
        webhook_url=manifest["hook_attributes"].get("url"),
        permissions=dict(manifest.get("default_permissions", {})),
        events=tuple(manifest.get("default_events", ())),
        callback_urls=tuple(manifest.get("callback_urls", ())),
    )
    secrets = {
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "webhook_secret": app.webhook_secret,
        "pem": app.private_key_pem,
    }
    return Answer(201, call.world.shapes.app(app) | secrets)


# Sign-in


def _redirect(to: str, **query: str | None) -> Answer:
    given = {key: value for key, value in query.items() if value is not None}
    url = to + ("&" if "?" in to else "?") + urlencode(given)
    return Answer(302, b"", {"Location": url}, "text/html; charset=utf-8")


@route("GET", "/login/oauth/authorize", "anybody")
def authorize(call: Call) -> Answer:
    """The person in front of the browser (`world.browser`) at once says yes; nobody says no."""
    app = next((a for a in call.world.apps if a.client_id == call.query.get("client_id")), None)
    if app is None:
        return Answer(404, b"Not Found", media="text/html; charset=utf-8")
    allowed = app.callback_urls
    to = call.query.get("redirect_uri") or (allowed[0] if allowed else "")
    state = call.query.get("state")
    if not to or (allowed and not any(to.startswith(a) for a in allowed)):
        return Answer(200, b"redirect_uri is not associated", media="text/html; charset=utf-8")
    if call.world.browser is None:
        return _redirect(to, error="access_denied", state=state)
    code = sha_of("oauth", next(call.world.ids))
    call.world.codes[code] = {
        "user": call.world.user(call.world.browser),
        "app": app,
        "to": to,
        "challenge": call.query.get("code_challenge"),
    }
    return _redirect(to, code=code, state=state)


@route("POST", "/login/oauth/access_token", "anybody")
def access_token(call: Call) -> Answer:
    """Trade a code for a user's token. Errors come with 200, as GitHub's do."""
    asked = (
        call.json
        if "json" in call.headers.get("content-type", "")
        else dict(parse_qsl(call.raw.decode()))
    )
    body = _trade(call.world, asked, call.headers.get("authorization", ""))
    if "json" in call.headers.get("accept", ""):
        return Answer(200, body)
    form = "application/x-www-form-urlencoded; charset=utf-8"
    return Answer(200, urlencode(body).encode(), media=form)


def _trade(world: Acts, asked: dict[str, Any], basic: str) -> dict[str, str]:
    if basic.lower().startswith("basic "):
        client, _, secret = base64.b64decode(basic[6:]).decode().partition(":")
        asked = {"client_id": client, "client_secret": secret} | asked
    app = next((a for a in world.apps if a.client_id == asked.get("client_id")), None)
    if app is None or asked.get("client_secret") != app.client_secret:
        words = "The client_id and/or client_secret passed are incorrect."
        return {"error": "incorrect_client_credentials", "error_description": words}
    held = world.codes.pop(str(asked.get("code")), {})
    if held.get("app") is not app:
        words = "The code passed is incorrect or expired."
        return {"error": "bad_verification_code", "error_description": words}
    if asked.get("redirect_uri", held["to"]) != held["to"]:
        words = "The redirect_uri MUST match the registered callback URL for this application."
        return {"error": "redirect_uri_mismatch", "error_description": words}
    if held["challenge"]:
        digest = hashlib.sha256(str(asked.get("code_verifier", "")).encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != held["challenge"]:
            words = "The code_verifier is incorrect."
            return {"error": "bad_verification_code", "error_description": words}
    token = world.issue_token(user=held["user"], app=app)
    return {"access_token": token, "token_type": "bearer", "scope": ""}


@route("GET", "/user", "user")
def me(call: Call) -> Answer:
    """The signed-in user."""
    assert call.user is not None
    return Answer(200, call.world.shapes.profile(call.user))


@route("GET", "/users/{username}/events/public")
def list_public_events(call: Call) -> Answer:
    """What an account did in public, the newest first: here, and what a test says of elsewhere."""
    user = call.world.users.get(call.params["username"].lower())
    if user is None or user.deleted:
        raise Refusal(404, "Not Found")
    here = [
        ("PullRequestEvent", "opened", repository.full_name, pull.created_at)
        for repository in call.world.repositories
        for pull in repository.pulls.values()
        if pull.user is user and not repository.private
    ]
    done = sorted([*user.elsewhere, *here], key=lambda one: one[3], reverse=True)
    items, links = call.page(done)
    return Answer(200, [_public_event(call, user, *one) for one in items], links)


def _public_event(call: Call, user: User, kind: str, action: str, name: str, at: datetime) -> Any:
    api = call.world.shapes.api
    return {
        "id": str(int(at.timestamp() * 1000)),
        "type": kind,
        "actor": {
            "id": user.id, "login": user.login, "display_login": user.login, "gravatar_id": "",
            "url": f"{api}/users/{user.login}", "avatar_url": f"{api}/avatars/{user.id}",
        },
        "repo": {"id": 1, "name": name, "url": f"{api}/repos/{name}"},
        "payload": {"action": action} if action else {},
        "public": True,
        "created_at": when(at),
    }  # fmt: skip


@route("GET", "/users/{username}")
def get_user(call: Call) -> Answer:
    """Anybody's profile."""
    try:
        return Answer(200, call.world.shapes.profile(call.world.user(call.params["username"])))
    except KeyError:
        raise Refusal(404, "Not Found") from None


def _reach(call: Call, installation: Installation) -> list[Any]:
    """Repositories of an installation that the user was given a role on."""
    user = call.found(call.user)
    covered = installation.covered(call.world.repositories)
    return [r for r in covered if user is r.owner or user.id in r.roles]


@route("GET", "/user/installations", "user")
def user_installations(call: Call) -> Answer:
    """Installations of the App that the user can do something with."""
    mine = [i for i in call.world.installations if i.app is call.app and _reach(call, i)]
    items, links = call.page(mine)
    shapes = [call.world.shapes.installation(i) for i in items]
    return Answer(200, {"total_count": len(mine), "installations": shapes}, links)


@route("GET", "/user/installations/{installation_id}/repositories", "user")
def user_repositories(call: Call) -> Answer:
    """Repositories of one installation, with the user's rights on each."""
    reach = _reach(call, _installation(call))
    if not reach:
        raise Refusal(404, "Not Found")
    items, links = call.page(reach)
    shapes = [call.world.shapes.repository(r, call.user) for r in items]
    return Answer(200, {"total_count": len(reach), "repositories": shapes}, links)
