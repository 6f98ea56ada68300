"""`pulsegate trust`: words on accounts from and to a VOUCHED.td list."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.core.errors import Rejected, RetryLater, UserError
from app.core.facts import Trust
from app.core.github import Account
from app.core.orders import VOUCH_DAYS
from app.core.trust_list import TrustLine, Unread, parse, render
from app.db import installations, reports, trust
from app.flows import trusting
from app.settings import Settings
from app.wiring.base import Base

# Whoever runs the command line is no account of GitHub's.
OPERATOR = Account(id=0, login="operator")
MOST_BYTES = 2_000_000


def import_list(
    settings: Settings, full_name: str, file: Path, tell: Callable[[int, int], None]
) -> tuple[int, list[Unread], list[str]]:
    """Takes a list in: how many are new, lines that cannot be read, logins that nobody has.

    Only the account that GitHub names by a login now counts, by its numeric id.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")[:MOST_BYTES]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {error}", hint="Name a text file.") from None
    lines, wrong = parse(text)
    base = Base(settings, pool_size=2)
    try:
        with base.database.begin() as tx:
            owner, _, name = full_name.partition("/")
            where = reports.place_named(tx, owner, name, live_first=True)
            standing = installations.standing(tx, where.id) if where else None
        if standing is None or standing.recorded or standing.gone:
            raise UserError(
                f"{full_name} is no repository that the App is installed on",
                hint="Write owner/name.",
            )
        reader, now, new, nobody = base.reader(), datetime.now(UTC), 0, []
        for count, line in enumerate(lines, 1):
            tell(count, len(lines))
            try:
                account = reader.account(standing.repository, line.login)
            except (RetryLater, Rejected) as error:
                raise UserError(
                    f"GitHub did not answer for {line.login}: {error.reason}",
                    hint="Run it again later: what is there already is left as it is.",
                ) from None
            if account is None:
                nobody.append(line.login)
                continue
            with base.database.begin() as tx:
                known = trust.current(tx, standing.repository.id, account.id, now)
                if known is not None and (known.kind == "denied") == line.denied:
                    continue
                # The sweep finds whom it wakes up.
                trusting.put(tx, standing, account, OPERATOR, _word(line, now))
                new += 1
    finally:
        base.close()
    return new, wrong, nobody


def _word(line: TrustLine, now: datetime) -> Trust:
    return Trust(
        kind="denied" if line.denied else "vouched",
        by_login=OPERATOR.login,
        at=now,
        until=None if line.denied else now + timedelta(days=VOUCH_DAYS),
        reason=line.reason,
    )


def export_list(settings: Settings, full_name: str, *, denied: bool) -> str:
    """The list of a repository. Denials only if asked for: they are never public."""
    base = Base(settings, pool_size=1)
    try:
        with base.database.begin() as tx:
            owner, _, name = full_name.partition("/")
            where = reports.place_named(tx, owner, name, live_first=True)
            if where is None:
                raise UserError(
                    f"{full_name} is no repository of this Pulsegate", hint="Write owner/name."
                )
            found = trust.listed(tx, where.id, datetime.now(UTC))
    finally:
        base.close()
    wanted = {"vouched", "denied"} if denied else {"vouched"}
    return render(
        TrustLine(login=one.login, denied=one.kind == "denied", reason=one.reason)
        for one in found
        if one.kind in wanted
    )
