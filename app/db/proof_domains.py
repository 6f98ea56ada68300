"""Domains of proven addresses: where a repository asks for them, and while somebody needs them."""

from datetime import datetime

from sqlalchemy import delete, exists, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core.fact import Fact
from app.core.proofs.addresses import Tier
from app.db.engine import Tx
from app.db.tables import cases, proof_domains, proof_tokens, proofs


class Domain(Fact):
    """The registrable domain of an address that proves an account, and until when it is kept."""

    domain: str
    tier: Tier
    until: datetime


def keep(  # noqa: PLR0913 - the columns of the row
    tx: Tx, proof_id: int, account_id: int, repository_id: int, domain: str, until: datetime
) -> None:
    """Keeps the domain of a proof for a repository."""
    made = insert(proof_domains).values(
        proof_id=proof_id,
        account_id=account_id,
        repository_id=repository_id,
        domain=domain,
        until=until,
    )
    tx.execute(made.on_conflict_do_nothing())


def of_author(tx: Tx, repository_id: int, account_id: int, now: datetime) -> tuple[Domain, ...]:
    """Those that prove an account now, for the maintainers of the repository that keeps them."""
    rows = (
        select(proof_domains.c.domain, proofs.c.tier, proof_domains.c.until)
        .join(proofs, proofs.c.id == proof_domains.c.proof_id)
        .where(
            proof_domains.c.account_id == account_id,
            proof_domains.c.repository_id == repository_id,
            proof_domains.c.until > now,
            proofs.c.until > now,
            proofs.c.revoked_at.is_(None),
        )
        .order_by(proof_domains.c.proof_id)
    )
    return tuple(Domain(**row) for row in tx.execute(rows).mappings())


def of_account(tx: Tx, account_id: int) -> tuple[Domain, ...]:
    """All that are kept of an account, for its owner."""
    rows = (
        select(proof_domains.c.domain, proofs.c.tier, proof_domains.c.until)
        .join(proofs, proofs.c.id == proof_domains.c.proof_id)
        .where(proof_domains.c.account_id == account_id)
        .order_by(proof_domains.c.proof_id)
    )
    return tuple(Domain(**row) for row in tx.execute(rows).mappings())


def repositories(tx: Tx) -> list[int]:
    """Those that domains are kept for."""
    return list(tx.execute(select(proof_domains.c.repository_id).distinct()).scalars())


def drop_of_repository(tx: Tx, repository_id: int) -> None:
    """Deletes all that are kept for a repository: it does not ask for them any more."""
    tx.execute(delete(proof_domains).where(proof_domains.c.repository_id == repository_id))
    tx.execute(
        update(proof_tokens)
        .where(proof_tokens.c.repository_id == repository_id, proof_tokens.c.domain.is_not(None))
        .values(domain=None)
    )


def forget(tx: Tx, now: datetime) -> None:
    """Deletes those that nobody needs: past their time, of an ended proof, or with nothing to decide."""
    ended = exists().where(
        proofs.c.id == proof_domains.c.proof_id,
        or_(proofs.c.until <= now, proofs.c.revoked_at.is_not(None)),
    )
    undecided = exists().where(
        cases.c.repository_id == proof_domains.c.repository_id,
        cases.c.author_id == proof_domains.c.account_id,
        # What we closed is opened again in a moment, or is a maintainer's to decide on.
        or_(cases.c.pull_state == "open", cases.c.closed_at.is_not(None)),
    )
    tx.execute(delete(proof_domains).where(or_(proof_domains.c.until <= now, ended, ~undecided)))
    tx.execute(
        update(proof_tokens)
        .where(
            proof_tokens.c.domain.is_not(None),
            or_(proof_tokens.c.expires_at <= now, proof_tokens.c.used_at.is_not(None)),
        )
        .values(domain=None)
    )
