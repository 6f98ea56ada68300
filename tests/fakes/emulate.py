"""A GitHub that nobody here wrote: the npm package `emulate` 0.11.2, behind a thin pass-through.

    with Emulate(webhook_url="http://127.0.0.1:…/webhooks/github") as emulate:
        number = emulate.open_pull(by="stranger", title="…", body="…")["number"]
        …                                  # emulate's own signed webhook arrives
        emulate.labels(number), emulate.comments(number), emulate.check_runs(sha), emulate.pull(number)

It runs Node (see `node.require_node`) with only the GitHub service on a free loopback port: the
organization `acme` with the public repository `acme/widgets`, `olivia` (owner), `tom` (triage),
`stranger`, `newcomer` and `renovate[bot]` (nothing), and the App installed on all of acme. `api_url` and
`web_url` are the pass-through's. Users hold the token `token_for(login)`.

Bytes pass unchanged but for what follows. Each line is a fact about emulate 0.11.2, found by trying:

1.  Dates have milliseconds, GitHub's have none                    -> trimmed in JSON answers.
2.  `X-GitHub-Delivery` is the time in milliseconds, so two webhooks of one millisecond share it, and
    `X-GitHub-Hook-…` headers are missing                          -> a GUID and the headers are added;
    but for 7 the signed bytes stay as they are, milliseconds included.
3.  `collaborators/LOGIN/permission` is 404 for an account without a role; GitHub says `read` on a
    public repository. `permission` has five words and `push`/`pull`; GitHub has four -> translated.
4.  `performed_via_github_app` of comments and `app` of check runs are null -> the App is put in for
    comments by its bot and for all check runs (nobody else can make one here).
5.  `commits/SHA/check-runs` is 404 for a commit of a fork         -> listed from the check runs that
    passed through, each read live.
6.  Missing: `/installation/repositories`, `/user/installations` and its repositories,
    `/app/hook/deliveries` and its attempts                        -> added, from what emulate knows
    and what passed through.
7.  In webhooks, `issue` does not say that it is a pull request    -> `issue.pull_request` is put in,
    and the webhook signed anew.

Known and left alone: `/app-manifests`, locking a pull request, ETags and redirects of renamed
repositories are missing; a file comes in one line of base64, from GitHub in many; label names
know case; labelling a pull request sends `issues`/`labeled` and
no `pull_request`/`labeled`; a wrong token still reads public repositories; `owner` of the App is
null; installations have no `target_id`; ids start at 1; `actions` of check runs are not shown;
seeded users are of type `User`, bots too; webhooks do not wait for an answer and are never retried.
"""

import base64
import json
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import httpx
import jwt

from tests.fakes.emulate_door import REPO, Door, Json
from tests.fakes.github.model import PERMISSIONS
from tests.fakes.github.world import key_pair
from tests.fakes.loopback import client, wait_until
from tests.fakes.node import require_node, require_package

USERS = ("olivia", "tom", "stranger", "newcomer", "renovate[bot]")
APP_ID, INSTALLATION_ID = 4242, 51_000_000
CLIENT_ID, CLIENT_SECRET, WEBHOOK_SECRET = "Iv1.emulate", "client-secret", "webhook-secret"


