"""Many pull requests put back in one go: labels, states and comments, as a maintainer's word."""

from collections.abc import Sequence
from datetime import datetime

from app.core.audit import Entry, Place, by_hand
from app.core.facts import Hand, HandAct
from app.core.github import Account
from app.core.said import Catalogues
from app.db import audit, people, undos
from app.db.engine import Tx
from app.db.installations import Standing
from app.flows import fairness
from app.flows.fairness import Rings
from app.flows.waves import ask_all


def undo(  # noqa: PLR0913 - what is taken back, by whom
    tx: Tx,
    standing: Standing,
    found: Sequence[tuple[int, int]],
    what: str,
    by: Account,
    catalogues: Catalogues,
    now: datetime,
) -> tuple[int, Rings]:
    """Takes back what the gate did on these, (case id, number); answers the undo's id.

    From then on the gate leaves each of them alone, as after `/pulse undo`. The acts are paced and
    carried out like all others.
    """
    here = standing.repository
    made = undos.add(tx, here.id, what, [case_id for case_id, _ in found], by, now)
    _by_hand(tx, standing, found, "undone", by, f"undo: {what}", now)
    place = Place(installation_id=here.installation_id, repository_id=here.id)
    detail = {"undo": made, "pulls": len(found)}
    audit.note(tx, place, Entry(at=now, act="undo", by=by, detail=detail))
    numbers = [number for _, number in found]
    rings: Rings = [("triage", id_) for id_ in ask_all(tx, standing, numbers, f"undo:{made}", now)]
    case_ids = [case_id for case_id, _ in found]
    return made, rings + fairness.undone(tx, standing, case_ids, by, catalogues, now)


def take_back(tx: Tx, standing: Standing, undo_id: int, by: Account, now: datetime) -> Rings:
    """Takes an undo back: the rules apply again to what it left alone."""
    if not undos.end(tx, undo_id, now):
        return []
    found = undos.cases_of(tx, undo_id)
    _by_hand(tx, standing, found, "released", by, f"undo {undo_id} was taken back", now)
    here = standing.repository
    place = Place(installation_id=here.installation_id, repository_id=here.id)
    audit.note(tx, place, Entry(at=now, act="undo.taken_back", by=by, detail={"undo": undo_id}))
    numbers = [number for _, number in found]
    return [("triage", id_) for id_ in ask_all(tx, standing, numbers, f"redo:{undo_id}", now)]


def _by_hand(  # noqa: PLR0913
    tx: Tx,
    standing: Standing,
    found: Sequence[tuple[int, int]],
    act: HandAct,
    by: Account,
    reason: str,
    now: datetime,
) -> None:
    here = standing.repository
    hand = Hand(act=act, account_id=by.id, login=by.login, at=now, reason=reason)
    for case_id, number in found:
        people.add_hands(tx, case_id, [hand])
        place = Place(installation_id=here.installation_id, repository_id=here.id, number=number)
        audit.note(tx, place, by_hand(hand))
