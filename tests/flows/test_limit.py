"""The last rung: GitHub's own limit on the whole repository, where it is asked for and granted."""

from typing import Any

import pytest

LIMIT = (
    "version: 1\nmode: close\nrules: {burst: {mode: close, prs: 5, minutes: 10}}\n"
    "ladder: {limit: {closes: 5, minutes: 60, group: contributors_only, expiry: three_days}}\n"
)
WITHOUT = LIMIT[: LIMIT.index("ladder")]


@pytest.fixture
def flooded(gate: Any, request: pytest.FixtureRequest) -> Any:
    """A flood of five under a policy, with or without the optional grant."""
    policy, granted, there = request.param
    gate.policy(policy)
    repository = gate.world.repository("acme/widgets")
    repository.limit = there
    installation = gate.world.installations[0]
    if granted:
        installation.permissions["administration"] = "write"
    for n in range(5):
        gate.world.open_pull(by="stranger", title=f"Improve module {n}")
    gate.settle()
    assert all(p.state == "closed" for p in repository.pulls.values())
    gate.clock.pass_(seconds=10)
    gate.sweep.ring()
    gate.settle()
    return gate


def _limit(gate: Any) -> Any:
    return gate.world.repository("acme/widgets").limit


@pytest.mark.parametrize("flooded", [(LIMIT, True, None)], indirect=True)
def test_so_many_closes_put_the_limit_on_once(flooded: Any) -> None:
    assert _limit(flooded)["limit"] == "contributors_only"
    assert [w for w in flooded.writes() if "interaction-limits" in w] == [
        "PUT /repos/acme/widgets/interaction-limits"
    ]
    # A maintainer takes it off, and the flood goes on: his word stands.
    flooded.world.repository("acme/widgets").limit = None
    for n in range(5):
        flooded.world.open_pull(by="stranger", title=f"More of module {n}")
    flooded.settle()
    flooded.clock.pass_(seconds=10)
    flooded.sweep.ring()
    flooded.settle()
    assert _limit(flooded) is None


THEIRS = {
    "limit": "collaborators_only",
    "origin": "repository",
    "expires_at": "2030-01-01T00:00:00Z",
}


@pytest.mark.parametrize(
    ("flooded", "left"),
    [((WITHOUT, True, None), None), ((LIMIT, False, None), None), ((LIMIT, True, THEIRS), THEIRS)],
    ids=["not asked for", "not granted", "maintainers put one on"],
    indirect=["flooded"],
)
def test_it_is_left_alone(flooded: Any, left: Any) -> None:
    assert _limit(flooded) == left
    assert not [w for w in flooded.writes() if "interaction-limits" in w]
