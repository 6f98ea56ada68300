"""Who may see what of which repository: by live permission there, kept for minutes.

An error is no permission: what GitHub did not answer for is not shown.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import datetime
from threading import BoundedSemaphore

from app.core.errors import Rejected, RetryLater
from app.core.fact import Fact
from app.core.facts import RepositoryRef, Role
from app.core.github import Account
from app.core.ports import Reader
from app.db import people
from app.db.engine import Database
from app.db.installations import Standing
from app.flows.naming import who_answers

# Reads under way at once, for all visitors together, and visitors who may wait for theirs: the
# rest of the process (webhooks) must not stand still because GitHub is slow.
READS = 8
_VISITORS = 6
_TURN_SECONDS = 2.0
_ANSWER_SECONDS = 8.0
# Somebody signed in with rights nowhere must not use up the App's requests.
MOST_ASKED = 200
_BUSY = "GitHub is slow to answer just now"


class Roles(Fact):
    """Permissions by repository id; `unknown` says for the others why there is no answer."""

    known: dict[int, Role]
    unknown: dict[int, str]

    def seen_by(self, least: Role) -> frozenset[int]:
        """The repositories on which the permission is `least` or more."""
        return frozenset(where for where, role in self.known.items() if role >= least)


class Access:
    """Asks for permissions. Thread-safe; build it after any fork."""

    def __init__(self, database: Database, reader: Reader, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._reader = reader
        self._clock = clock
        self._pool = ThreadPoolExecutor(READS, thread_name_prefix="permissions")
        self._turns = BoundedSemaphore(_VISITORS)

    def roles(self, account: Account, repositories: Sequence[RepositoryRef]) -> Roles:
        """The account's permission on each repository, one request for each not asked lately."""
        with self._database.begin() as tx:
            known = people.roles(tx, account.id, [r.id for r in repositories], self._clock())
            asked = people.asked_lately(tx, account.id, self._clock())
        missing = [r for r in repositories if r.id not in known]
        if not missing:
            return Roles(known=known, unknown={})
        room = max(0, MOST_ASKED - asked)
        unknown = {
            r.id: "too many repositories were asked for in five minutes" for r in missing[room:]
        }
        found, failed = self._ask(account, missing[:room])
        return Roles(known=known | found, unknown=unknown | failed)

    def who_answers(self, standing: Standing, author: str) -> str | None:
        """Who is asked to answer an author's appeal; nobody where GitHub does not answer."""
        where = standing.repository
        try:
            return who_answers(
                self._database,
                where.id,
                standing.policy.appeals,
                author,
                lambda login: self._reader.account(where, login),
                lambda account: self.roles(account, [where]).known.get(where.id),
            )
        except (RetryLater, Rejected):
            return None

    def _ask(
        self, account: Account, missing: Sequence[RepositoryRef]
    ) -> tuple[dict[int, Role], dict[int, str]]:
        if not missing or not self._turns.acquire(timeout=_TURN_SECONDS):
            return {}, {r.id: _BUSY for r in missing}
        try:
            until = time.monotonic() + _ANSWER_SECONDS
            futures = {r.id: self._pool.submit(self._one, account, r, until) for r in missing}
            wait(futures.values(), timeout=_ANSWER_SECONDS)
        finally:
            self._turns.release()
        found: dict[int, Role] = {}
        failed: dict[int, str] = {}
        for where, future in futures.items():
            role = _result(future)
            if isinstance(role, Role):
                found[where] = role
            else:
                failed[where] = role
        return found, failed

    def _one(self, account: Account, repository: RepositoryRef, until: float) -> Role | str:
        """A role, kept; or why there is none."""
        if time.monotonic() > until:
            return _BUSY  # nobody waits for it any more
        began = self._clock()
        try:
            role = self._reader.role(repository, account)
            with self._database.begin() as tx:
                people.keep_role(tx, repository.id, account.id, role, began)
        except (RetryLater, Rejected) as error:
            return error.reason
        return role

    def close(self) -> None:
        """Ends the threads; what is under way is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[Role | str]) -> Role | str:
    return future.result() if future.done() else _BUSY
