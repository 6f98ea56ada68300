"""Read-only queries for pages: which repositories, and their decisions.

All of them are bounded by indexes on (repository, time) or (repository, state, time), so that a
page costs the same with a thousand and with a million pull requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.exc import ProgrammingError

from app.core.decision import CaseState
from app.core.effects import EffectKind, EffectState
from app.core.fact import Fact
from app.core.facts import RepositoryRef
from app.core.modes import Mode
from app.core.rules.base import Finding
from app.core.scoring import Score
from app.db.engine import Tx

_TALLY_ROWS = 5000


class Place(RepositoryRef):
    """A repository that pages may be about. `recorded`: it comes from a recording."""

    recorded: bool


class Key(Fact):
    """Where a page of the list ends: decisions older than this come next."""

    decided_at: datetime
    case_id: int


class Done(Fact):
    """What became of the newest effect of one kind. `word` says of a label `on` or `off`."""

    kind: EffectKind
    word: str
    state: EffectState
    reason: str | None


class Line(Fact):
    """One pull request with its last decision."""

    case_id: int
    place: Place
    number: int
    title: str
    author: str | None
    author_id: int | None
    opened_at: datetime
    decided_at: datetime
    state: CaseState
    mode: Mode
    rung: Mode
    summary: str
    findings: tuple[Finding, ...]
    score: Score
    done: tuple[Done, ...] = ()

    @property
    def key(self) -> Key:
        """Its place in the list."""
        return Key(decided_at=self.decided_at, case_id=self.case_id)


class Stretch(Fact):
    """What one account opened in one repository between two times."""

    repository_id: int
    author_id: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True)
class Wanted:
    """Which decisions a page is to show: of these repositories, and further narrowed."""

    places: Sequence[Place]
    state: CaseState | None = None
    author_id: int | None = None
    before: Key | None = None

    @property
    def ids(self) -> list[int]:
        """The repositories' ids."""
        return [p.id for p in self.places]


def schema_revision(tx: Tx) -> str | None:
    """The revision that the schema is at; None where no migration ever ran."""
    try:
        found = tx.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    except ProgrammingError:
        return None
    return None if found is None else str(found)


def places(tx: Tx, *, recorded: bool, limit: int = 1000) -> list[Place]:
    """Repositories with decisions, the most lately decided first: recordings, or real ones."""
    rows = tx.execute(
        text(
            """
            SELECT r.id, r.installation_id, r.owner, r.name, :recorded AS recorded
            FROM repositories r
            JOIN installations i ON i.id = r.installation_id
            CROSS JOIN LATERAL (
                SELECT decided_at FROM cases
                WHERE repository_id = r.id AND decided_at IS NOT NULL
                ORDER BY decided_at DESC, id DESC LIMIT 1
            ) newest
            WHERE (i.recording IS NOT NULL) = :recorded
                AND r.removed_at IS NULL AND i.deleted_at IS NULL
            ORDER BY newest.decided_at DESC, r.id LIMIT :limit
            """
        ),
        {"recorded": recorded, "limit": limit},
    )
    return [Place(**row) for row in rows.mappings()]


def place_named(tx: Tx, owner: str, name: str, *, live_first: bool) -> Place | None:
    """The repository that bears this name now, whatever its case.

    A recording may bear the name of a live one: `live_first` says which of the two is meant.
    """
    row = (
        tx.execute(
            text(
                """
                SELECT r.id, r.installation_id, r.owner, r.name,
                    i.recording IS NOT NULL AS recorded
                FROM repositories r JOIN installations i ON i.id = r.installation_id
                WHERE lower(r.owner) = lower(:owner) AND lower(r.name) = lower(:name)
                    AND r.removed_at IS NULL AND i.deleted_at IS NULL
                ORDER BY (i.recording IS NULL) = :live_first DESC, r.installed_at DESC LIMIT 1
                """
            ),
            {"owner": owner, "name": name, "live_first": live_first},
        )
        .mappings()
        .one_or_none()
    )
    return Place(**row) if row else None


