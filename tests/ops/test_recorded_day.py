"""The recorded day is what its script makes, and tells the story that the README promises."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from app.core.events import CommentEvent, Event, InstallationEvent, PullRequestEvent, Unread, parse
from app.core.facts import Facts, Opened, Role
from app.core.recording import Header, RecordedDelivery, read
from ops import recorded_day
from ops import recorded_story as story

FLOOD_ID = story.PEOPLE[story.FLOOD].id
Day = list[tuple[RecordedDelivery, Event]]


@pytest.fixture(scope="module")
def recorded() -> tuple[Header, Day]:
    with recorded_day.TARGET.open("rb") as lines:
        header, deliveries = read(lines)
        return header, [(d, parse(d.event, d.payload)) for d in deliveries]


@pytest.fixture(scope="module")
def day(recorded: tuple[Header, Day]) -> Day:
    return recorded[1]


def pulls(day: Day, action: str = "opened") -> list[PullRequestEvent]:
    return [e for _, e in day if isinstance(e, PullRequestEvent) and e.action == action]


def authors(events: Iterable[PullRequestEvent]) -> Counter[str]:
    return Counter(e.pull_request.user.login for e in events if e.pull_request.user)


def test_committed_file_is_what_the_script_makes() -> None:
    made = recorded_day.recording()
    assert made == recorded_day.recording()
    assert recorded_day.TARGET.read_text(encoding="utf-8") == made, "run python -m ops.recorded_day"


def test_every_delivery_is_read_and_in_order(day: Day) -> None:
    assert [d.event for d, e in day if isinstance(e, Unread)] == []
    assert len({d.guid for d, _ in day}) == len(day)
    times = [d.at for d, _ in day if d.at]
    assert len(times) == len(day)
    assert times == sorted(times)
    assert all(e.repository for _, e in day if not isinstance(e, InstallationEvent))
    assert {e.installation_id for _, e in day} - {None} == {recorded_day.INSTALLATION}


def test_header_names_the_team_and_an_observing_policy(recorded: tuple[Header, Day]) -> None:
    header, _ = recorded
    assert set(header.roles.values()) == {Role.ADMIN, Role.MAINTAIN, Role.WRITE, Role.TRIAGE}
    policy = header.policies["northlight/lumen"]
    assert "mode: observe" in policy
    assert "burst: {mode: close, prs: 5, minutes: 10}" in policy


def test_installation_comes_first_a_week_before(day: Day) -> None:
    delivery, event = day[0]
    assert isinstance(event, InstallationEvent)
    assert event.action == "created"
    assert delivery.at == datetime(2026, 11, 9, 8, 12, 44, tzinfo=UTC)
    assert [r.full_name for r in event.repositories] == [
        "northlight/lumen",
        "northlight/lumen-kernels",
    ]
    assert all(
        d.at and d.at.date() == datetime(2026, 11, 16, tzinfo=UTC).date() for d, _ in day[1:]
    )


def test_people_open_a_normal_days_pull_requests(day: Day) -> None:
    by = authors(pulls(day))
    del by[story.FLOOD]
    assert 33 <= sum(by.values()) <= 38
    assert 18 <= len(by) <= 26
    associations = {e.pull_request.author_association for e in pulls(day)}
    assert associations >= {"OWNER", "MEMBER", "CONTRIBUTOR", "FIRST_TIMER", "NONE"}
    bot = next(e for e in pulls(day) if e.pull_request.user and e.pull_request.user.id == 49699333)
    assert bot.pull_request.user
    assert bot.pull_request.user.is_app
    disclosed = [e for e in pulls(day) if "Assisted-by:" in e.pull_request.body]
    assert authors(disclosed) == {"leo-baptista": 2}
    assert all(e.pull_request.head.ref.startswith("claude/") for e in disclosed)
    assert by["claude-moreau"] == 2
    assert any("\u4e00" <= c <= "\u9fff" for e in pulls(day) for c in e.pull_request.title)


def test_much_of_what_can_happen_to_a_pull_request_happens(day: Day) -> None:
    actions = Counter(e.action for _, e in day if isinstance(e, PullRequestEvent))
    assert actions["synchronize"] >= 10
    assert actions["closed"] >= 15
    assert {"edited", "ready_for_review", "labeled"} <= actions.keys()
    ready = pulls(day, "ready_for_review")[0]
    assert not ready.pull_request.draft
    drafts = [e for e in pulls(day) if e.pull_request.draft]
    assert [e.pull_request.number for e in drafts] == [ready.pull_request.number]
    gone = [
        e.pull_request.number
        for _, e in day
        if isinstance(e, PullRequestEvent) and not e.pull_request.user
    ]
    assert gone == [
        e.pull_request.number
        for e in pulls(day)
        if e.sender and e.sender.login == "gone-tomorrow-77"
    ]
    older = [
        e
        for _, e in day
        if isinstance(e, PullRequestEvent) and e.pull_request.created_at < day[0][0].at
    ]
    assert [e.action for e in older] == ["synchronize"]


def test_authors_answer_who_are_asked_but_for_the_flood(day: Day) -> None:
    written: dict[int, list[int]] = defaultdict(list)
    for _, event in day:
        if isinstance(event, CommentEvent) and event.comment.user and event.comment.body:
            written[event.number].append(event.comment.user.id)
    author = {e.pull_request.number: e.pull_request.user for e in pulls(day)}
    flooded = [n for n in written if (user := author[n]) and user.id == FLOOD_ID]
    assert len(flooded) == 2
    assert all(len(written[n]) == 1 and FLOOD_ID not in written[n] for n in flooded)
    asked = [n for n in written if n not in flooded]
    answered = [n for n in asked if (user := author[n]) and user.id in written[n]]
    assert len(answered) >= len(asked) / 2


def test_one_account_floods_the_repository_at_13_02(day: Day) -> None:
    flood = [
        e.pull_request
        for e in pulls(day)
        if e.pull_request.user and e.pull_request.user.id == FLOOD_ID
    ]
    times = sorted(p.created_at for p in flood)
    assert len(flood) == 43
    assert times[0].strftime("%H:%M") == "13:02"
    assert times[-1] - times[0] < timedelta(minutes=10)
    assert len({p.title for p in flood}) == 43
    assert len({p.title.rsplit(" ", 1)[0] for p in flood}) == 1
    others = [e for e in pulls(day) if times[0] < e.pull_request.created_at < times[-1]]
    assert len(others) == 41 + 2, "people go on working meanwhile"


def test_the_burst_rule_finds_the_flood_and_nobody_else(day: Day) -> None:
    opened: dict[tuple[int, int], list[Opened]] = defaultdict(list)
    for event in pulls(day):
        pull = event.pull_request
        assert event.repository
        assert pull.user
        opened[event.repository.id, pull.user.id].append(
            Opened(number=pull.number, at=pull.created_at)
        )
    found: Counter[int] = Counter()
    for event in pulls(day):
        pull = event.pull_request
        assert event.repository
        assert pull.user
        facts = Facts(
            pull=pull,
            role=None,
            opened=tuple(opened[event.repository.id, pull.user.id]),
            installed_at=pull.created_at,
        )
        found[pull.user.id] += bool(facts.burst(5, 10))
    assert +found == {FLOOD_ID: 43}
    regular = [
        e.pull_request.created_at
        for e in pulls(day)
        if e.sender and e.sender.login == "oyelaran-dev"
    ]
    assert len(regular) == 3
    assert max(regular) - min(regular) < timedelta(hours=1)
