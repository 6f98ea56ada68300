"""A busy day in several repositories, made from a seed, and what must have come of it."""

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.github.process import GitHubProcess

POLICY = """version: 1
mode: close
rules:
  burst: {mode: close, prs: 5, minutes: 10}
  unattended: {mode: "off"}
"""
LABEL = "needs-verification"
FLOOD, TEAM, HONEST = 6, 6, 4
_CLOSING = "This pull request is being closed for now"
_MARKER = re.compile(r"<!-- pulsegate:(\S+) -->")


@dataclass
class Wanted:
    """One pull request, and how it must end. None: either way is right."""

    repo: str
    number: int
    author: str
    kind: str
    state: str = "open"
    merged: bool = False
    label: bool | None = False
    closes: int = 0
    status: int = 0
    conclusion: str = "success"

    @property
    def key(self) -> tuple[str, int]:
        return self.repo, self.number


@dataclass
class Act:
    """What a person does next. `when` is what they wait to see first."""

    do: Callable[[], Any]
    when: Callable[["Seen"], bool] = lambda _: True
    then: "list[Act]" = field(default_factory=list)


class Seen:
    """The stand-in's state as people see it."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self.pulls = {
            (name, pull["number"]): pull
            for name, repository in state["repositories"].items()
            for pull in repository["pulls"]
        }

    def closed(self, key: tuple[str, int]) -> bool:
        return key in self.pulls and self.pulls[key]["state"] == "closed"

    def is_open(self, key: tuple[str, int]) -> bool:
        return key in self.pulls and self.pulls[key]["state"] == "open"

    def settled(self, key: tuple[str, int]) -> bool:
        """All that the gate had to say stands there."""
        return bool(self.pulls[key]["labels"]) and len(self.comments(key)) == 2

    def comments(self, key: tuple[str, int]) -> list[dict[str, Any]]:
        """Our own comments."""
        return [
            c for c in self.pulls[key]["all_comments"] if c["user"]["login"] == "pulsegate[bot]"
        ]

    def runs(self, repo: str) -> list[dict[str, Any]]:
        return list(self.state["repositories"][repo]["check_runs"])


class World:
    """The people. `waiting` are the acts still to come; `wanted` is the oracle."""

    def __init__(self, github: GitHubProcess, seed: int, repositories: int = 5) -> None:
        self.github = github
        self.chance = random.Random(seed)
        self.wanted: list[Wanted] = []
        self.waiting: list[Act] = []
        self.acts = 0
        for n in range(repositories):
            self._repository(n)

    def _do(self, act: str, **args: Any) -> Any:
        self.acts += 1
        return self.github.do(act, **args)

    def _repository(self, n: int) -> None:
        """One organization with its people and all that will happen there."""
        org, repo, do = f"org{n}", f"org{n}/widgets", self.github.do
        do("add_user", login=org, type="Organization")
        do("add_repository", full_name=repo, files={".github/pulsegate.yml": POLICY})
        do("add_installation", account=org)
        for login, role in (
            (f"mona{n}", "maintain"),
            (f"tess{n}", "triage"),
            (f"owen{n}", "admin"),
        ):
            do("add_user", login=login)
            do("set_role", login=login, role=role, repo=repo)
        for login in (f"flo{n}", f"by{n}", *(f"hal{n}-{i}" for i in range(HONEST))):
            do("add_user", login=login)
        lanes = [
            *([self._flood(n, repo, i)] for i in range(FLOOD)),
            *([self._team(n, repo, i)] for i in range(TEAM)),
            *([self._honest(n, repo, i)] for i in range(HONEST)),
            [Act(lambda: self._do("queue_merge", by=f"mona{n}", repo=repo))],
        ]
        for lane in lanes:
            self.waiting.extend(lane)
        self.chance.shuffle(self.waiting)

    def _open(self, wanted: Wanted) -> None:
        made = self._do(
            "open_pull", by=wanted.author, title=f"{wanted.kind} change", repo=wanted.repo
        )
        wanted.number = made["number"]
        self.wanted.append(wanted)

    def _on(self, wanted: Wanted, act: str, **args: Any) -> Callable[[], Any]:
        return lambda: self._do(act, number=wanted.number, repo=wanted.repo, **args)

    def _flood(self, n: int, repo: str, i: int) -> Act:
        """One of six by the same account. What follows depends on which of them it is."""
        w = Wanted(repo, 0, f"flo{n}", "flood", "closed", False, True, 1, 1, "neutral")
        opened = Act(lambda: self._open(w))
        if i in {0, 4}:
            opened.then.append(Act(self._on(w, "push")))
        if i in {1, 5}:
            opened.then.append(Act(self._on(w, "edit_pull", by=w.author, title="In other words")))
        # Who writes a command does so at once; who acts by hand looks at it first.
        at_once = i in {0, 3, 4}
        opened.then.append(
            Act(
                self._after(w, n)[i],
                lambda seen: seen.closed(w.key) and (at_once or seen.settled(w.key)),
            )
        )
        opened.then[-1].then.extend(self._later(w, n)[i])
        return opened

    def _after(self, w: Wanted, n: int) -> list[Callable[[], Any]]:
        """What somebody does once the gate closed it."""

        def reopen_by_word(login: str) -> Callable[[], Any]:
            def do() -> None:
                self._do("comment", number=w.number, repo=w.repo, by=login, body="/pulse reopen")
                w.state, w.conclusion = "open", "neutral"

            return do

        def reopen_by_hand() -> None:
            self._do("reopen_pull", number=w.number, repo=w.repo, by=f"mona{n}")
            w.state, w.conclusion = "open", "success"

        def unlabel() -> None:
            self._do("unlabel", number=w.number, repo=w.repo, by=f"tess{n}", name=LABEL)
            w.label = False

        return [
            reopen_by_word(w.author),
            reopen_by_hand,
            unlabel,
            reopen_by_word(f"mona{n}"),
            self._on(w, "comment", by=f"by{n}", body="/pulse reopen"),
            self._on(w, "comment", by=f"by{n}", body="I have the same problem."),
        ]

    def _later(self, w: Wanted, n: int) -> list[list[Act]]:
        """What follows that."""

        def is_open(seen: Seen) -> bool:
            return seen.is_open(w.key)

        edit = self._on(w, "edit_pull", by=w.author, body="With more words.")
        return [
            [Act(self._on(w, "push"), is_open), Act(edit, is_open)],
            [Act(self._on(w, "push"), is_open)],
            [],
            [Act(edit, is_open)],
            [Act(self._on(w, "comment", by=f"mona{n}", body="Let us wait."))],
            [],
        ]

    def _team(self, n: int, repo: str, i: int) -> Act:
        """As many by somebody of the team: the rule applies, and nothing follows."""
        w = Wanted(repo, 0, f"tess{n}", "team")
        opened = Act(lambda: self._open(w))
        if i == 0:
            opened.then.append(Act(self._on(w, "push")))
        if i == 1:
            opened.then.append(Act(self._on(w, "edit_pull", by=w.author, title="Better words")))
        return opened

    def _honest(self, n: int, repo: str, i: int) -> Act:
        """A newcomer's only one."""
        w = Wanted(repo, 0, f"hal{n}-{i}", "honest")
        opened = Act(lambda: self._open(w))

        def merge() -> None:
            self._do("merge_pull", number=w.number, repo=repo, by=f"mona{n}")
            w.state, w.merged = "closed", True

        opened.then.extend(
            [
                [Act(merge)],
                [Act(self._on(w, "push")), Act(self._on(w, "comment", by=w.author, body="Done."))],
                [
                    Act(self._on(w, "set_draft", draft=True, by=w.author)),
                    Act(self._on(w, "set_draft", draft=False, by=w.author)),
                ],
                [Act(self._on(w, "review", by=f"mona{n}", body="Looks good."))],
            ][i]
        )
        return opened

    def step(self, seen: Seen) -> bool:
        """One person does the next thing that may be done; False where nothing may be just now."""
        for index, act in enumerate(self.waiting):
            if act.when(seen):
                del self.waiting[index]
                act.do()
                # What follows comes in its order, but anything may happen in between.
                for before, after in zip(act.then, act.then[1:], strict=False):
                    before.then.append(after)
                if act.then:
                    place = self.chance.randrange(min(len(self.waiting), 40) + 1)
                    self.waiting.insert(place, act.then[0])
                return True
        return False

    def member(self, n: int) -> None:
        """The author of a flood becomes part of the team: what is open of it is theirs to do."""
        self._do(
            "change_role", login=f"flo{n}", role="write", by=f"owen{n}", repo=f"org{n}/widgets"
        )
        for w in self.wanted:
            if w.author == f"flo{n}" and w.state == "open" and w.conclusion == "neutral":
                w.conclusion, w.label = "success", False

    def problems(self, seen: Seen) -> list[str]:
        """Where the stand-in is not as it must be."""
        return [
            f"{w.kind} {w.repo}#{w.number} by {w.author}: {p}"
            for w in self.wanted
            for p in _problems(w, seen)
        ] + [p for repo in {w.repo for w in self.wanted} for p in _doubled_runs(seen.runs(repo))]