class Emulate:
    """The emulator and its pass-through, running from construction to `stop`."""

    app_id = APP_ID
    installation_id = INSTALLATION_ID
    client_id = CLIENT_ID
    client_secret = CLIENT_SECRET
    webhook_secret = WEBHOOK_SECRET

    def __init__(
        self, *, webhook_url: str | None = None, callback_urls: Sequence[str] = ()
    ) -> None:
        """`webhook_url` may be changed at any time, `callback_urls` (OAuth) may not.

        Without any, emulate asks for no client id and secret and sends people wherever it is asked.
        """
        node = require_node()
        self.webhook_url = webhook_url
        self.private_key_pem = key_pair(0)[0]
        self._door = Door(self)
        self.api_url = self.web_url = self._door.url
        self._upstream = f"http://127.0.0.1:{_free_port()}"
        self.client = client(self._upstream)
        self._through = client(self.api_url)
        self._folder = tempfile.TemporaryDirectory(prefix="emulate-")
        self._branches = 0
        self._process = self._start(node, callback_urls)
        try:
            wait_until(self._is_up, 20)
            self._door.start()
            self._as("PUT", f"{REPO}/collaborators/tom", "olivia", {"permission": "triage"})
        except BaseException:
            self.stop()
            raise

    def _start(self, node: Path, callback_urls: Sequence[str]) -> subprocess.Popen[bytes]:
        folder = Path(self._folder.name)
        seed = folder / "seed.json"
        seed.write_text(json.dumps(self._seed(callback_urls)))
        cli = require_package("emulate") / "dist" / "index.js"
        port = self._upstream.rpartition(":")[2]
        command: list[str | Path] = [node, cli, "start", "--service", "github", "--port", port]
        command += ["--seed", seed, "--base-url", self.api_url]
        with (folder / "log").open("wb") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)

    def _seed(self, callback_urls: Sequence[str]) -> dict[str, Json]:
        app = {
            "app_id": APP_ID,
            "slug": "pulsegate",
            "name": "Pulsegate",
            "private_key": self.private_key_pem,
            "permissions": PERMISSIONS,
            "events": ["*"],
            "webhook_url": f"{self.api_url}/_hook",
            "webhook_secret": WEBHOOK_SECRET,
            "installations": [
                {
                    "installation_id": INSTALLATION_ID,
                    "account": "acme",
                    "repository_selection": "all",
                }
            ],
        }
        oauth = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "name": "Pulsegate"}
        strict = [oauth | {"redirect_uris": list(callback_urls)}] if callback_urls else []
        return {
            "tokens": {self.token_for(login): {"login": login} for login in USERS},
            "github": {
                "users": [{"login": login} for login in USERS],
                "orgs": [{"login": "acme", "members": [{"login": "olivia", "role": "admin"}]}],
                "repos": [{"owner": "acme", "name": "widgets"}],
                "oauth_apps": strict,
                "apps": [app],
            },
        }

    def _is_up(self) -> bool:
        if self._process.poll() is not None:
            log = (Path(self._folder.name) / "log").read_text(errors="replace")
            raise RuntimeError(f"emulate ended with {self._process.returncode}: {log[-2000:]}")
        try:
            return self.client.get("/zen").is_success
        except httpx.TransportError:
            return False

    # What a test does and asks

    def token_for(self, user: str) -> str:
        """The bearer token of a seeded user."""
        return f"gho_of_{user}"

    def app_jwt(self) -> str:
        """A JSON web token of the App, good for nine minutes."""
        now = int(time.time())
        claims = {"iat": now - 60, "exp": now + 540, "iss": str(APP_ID)}
        return jwt.encode(claims, self.private_key_pem, algorithm="RS256")

    def installation_token(self) -> str:
        """A token of the installation."""
        path = f"/app/installations/{INSTALLATION_ID}/access_tokens"
        return str(self._ask("POST", path, self.app_jwt())["token"])

    def _ask(self, method: str, path: str, token: str, body: Json = None) -> Json:
        headers = {"Authorization": f"Bearer {token}"}
        answer = self._through.request(method, path, json=body, headers=headers)
        if not answer.is_success:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def _as(self, method: str, path: str, user: str, body: Json = None) -> Json:
        return self._ask(method, path, self.token_for(user), body)

    def open_pull(
        self,
        *,
        by: str,
        title: str = "Fix a thing",
        body: str | None = "It was broken.",
        draft: bool = False,
    ) -> dict[str, Json]:
        """Open a pull request from a fork, by the API: its branch gets a commit of its own."""
        self._branches += 1
        branch = f"patch-{self._branches}"
        fork = f"/repos/{by}/widgets"
        if not self._through.get(fork).is_success:
            self._as("POST", f"{REPO}/forks", by, {})
        tip = self._as("GET", f"{fork}/branches/main", by)["commit"]["sha"]
        self._as("POST", f"{fork}/git/refs", by, {"ref": f"refs/heads/{branch}", "sha": tip})
        content = base64.b64encode(branch.encode()).decode()
        change = {"message": title, "branch": branch, "content": content}
        self._as("PUT", f"{fork}/contents/{branch}.txt", by, change)
        asked = {"title": title, "body": body, "head": f"{by}:{branch}", "base": "main"}
        made: dict[str, Json] = self._as("POST", f"{REPO}/pulls", by, asked | {"draft": draft})
        return made

    def comment(self, number: int, body: str, *, by: str) -> dict[str, Json]:
        """Write a comment as a seeded user."""
        path = f"{REPO}/issues/{number}/comments"
        made: dict[str, Json] = self._as("POST", path, by, {"body": body})
        return made

    def edit_pull(self, number: int, *, by: str, **to: Json) -> dict[str, Json]:
        """Change `title`, `body` or `state` as a seeded user."""
        made: dict[str, Json] = self._as("PATCH", f"{REPO}/pulls/{number}", by, to)
        return made

    def put_file(self, path: str, text: str, *, by: str = "olivia") -> None:
        """Write a new file to the default branch."""
        content = base64.b64encode(text.encode()).decode()
        change = {"message": f"Add {path}", "branch": "main", "content": content}
        self._as("PUT", f"{REPO}/contents/{path}", by, change)

    def sign_in(self, authorize_url: str, user: str) -> str:
        """Click through the sign-in page as a user; where GitHub would send the browser."""
        query = httpx.URL(authorize_url).params
        page = self._through.get(authorize_url)
        if not page.is_success:
            raise RuntimeError(f"{page.status_code} {page.text[-500:]}")
        keys = ("redirect_uri", "scope", "state", "client_id")
        form = {"login": user} | {key: query.get(key, "") for key in keys}
        answer = self._through.post("/login/oauth/callback", data=form)
        return str(answer.headers["location"])

    def pull(self, number: int) -> dict[str, Json]:
        """A pull request as it is now."""
        found: dict[str, Json] = self._as("GET", f"{REPO}/pulls/{number}", "olivia")
        return found

    def labels(self, number: int) -> list[str]:
        """Names of its labels."""
        return [label["name"] for label in self.pull(number)["labels"]]

    def comments(self, number: int) -> list[dict[str, Json]]:
        """Its comments, the oldest first."""
        path = f"{REPO}/issues/{number}/comments?per_page=100"
        found: list[dict[str, Json]] = self._as("GET", path, "olivia")
        return found

    def check_runs(self, sha: str) -> list[dict[str, Json]]:
        """Check runs on a commit."""
        found = self._as("GET", f"{REPO}/commits/{sha}/check-runs", "olivia")
        runs: list[dict[str, Json]] = found["check_runs"]
        return runs

    def stop(self) -> None:
        """End everything."""
        self._process.terminate()
        self._process.wait(10)
        self._door.stop()
        self.client.close()
        self._through.close()
        self._folder.cleanup()
        if self._door.failures:
            raise RuntimeError(self._door.failures[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
