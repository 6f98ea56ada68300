"""Routing, sign-in and refusals: what every endpoint of the stand-in rests on."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar
from urllib.parse import quote, unquote, urlencode

import jwt

from tests.fakes.github.acts import Acts
from tests.fakes.github.model import App, Installation, Issue, Pull, Repository, Token, User

T = TypeVar("T")
DOCS = "https://docs.github.com/rest"
Who = Literal["anybody", "app", "installation", "user", "token"]


@dataclass
class Answer:
    """What goes back: `body` is JSON unless it is bytes already."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    media: str = "application/json; charset=utf-8"


class Refusal(Exception):
    """An answer with GitHub's error body."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        body = {"message": message, **more, "documentation_url": DOCS}
        if "errors" not in more:
            body["status"] = str(status)
        self.answer = Answer(status, body)


def invalid(resource: str, code: str, field: str, **more: str) -> Refusal:
    """A 422."""
    error = {"resource": resource, "code": code, "field": field, **more}
    return Refusal(422, "Validation Failed", errors=[error])


@dataclass
class Call:
    """One request, as an endpoint sees it."""

    world: Acts
    method: str
    path: str
    params: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes
    app: App | None = None
    installation: Installation | None = None
    user: User | None = None

    @property
    def json(self) -> dict[str, Any]:
        """The body as a JSON object; no body is an empty one."""
        try:
            parsed = json.loads(self.raw or b"{}")
        except ValueError:
            raise Refusal(400, "Problems parsing JSON") from None
        return parsed if isinstance(parsed, dict) else {"labels": parsed}

    @property
    def actor(self) -> User:
        """Whose deed it is: the App's bot, or the signed-in user."""
        if self.installation is not None:
            return self.installation.app.bot
        if self.user is None:
            raise Refusal(401, "Requires authentication")
        return self.user

    def found(self, value: T | None) -> T:
        """The value, or 404."""
        if value is None:
            raise Refusal(404, "Not Found")
        return value

    def repository(self) -> Repository:
        """The repository of the path. Who may not see it gets 404; an old name redirects."""
        name = f"{self.params['owner']}/{self.params['repo']}"
        try:
            repository = self.world.repository(name)
        except KeyError:
            self._redirect(name)
            raise Refusal(404, "Not Found") from None
        if repository.private and not self._sees(repository):
            raise Refusal(404, "Not Found")
        return repository

    def _sees(self, repository: Repository) -> bool:
        if self.installation is not None:
            return self.installation.reaches(repository)
        return self.user is not None and repository.at_least(self.user, "read")

    def _redirect(self, name: str) -> None:
        repository = self.world.moved.get(name.lower())
        if repository is None or repository.deleted:
            return
        rest = self.path.removeprefix(f"/repos/{name}")
        url = f"{self.world.shapes.api}/repositories/{repository.id}{rest}"
        if self.query:
            url += "?" + urlencode(self.query)
        status, words = (
            (301, "Moved Permanently") if self.method == "GET" else (307, "Temporary Redirect")
        )
        refusal = Refusal(status, words, url=url)
        refusal.answer.headers["Location"] = url
        raise refusal

    def pull(self, repository: Repository) -> Pull:
        """The pull request of the path."""
        number = self.params.get("pull_number") or self.params["issue_number"]
        return self.found(repository.pulls.get(int(number) if number.isdigit() else 0))

    def thread(self, repository: Repository) -> Pull | Issue:
        """The pull request or issue of the path."""
        number = self.params["issue_number"]
        issue = repository.issues.get(int(number) if number.isdigit() else 0)
        return issue if issue is not None and not issue.hidden else self.pull(repository)

    def may_write(self, repository: Repository, *permissions: str) -> None:
        """403 unless the installation reaches the repository with one of the permissions."""
        if self.installation is None:
            if not self.world.repository(repository.full_name).at_least(self.actor, "triage"):
                raise Refusal(403, "Must have admin rights to Repository.")
            return
        granted = self.installation.permissions
        if self.installation.reaches(repository) and any(
            granted.get(p) == "write" for p in permissions
        ):
            return
        raise Refusal(403, "Resource not accessible by integration")

    def page(self, items: Sequence[T]) -> tuple[list[T], dict[str, str]]:
        """One page of a list, and the `Link` header to the others."""
        per_page = min(int(self.query.get("per_page", 30)), 100)
        page = int(self.query.get("page", 1))
        last = max(1, -(-len(items) // per_page))
        links = []
        if page < last:
            links += [(page + 1, "next"), (last, "last")]
        if page > 1:
            links += [(1, "first"), (page - 1, "prev")]
        header = ", ".join(f'<{self._link(page=to)}>; rel="{rel}"' for to, rel in links)
        start = (page - 1) * per_page
        return list(items[start : start + per_page]), {"Link": header} if header else {}

    def _link(self, **query: object) -> str:
        pairs = {**self.query, **{k: str(v) for k, v in query.items()}}
        return f"{self.world.shapes.api}{quote(self.path, safe='/')}?{urlencode(pairs)}"


Endpoint = Callable[[Call], Answer]
ROUTES: list[tuple[str, re.Pattern[str], Who, Endpoint]] = []


def route(method: str, template: str, who: Who = "token") -> Callable[[Endpoint], Endpoint]:
    """Register an endpoint. `{path}` and `{ref}` take slashes."""
    pattern = re.sub(r"\{(path|ref)\}", r"(?P<\1>.+)", template)
    pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern)

    def register(endpoint: Endpoint) -> Endpoint:
        ROUTES.append((method, re.compile(pattern), who, endpoint))
        return endpoint

    return register


def dispatch(world: Acts, call: Call) -> Answer:
    """Carry a request out."""
    try:
        call.path = _canonical(world, call.path)
        for method, pattern, who, endpoint in ROUTES:
            match = pattern.fullmatch(call.path)
            if match and method == call.method:
                call.params = {k: unquote(v) for k, v in match.groupdict().items()}
                with world.lock:
                    _sign_in(world, call, who)
                    return endpoint(call)
        raise Refusal(404, "Not Found")
    except Refusal as refusal:
        return refusal.answer


def _canonical(world: Acts, path: str) -> str:
    """`/repositories/ID/…`, where redirects lead, is the same as `/repos/OWNER/NAME/…`."""
    match = re.match(r"/repositories/(\d+)", path)
    if match:
        for repository in world.repositories:
            if repository.id == int(match[1]) and not repository.deleted:
                return f"/repos/{repository.full_name}{path[match.end() :]}"
    return path


def _sign_in(world: Acts, call: Call, who: Who) -> None:
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    if who == "anybody" or (who == "token" and not token and call.method == "GET"):
        return
    if not token or scheme.lower() not in {"bearer", "token"}:
        raise Refusal(401, "Requires authentication")
    if token.count(".") == 2:
        call.app = _app_of(world, token)
        if who != "app":
            raise Refusal(403, "Resource not accessible by integration")
        return
    held = _held(world, token)
    if who == "app":
        raise Refusal(401, "A JSON web token could not be decoded")
    needed = {"installation": held.installation, "user": held.user}.get(who, held)
    if needed is None:
        raise Refusal(403, "Resource not accessible by integration")
    call.app, call.installation, call.user = held.app, held.installation, held.user


def _held(world: Acts, token: str) -> Token:
    """What a token stands for, if it still stands."""
    held = world.tokens.get(token)
    if held is None or held.expires_at <= world.now():
        raise Refusal(401, "Bad credentials")
    if held.installation is not None:
        if held.installation.deleted:
            raise Refusal(401, "Bad credentials")
        if held.installation.suspended_at:
            raise Refusal(403, "This installation has been suspended")
    return held


def _app_of(world: Acts, token: str) -> App:
    """The App that signed a JWT, by GitHub's rules: RS256, at most ten minutes, no future `iat`."""
    try:
        issuer = str(jwt.decode(token, options={"verify_signature": False}).get("iss"))
        app = next(a for a in world.apps if issuer in {str(a.id), a.client_id})
        claims = jwt.decode(
            token,
            app.public_key_pem,
            algorithms=["RS256"],
            options={"require": ["exp", "iat", "iss"], "verify_iss": False},
        )
    except StopIteration:
        raise Refusal(404, "Integration not found") from None
    except jwt.ExpiredSignatureError:
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the past") from None
    except jwt.PyJWTError:
        raise Refusal(401, "A JSON web token could not be decoded") from None
    if claims["exp"] > time.time() + 601:
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")
    return app
