"""Activities in numbers: BIMBAS's features, checked against figures of rabbit-ng 3.0.0."""

from datetime import datetime, timedelta

import pytest

from app.core.activity import ACTIVITY_FEATURES, Activity, activities, features, tempo

START = datetime(2026, 3, 1, 8, 0, 0)  # noqa: DTZ001 - only differences matter


def act(minutes: float, kind: str = "PushEvent", repository: str = "a/x") -> Activity:
    return Activity(
        kind, repository, repository.split("/", maxsplit=1)[0], START + timedelta(minutes=minutes)
    )


SOME = [
    act(0),
    act(30, "IssuesEvent opened"),
    act(90, "PushEvent", "b/y"),
    act(240, "PushEvent", "b/y"),
    act(600, "IssuesEvent opened", "a/z"),
]


def test_the_features_of_five_activities() -> None:
    found = features(SOME)
    assert list(found) == list(ACTIVITY_FEATURES)
    assert len(found) == 38
    wanted = {
        "NA": 5, "NT": 2, "NOR": 2, "ORR": 2 / 3,
        "DCA_mean": 2.5, "DCA_median": 1.75, "DCA_std": 2.483, "DCA_gini": 0.45,
        "NAR_mean": 1.667, "NAR_median": 2, "NAR_gini": 0.133, "NAR_IQR": 0.5,
        "NTR_std": 0.577, "NCAR_mean": 1.667, "DCAR_mean": 1.0, "DCAR_std": 1.323,
        "DAAR_mean": 3.5, "DAAR_IQR": 2.5, "DCAT_mean": 2.5, "NAT_mean": 2.5, "NAT_IQR": 0.5,
    }  # fmt: skip
    assert {k: found[k] for k in wanted} == pytest.approx(wanted, abs=6e-4)


def test_no_activity_is_all_zero() -> None:
    assert set(features([]).values()) == {0.0}


def test_echoes_of_one_act_are_one_and_only_the_newest_count() -> None:
    merged = [act(0, "PullRequestEvent closed"), act(0.05, "PushEvent"), act(0.06, "DeleteEvent")]
    assert [a.kind for a in activities(reversed(merged))] == ["PullRequestEvent closed"]
    assert len(activities(act(n) for n in range(500))) == 300


def test_tempo_counts_other_peoples_repositories_alone() -> None:
    opened = [act(n * 5, "PullRequestEvent opened", f"o{n}/r") for n in range(30)]
    fast = tempo(opened)
    assert (fast.pulls_a_day, fast.repositories_a_day, fast.fastest) == (30, 30, 300)
    assert tempo(opened, own=[a.repository for a in opened]).pulls_a_day == 0
    around = tempo([act(n * 40) for n in range(120)])
    assert (around.clock, round(around.longest_rest, 2)) == (24, 0.67)
