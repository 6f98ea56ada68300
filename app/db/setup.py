"""The GitHub App that `/setup` made: one row, written once."""

from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from app.core.fact import Fact
from app.db.engine import Tx
from app.db.tables import app_setup

_ONLY = 1


class Setup(Fact):
    """How far `/setup` got. `sealed`: the credentials as the vault keeps them."""

    nonce: str
    sealed: bytes | None
    html_url: str | None

    @property
    def done(self) -> bool:
        """Whether an App is stored; `/setup` is closed from then on."""
        return self.sealed is not None


def get(tx: Tx) -> Setup | None:
    """The row; None before `begin`."""
    row = tx.execute(
        select(
            app_setup.c.nonce,
            app_setup.c.credentials.label("sealed"),
            app_setup.c.html_url,
        ).where(app_setup.c.id == _ONLY)
    ).one_or_none()
    return Setup(**row._mapping) if row else None  # noqa: SLF001 - SQLAlchemy's public name for it


def begin(tx: Tx, fresh_nonce: str) -> Setup:
    """The row, made with this nonce if there is none: all processes agree on one nonce."""
    made = insert(app_setup).values(id=_ONLY, nonce=fresh_nonce)
    tx.execute(made.on_conflict_do_nothing(index_elements=["id"]))
    found = get(tx)
    if found is None:
        raise RuntimeError("app_setup has no row although one was just made")
    return found


def store(  # noqa: PLR0913 - the columns of the row
    tx: Tx, *, sealed: bytes, app_id: int, slug: str, html_url: str, now: datetime
) -> bool:
    """Keeps the App; False where another one is there already, which stays."""
    changed = tx.execute(
        update(app_setup)
        .where(app_setup.c.id == _ONLY, app_setup.c.done_at.is_(None))
        .values(credentials=sealed, app_id=app_id, slug=slug, html_url=html_url, done_at=now)
    )
    return changed.rowcount == 1
