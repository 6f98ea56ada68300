"""A stateful GitHub on loopback, judged by GitHub's own OpenAPI description.

In the test's own process::

    with GitHub() as github:                      # a seeded world, see `GitHub.seed`
        github.world.app.webhook_url = "http://127.0.0.1:…/webhooks/github"
        pull = github.world.open_pull(by="stranger", title="…")   # sends the signed webhook
        github.fault("drop_after", method="POST", path="/comments$")
        …                                         # base address: github.api_url
        assert github.world.pull(pull.number).state == "closed"
        assert github.violations == []            # the fixture `github` does this

As a process of its own (`spawn` in `tests.fakes.github.process`, or
`python -m tests.fakes.github --port N`): the same over `GET /_state`, `POST /_faults`, `POST /_do`.

What it does not know: the endpoints of issues that are no pull requests, writing reviews, teams,
and rate limits that run out by themselves (set a fault for those). `app` scopes are coarse:
an installation writes with `write` on the endpoint's permission, a user with triage rights.
"""

import time
from typing import Any, Self

import jwt

from tests.fakes.github import (
    endpoints_answers,
    endpoints_app,
    endpoints_issues,
    endpoints_limits,
    endpoints_repo,
    endpoints_reviews,
    graphql,
)
from tests.fakes.github.faults import Fault, Faults, Kind
from tests.fakes.github.hooks import Delivery
from tests.fakes.github.issues import Acts
from tests.fakes.github.server import Request, Server
from tests.fakes.github.shapes import Shapes
from tests.fakes.openapi import description

__all__ = [
    "Fault",
    "GitHub",
    "Request",
    "endpoints_answers",
    "endpoints_app",
    "endpoints_issues",
    "endpoints_limits",
    "endpoints_repo",
    "endpoints_reviews",
    "graphql",
]


class GitHub:
    """The stand-in: `world` is its state, `requests` its log, `violations` what was not GitHub-like."""

    def __init__(self, *, port: int = 0, prefix: str = "", judge: bool = True) -> None:
        """`prefix` is `/api/v3` for an Enterprise Server; `judge=False` leaves out the judging."""
        self.world = Acts()
        self.faults = Faults()
        self.requests: list[Request] = []
        self.violations: list[str] = []
        self.description = description() if judge else None
        self.prefix = prefix
        self._server = Server(self, port)
        self.web_url = self._server.url
        self.api_url = self.web_url + prefix
        self.world.shapes = Shapes(self.api_url, self.web_url)
        self._server.start()
        self.seed()

    def seed(self) -> None:
        """`acme/widgets` (public) with its people, a stranger, a bot, and the App installed on it."""
        world = self.world
        world.add_user("acme", "Organization")
        world.add_repository("acme/widgets", files={"README.md": "# Widgets\n"})
        people = {"olivia": "admin", "mark": "maintain", "wendy": "write", "tom": "triage"}
        for login, role in people.items():
            world.add_user(login)
            world.set_role(login, role)
        world.add_user("stranger")
        world.add_user("renovate[bot]", "Bot")
        world.add_app("acme")
        world.add_installation("acme")

    def app_jwt(self, *, issuer: str = "", key: str = "", seconds: int = 540) -> str:
        """A JSON web token of the first App; wrong ones on demand."""
        app, now = self.world.app, int(time.time())
        claims = {"iat": now - 60, "exp": now + seconds, "iss": issuer or str(app.id)}
        return jwt.encode(claims, key or app.private_key_pem, algorithm="RS256")

    def installation_token(self) -> str:
        """A token of the first installation."""
        world = self.world
        return world.issue_token(installation=world.installation, app=world.app)

    def fault(self, kind: Kind, **more: Any) -> Fault:
        """Set a fault; see `Fault`."""
        return self.faults.add(Fault(kind, **more))

    def check_webhooks(self) -> list[str]:
        """What is wrong with the payloads of the webhooks that arose so far."""
        if self.description is None:
            return []
        return [
            problem
            for delivery in list(self.world.hooks.deliveries)
            for problem in self.description.webhook(delivery.event, delivery.payload)
        ]

    def state(self) -> dict[str, Any]:
        """Everything that a test may want to see, as JSON."""
        world, shapes = self.world, self.world.shapes
        with world.lock:
            return {
                "app": {
                    "id": world.app.id,
                    "client_id": world.app.client_id,
                    "client_secret": world.app.client_secret,
                    "webhook_secret": world.app.webhook_secret,
                    "private_key_pem": world.app.private_key_pem,
                },
                "repositories": {
                    r.full_name: {
                        "id": r.id,
                        "pulls": [
                            shapes.pull(r, p)
                            | {"all_comments": [shapes.comment(r, c) for c in p.comments]}
                            for p in r.pulls.values()
                        ],
                        "check_runs": [shapes.check_run(r, c) for c in r.checks],
                    }
                    for r in world.repositories
                    if not r.deleted
                },
                "installations": [shapes.installation(i) for i in world.installations],
                "accounts": [shapes.user(u) for u in world.users.values() if not u.deleted],
                "deliveries": [d.item() for d in world.hooks.deliveries],
                "faults": [f.as_json() for f in self.faults.all()],
                "requests": [vars(r) for r in self.requests],
                "violations": list(self.violations),
            }

    def control(self, method: str, path: str, body: Any) -> Any:
        """Answer `/_state`, `/_faults` and `/_do`, which only another process needs."""
        if (method, path) == ("GET", "/_state"):
            return self.state()
        if (method, path) == ("POST", "/_faults"):
            self.faults.clear()
            return [self.faults.add(Fault(**fault)).as_json() for fault in body]
        if (method, path) == ("POST", "/_do"):
            return self._do(body["act"], body.get("args", {}))
        raise ValueError(f"no {method} {path}")

    def _do(self, act: str, args: dict[str, Any]) -> Any:
        """One act of `Acts` by name. An installation goes by its id.

        Three more: `deliver` (by the delivery's id), `disorder` (a seed, see `Hooks`) and `set_app`
        (fields of the App).
        """
        if act == "deliver":
            found = next(d for d in self.world.hooks.deliveries if d.id == args["id"])
            return self.world.hooks.deliver(found).item()
        if act == "disorder":
            self.world.hooks.disorder(args["seed"])
            return {}
        if act == "set_app":
            for key, value in args.items():
                setattr(self.world.app, key, value)
            return {}
        if act.startswith("_") or act in {"lock", "clock", "hooks", "shapes"}:
            raise ValueError(f"no act {act}")
        if "installation" in args:
            wanted = args["installation"]
            args["installation"] = next(i for i in self.world.installations if i.id == wanted)
        made = getattr(self.world, act)(**args)
        if isinstance(made, Delivery):
            return made.item()
        return {k: getattr(made, k) for k in ("id", "number", "head_sha") if hasattr(made, k)}

    def stop(self) -> None:
        """Stop listening and sending."""
        self._server.stop()
        self.violations.extend(self._server.failures)
        self.world.hooks.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