def _problems(w: Wanted, seen: Seen) -> list[str]:
    pull, comments = seen.pulls[w.key], seen.comments(w.key)
    closing = sum(_CLOSING in c["body"] for c in comments)
    keys = Counter(found[1] for c in comments if (found := _MARKER.search(c["body"])))
    runs = [r for r in seen.runs(w.repo) if r["head_sha"] == pull["head"]["sha"]]
    labels = [x["name"] for x in pull["labels"]]
    said = [
        (pull["state"] == w.state, f"is {pull['state']}, not {w.state}"),
        (bool(pull["merged_at"]) is w.merged, f"merged: {pull['merged_at']}"),
        (labels == [LABEL] * bool(w.label), f"labels {labels}"),
        (closing == w.closes, f"{closing} close comments"),
        (len(comments) == w.closes + w.status, f"{len(comments)} comments: {keys}"),
        (all(count == 1 for count in keys.values()), f"doubled comments: {keys}"),
    ]
    if w.state == "open":
        said.append((len(runs) == 1, f"{len(runs)} check runs on its head"))
        conclusions = [r["conclusion"] for r in runs]
        said.append((conclusions == [w.conclusion], f"{conclusions}, not {w.conclusion}"))
    return [words for right, words in said if not right]


def _doubled_runs(runs: list[dict[str, Any]]) -> list[str]:
    ids = Counter(r["external_id"] for r in runs)
    heads = Counter(r["head_sha"] for r in runs)
    return [f"{n} check runs of {i}" for i, n in (ids | heads).items() if n > 1]
