"""Sign-in with GitHub: OAuth 2 with PKCE and state, by Authlib. Only says who somebody is.

What they may do is asked of each repository, live. Their token is used once and not kept.
"""

import hmac
from dataclasses import dataclass, field

import httpx
from authlib.common.security import generate_token
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.client import OAuth2Client

from app.adapters.github.client import TIMEOUT, AppCredentials, public
from app.adapters.github.errors import UNREADABLE, narrow
from app.adapters.github.tokens import is_token
from app.core.errors import RetryLater, UserError
from app.core.github import Account
from app.core.text import one_line

_AGAIN = "Start the sign-in again."


@dataclass(frozen=True)
class Begun:
    """A sign-in under way. `state` and `verifier` belong into the visitor's own session."""

    url: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)


class SignIn:
    """Sign-in through the App's own OAuth client.

    `web_url` is `https://github.com` or a GHES host, `redirect_uri` one of the App's callbacks.
    """

    def __init__(
        self,
        credentials: AppCredentials,
        *,
        api_url: str,
        web_url: str,
        redirect_uri: str,
        timeout: float = TIMEOUT,
    ) -> None:
        self._credentials = credentials
        self._api_url = api_url
        self._web_url = web_url.rstrip("/")
        self._redirect_uri = redirect_uri
        self._timeout = timeout

    def begin(self) -> Begun:
        """Where to send the visitor."""
        verifier = generate_token(64)
        # No session: nothing is sent here, and one costs 20 ms that any stranger could ask for.
        url, state = self._client(None).create_authorization_url(
            f"{self._web_url}/login/oauth/authorize",
            state=generate_token(40),
            code_verifier=verifier,
        )
        return Begun(url=url, state=state, verifier=verifier)

    def finish(self, *, code: str, state: str, begun_state: str, verifier: str) -> Account:
        """Who came back with `code` and `state`.

        `UserError` where the answer does not belong to this sign-in or GitHub refuses the code.
        """
        if not begun_state or not hmac.compare_digest(_bytes(state), _bytes(begun_state)):
            raise UserError("This sign-in was begun elsewhere or long ago.", hint=_AGAIN)
        token = self._token(code, verifier)
        with public(self._api_url, token, timeout=self._timeout) as github:
            return narrow(Account, github.read("/user").payload)

    def _token(self, code: str, verifier: str) -> str:
        try:
            with httpx.Client(timeout=self._timeout) as session:
                answer = self._client(session).fetch_token(
                    f"{self._web_url}/login/oauth/access_token",
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=verifier,
                    client_id=self._credentials.client_id,
                    client_secret=self._credentials.client_secret,
                    # GitHub takes the client's secret in the body, so that httpx adds nothing.
                    auth=httpx.Auth(),
                )
        except OAuth2Error as error:
            said = one_line(error.description or error.error, 200)
            raise UserError(f"GitHub refused the sign-in ({said}).", hint=_AGAIN) from error
        except httpx.HTTPError as error:
            raise RetryLater(f"no answer from GitHub ({type(error).__name__})") from error
        except (ValueError, TypeError) as error:
            raise RetryLater(UNREADABLE) from error
        token = answer.get("access_token")
        if not is_token(token):
            raise RetryLater(f"{UNREADABLE} (no token)")
        return str(token)

    def _client(self, session: httpx.Client | None) -> OAuth2Client:
        """Authlib's client over httpx; its own httpx integration is deprecated for httpx2."""
        return OAuth2Client(
            session,
            client_id=self._credentials.client_id,
            token_endpoint_auth_method="none",  # noqa: S106 - a method, no secret
            redirect_uri=self._redirect_uri,
            code_challenge_method="S256",
        )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