def place_by_id(tx: Tx, repository_id: int) -> Place | None:
    """A repository by its id, while the App may act there."""
    row = (
        tx.execute(
            text(
                """
                SELECT r.id, r.installation_id, r.owner, r.name,
                    i.recording IS NOT NULL AS recorded
                FROM repositories r JOIN installations i ON i.id = r.installation_id
                WHERE r.id = :id AND r.removed_at IS NULL AND i.deleted_at IS NULL
                """
            ),
            {"id": repository_id},
        )
        .mappings()
        .one_or_none()
    )
    return Place(**row) if row else None


def policy_errors(tx: Tx, ids: Sequence[int], limit: int = 3) -> list[tuple[str, str]]:
    """Of these repositories, those whose configuration is wrong: `owner/name` and the error."""
    rows = tx.execute(
        text(
            """
            SELECT r.owner || '/' || r.name, coalesce(r.policy_error, i.policy_error)
            FROM repositories r JOIN installations i ON i.id = r.installation_id
            WHERE r.id = ANY(:ids) AND coalesce(r.policy_error, i.policy_error) IS NOT NULL
            ORDER BY r.policy_read_at DESC LIMIT :limit
            """
        ),
        {"ids": list(ids), "limit": limit},
    )
    return [(name, error) for name, error in rows]


def anything_installed(tx: Tx) -> bool:
    """Whether the App is on any account, recordings left out."""
    row = tx.execute(
        text("SELECT 1 FROM installations WHERE recording IS NULL AND deleted_at IS NULL LIMIT 1")
    )
    return row.scalar_one_or_none() is not None


def decisions(tx: Tx, wanted: Wanted, *, limit: int, without: Sequence[Stretch] = ()) -> list[Line]:
    """The list, newest first, at most `limit` lines; what a rule applies to within `without` is left out."""
    if not wanted.places:
        return []
    conditions = ["c.repository_id = r.id", "c.decided_at IS NOT NULL"]
    given: dict[str, Any] = {"ids": wanted.ids, "limit": limit}
    if wanted.state is not None:
        conditions.append("c.state = :state")
        given["state"] = wanted.state
    if wanted.author_id is not None:
        conditions.append("c.author_id = :author")
        given["author"] = wanted.author_id
    if wanted.before is not None:
        conditions.append("(c.decided_at, c.id) < (:before_at, :before_id)")
        given |= {"before_at": wanted.before.decided_at, "before_id": wanted.before.case_id}
    if without:
        conditions.append(_NOT_IN_FLOOD)
        given |= _arrays(without)
    found = tx.execute(
        text(
            f"""
            SELECT c.id FROM unnest(CAST(:ids AS bigint[])) AS r(id)
            CROSS JOIN LATERAL (
                SELECT c.id, c.decided_at FROM cases c WHERE {" AND ".join(conditions)}
                ORDER BY c.decided_at DESC, c.id DESC LIMIT :limit
            ) c
            ORDER BY c.decided_at DESC, c.id DESC LIMIT :limit
            """  # noqa: S608 - the conditions are the constants above
        ),
        given,
    )
    return lines_of(tx, wanted, list(found.scalars()))


_NOT_IN_FLOOD = """NOT (c.state IN ('flagged', 'closed') AND EXISTS (
    SELECT 1 FROM unnest(
        CAST(:flood_repositories AS bigint[]), CAST(:flood_authors AS bigint[]),
        CAST(:flood_starts AS timestamptz[]), CAST(:flood_ends AS timestamptz[])
    ) AS f(repository_id, author_id, starts, ends)
    WHERE f.repository_id = c.repository_id AND f.author_id = c.author_id
        AND c.opened_at BETWEEN f.starts AND f.ends))"""


def _arrays(without: Sequence[Stretch]) -> dict[str, Any]:
    return {
        "flood_repositories": [f.repository_id for f in without],
        "flood_authors": [f.author_id for f in without],
        "flood_starts": [f.first_at for f in without],
        "flood_ends": [f.last_at for f in without],
    }


