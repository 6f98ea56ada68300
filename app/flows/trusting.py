"""Words on accounts beside the commands: taken back from a page, imported from a list."""

from datetime import datetime

from app.core.audit import Entry, Place, trusted
from app.core.facts import Trust
from app.core.github import Account
from app.db import audit, trust
from app.db.engine import Tx
from app.db.installations import Standing
from app.flows import waves
from app.flows.fairness import Rings


def end(tx: Tx, standing: Standing, of: Account, by: Account, now: datetime) -> Rings:
    """A maintainer takes back what was said of an account."""
    here = standing.repository
    if not trust.end(tx, here.id, of.id, now):
        return []
    place = Place(installation_id=here.installation_id, repository_id=here.id)
    audit.note(tx, place, Entry(at=now, act="trust.ended", by=by, of=of))
    return _again(tx, standing, of.id, f"trust-end:{of.id}:{now.isoformat()}", now)


def put(tx: Tx, standing: Standing, of: Account, by: Account, word: Trust) -> Rings:
    """A word on an account, from a list; its pull requests are decided anew."""
    here = standing.repository
    if not trust.put(tx, here.id, of, by.id, word):
        return []
    place = Place(installation_id=here.installation_id, repository_id=here.id)
    audit.note(tx, place, trusted(by, of, word))
    return _again(tx, standing, of.id, f"trust-put:{of.id}:{word.at.isoformat()}", word.at)


def _again(tx: Tx, standing: Standing, account_id: int, cause: str, now: datetime) -> Rings:
    asked = waves.of_account(tx, standing, account_id, 0, cause, now)
    return [("triage", id_) for id_ in asked]
