"""The facts of a decision that stand in our own rows, and the author's permission."""

from datetime import timedelta

from app.core.facts import Facts, Role
from app.core.features import RATE_MINUTES
from app.core.policy import Policy
from app.core.proofs.standing import enough
from app.core.rules import burst
from app.db import appeals, campaigns, cases, experience, neighbours, people, proofs, trust
from app.db.engine import Database
from app.flows.evidence import Evidence, Roles


def burst_window(minutes: int) -> timedelta:
    """How far around a pull request its author's others are looked at."""
    return timedelta(minutes=max(minutes, RATE_MINUTES))


def _lately(policy: Policy) -> timedelta:
    earned = policy.trust.earned
    return timedelta(days=earned.days if earned else 0)


def facts_of(
    database: Database, row: cases.Row, evidence: Evidence, roles: Roles, policy: Policy
) -> Facts:
    """All but what it changes: at most one read of GitHub, the author's permission."""
    author = row.pull.user
    role = Role.NONE if author is None else roles.of(author)
    rule, repository_id, at = policy.of(burst.RULE), row.case.repository_id, row.pull.created_at
    with database.begin() as tx:
        known = Facts(
            pull=row.pull,
            role=role,
            hands=people.hands_on(tx, row.case.id),
            requests=tuple(evidence.requests),
            answers=tuple(evidence.obeyed.answers) or row.case.answers,
            asked=row.asked,
            appeal=appeals.open_on(tx, row.case.id),
            appeal_lapsed=appeals.lapsed_on(tx, row.case.id),
            installed_at=roles.standing.installed_at,
            local=experience.of(tx, repository_id),
        )
        if author is None:
            return known
        near = burst_window(rule.minutes)
        here = roles.standing.repository
        proof = enough(
            policy.proofs,
            proofs.of_account(tx, author.id, here.installation_id, repository_id, roles.now),
            roles.now,
        )
        anywhere = rule.everywhere
        return known.model_copy(
            update={
                "opened": cases.opened_near(tx, repository_id, author.id, at, near),
                "opened_anywhere": neighbours.opened_anywhere(
                    tx,
                    author.id,
                    at,
                    timedelta(minutes=anywhere.minutes),
                    recorded=roles.standing.recorded,
                )
                if anywhere
                else (),
                "open_pulls": neighbours.open_pulls(tx, repository_id, author.id),
                "trust": trust.current(
                    tx, repository_id, author.id, roles.now, shared=policy.trust.shared
                ),
                "proof": proof,
                "campaign": campaigns.word_on(tx, row.case.id, proof.at if proof else None),
                "history": cases.history(
                    tx, repository_id, author.id, row.case.number, roles.now - _lately(policy)
                ),
            }
        )