def tally(tx: Tx, wanted: Wanted) -> dict[CaseState, int]:
    """Pull requests by state, of those decided within a day of the newest decision."""
    rows = tx.execute(
        text(
            """
            WITH recent AS (
                SELECT c.* FROM unnest(CAST(:ids AS bigint[])) AS r(id)
                CROSS JOIN LATERAL (
                    SELECT state, decided_at FROM cases
                    WHERE repository_id = r.id AND decided_at IS NOT NULL
                    ORDER BY decided_at DESC, id DESC LIMIT :rows
                ) c
            )
            SELECT state, count(*) FROM recent
            WHERE decided_at > (SELECT max(decided_at) FROM recent) - interval '1 day'
            GROUP BY state ORDER BY count(*) DESC, state
            """
        ),
        {"ids": wanted.ids, "rows": _TALLY_ROWS},
    )
    return {CaseState(state): int(n) for state, n in rows.all()}


def lines_of(tx: Tx, wanted: Wanted, ids: Sequence[int]) -> list[Line]:
    """The cases with these ids, in this order."""
    if not ids:
        return []
    rows = tx.execute(
        text(
            """
            SELECT c.id AS case_id, c.repository_id, c.number, c.snapshot->>'title' AS title,
                c.snapshot->'user'->>'login' AS author, c.author_id, c.opened_at,
                c.decided_at, c.state, d.decision->'mode' AS mode, d.decision->'rung' AS rung,
                d.decision->>'summary' AS summary, d.decision->'findings' AS findings,
                d.decision->'score' AS score
            FROM cases c
            JOIN decisions d ON d.case_id = c.id AND d.version = c.version
            WHERE c.id = ANY(:ids)
            """
        ),
        {"ids": list(ids)},
    ).mappings()
    by_id = {row["case_id"]: row for row in rows}
    found = [by_id[i] for i in ids if i in by_id]
    done = _newest_effects(tx, [(r["repository_id"], r["number"]) for r in found])
    places_by_id = {p.id: p for p in wanted.places}
    return [_line(r, places_by_id[r["repository_id"]], done) for r in found]


def _line(row: RowMapping, place: Place, done: dict[tuple[int, int], list[Done]]) -> Line:
    fields = {name: row[name] for name in row if name != "repository_id"}
    acts = done.get((row["repository_id"], row["number"]), [])
    return Line(place=place, done=tuple(acts), **fields)


def _newest_effects(tx: Tx, pulls: Sequence[tuple[int, int]]) -> dict[tuple[int, int], list[Done]]:
    """The newest effect of each kind, by (repository id, number)."""
    rows = tx.execute(
        text(
            """
            SELECT DISTINCT ON (o.repository_id, o.number, o.kind) o.repository_id, o.number,
                o.kind, o.state, o.reason, o.effect
            FROM unnest(CAST(:repositories AS bigint[]), CAST(:numbers AS bigint[]))
                AS p(repository_id, number)
            JOIN outbox o ON o.repository_id = p.repository_id AND o.number = p.number
            ORDER BY o.repository_id, o.number, o.kind, o.id DESC
            """
        ),
        {"repositories": [r for r, _ in pulls], "numbers": [n for _, n in pulls]},
    )
    found: dict[tuple[int, int], list[Done]] = {}
    for row in rows.mappings():
        word = ""
        if row["kind"] == "label":
            word = "on" if row["effect"]["present"] else "off"
        made = Done(kind=row["kind"], word=word, state=row["state"], reason=row["reason"])
        found.setdefault((row["repository_id"], row["number"]), []).append(made)
    return found


def newest(tx: Tx, repository_id: int) -> datetime | None:
    """When the latest pull request of a repository was opened."""
    found = tx.execute(
        text("SELECT max(opened_at) FROM cases WHERE repository_id = :id"), {"id": repository_id}
    ).scalar_one()
    return found if isinstance(found, datetime) else None


def login_of(tx: Tx, repository_id: int, account_id: int) -> str | None:
    """The login of an account when it last opened a pull request here; None for nobody."""
    found = tx.execute(
        text(
            "SELECT snapshot->'user'->>'login' FROM cases"
            " WHERE repository_id = :here AND author_id = :id ORDER BY opened_at DESC LIMIT 1"
        ),
        {"here": repository_id, "id": account_id},
    ).scalar_one_or_none()
    return None if found is None else str(found)


def oldest(tx: Tx, repository_id: int) -> datetime | None:
    """When the first pull request of a repository that we know was opened."""
    found = tx.execute(
        text("SELECT min(opened_at) FROM cases WHERE repository_id = :id"), {"id": repository_id}
    ).scalar_one()
    return found if isinstance(found, datetime) else None
