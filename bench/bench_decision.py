"""One pull request's decision, from its delivery to its effect row, and what it reads of GitHub.

The whole service runs as `pulsegate up` runs it, against a GitHub on loopback that takes 100 ms for
every answer. Budgets: 95 of 100 decided within 2 s; at most 4 reads for an author never seen, 2 for
a known one, 0 within a burst; one read of the live state before the writes of a pull request.

The time is taken from the moment at which the delivery is sent, and ends with the row's `handled_at`,
which is set in the transaction that stores the decision and its effects.
"""

import argparse
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lab import SECRET, Line, begin, percentile, servers, service, table, wait_for
from sqlalchemy import Engine, create_engine, text

from tests.fakes.github import GitHub

BUDGET_SECONDS = 2.0
POLICY = "version: 1\nmode: label\nrules:\n  burst: {mode: label, prs: 5, minutes: 10}\n"
LIVE = re.compile(r"/pulls/(\d+)$")
# What each process asks once about the App itself, and the sweep now and then.
APP = re.compile(r"/app(/hook/.*)?")


class Bench:
    """The stand-in, the database, and what was measured of each delivery."""

    def __init__(self, github: GitHub, engine: Engine) -> None:
        self.github = github
        self.engine = engine
        self.begun: dict[str, float] = {}

    def accounts(self, count: int, prefix: str) -> list[str]:
        for n in range(count):
            self.github.world.add_user(f"{prefix}-{n}")
        return [f"{prefix}-{n}" for n in range(count)]

    def open(self, by: str) -> tuple[int, Any]:
        """A new pull request, not yet told; its number and delivery."""
        with self.github.world.hooks.held() as held:
            number = self.github.world.open_pull(
                by=by, title=f"Improve what {by} uses", body="It was broken for me. " * 40
            ).number
        mine = [d for d in held if d.event == "pull_request" and d.action == "opened"]
        for echo in (d for d in held if d not in mine):  # of the App's own writes meanwhile
            self.github.world.hooks.deliver(echo)
        return number, mine[-1]

    def tell(self, delivery: Any) -> None:
        self.begun[self._key(delivery)] = time.time()
        self.github.world.hooks.deliver(delivery)
        if delivery.status_code != 202:
            sys.exit(f"a delivery was answered with {delivery.status_code}: {delivery.status}")

    def _key(self, delivery: Any) -> str:
        return f"{delivery.app.id}:{delivery.guid}"

    def seconds(self, deliveries: list[Any]) -> list[float]:
        """From sending to decided, once all are."""
        keys = [self._key(d) for d in deliveries]
        rows: dict[str, float] = {}

        def all_decided() -> bool:
            found = self.sql(
                "SELECT key, extract(epoch FROM handled_at) AS at, outcome FROM inbox"
                " WHERE key = ANY(:keys) AND handled_at IS NOT NULL",
                keys=keys,
            )
            rows.update({r.key: float(r.at) for r in found if r.outcome.startswith("decided")})
            return len(rows) == len(keys)

        wait_for(all_decided, "every pull request is decided", 90)
        return [rows[key] - self.begun[key] for key in keys]

    def sql(self, query: str, **given: Any) -> list[Any]:
        with self.engine.begin() as tx:
            found = tx.execute(text(query), given)
            return list(found.all()) if found.returns_rows else []

    def written(self, numbers: list[int]) -> None:
        """Wait until nothing waits to be written on these."""
        wait_for(
            lambda: (
                not self.sql(
                    "SELECT 1 FROM outbox WHERE number = ANY(:n) AND state IN ('pending', 'doing')",
                    n=numbers,
                )
            ),
            "the effects are carried out",
            90,
        )

    def reads(self, since: int) -> list[str]:
        """The paths read for decisions since the log had so many lines."""
        return [
            r.path
            for r in self.github.requests[since:]
            if (r.method == "GET" or r.path == "/graphql")
            and not LIVE.search(r.path)
            and not APP.fullmatch(r.path)
            and "/labels/" not in r.path
        ]

    def live(self, since: int) -> Counter[int]:
        """How often each pull request's live state was read."""
        found = (LIVE.search(r.path) for r in self.github.requests[since:] if r.method == "GET")
        return Counter(int(match[1]) for match in found if match)

    def calm(self, authors: list[str], pause: float) -> tuple[list[float], list[int]]:
        """One pull request by each author at an even pace: the seconds and the numbers."""
        opened = []
        with ThreadPoolExecutor(4) as pool:
            for author in authors:
                number, delivery = self.open(author)
                pool.submit(self.tell, delivery)
                opened.append((number, delivery))
                time.sleep(pause)
        numbers = [n for n, _ in opened]
        seconds = self.seconds([d for _, d in opened])
        self.written(numbers)
        return seconds, numbers

    def burst(self, author: str, count: int) -> tuple[list[float], list[int]]:
        """Many pull requests by one author, told at once over ten connections."""
        opened = [self.open(author) for _ in range(count)]
        with ThreadPoolExecutor(10) as pool:
            list(pool.map(self.tell, [d for _, d in opened]))
        return self.seconds([d for _, d in opened]), [n for n, _ in opened]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calm", type=int, default=30, help="pull requests at an even pace")
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two of them")
    parser.add_argument("--burst", type=int, default=40, help="pull requests of the burst")
    parser.add_argument("--latency", type=float, default=0.1, help="seconds that GitHub takes")
    options = parser.parse_args()
    begin(f"decision: GitHub answers in {options.latency * 1000:.0f} ms, web, beat and workers run")
    with servers() as running, GitHub(judge=False) as github:
        world, app = github.world, github.world.app
        app.webhook_secret = SECRET
        world.repository().files[".github/pulsegate.yml"] = POLICY.encode()
        github.fault("delay", seconds=options.latency, times=None)
        env = {
            "GITHUB_API_URL": github.api_url,
            "GITHUB_WEB_URL": github.web_url,
            "GITHUB_APP_ID": str(app.id),
            "GITHUB_PRIVATE_KEY": app.private_key_pem,
            "GITHUB_CLIENT_ID": app.client_id,
            "GITHUB_CLIENT_SECRET": app.client_secret,
        }
        engine = create_engine(running.database_url)
        with service(running, ["web", "beat", "triage", "perform"], env) as address:
            app.webhook_url = f"{address}/webhooks/github"
            lines = measure(Bench(github, engine), options)
        engine.dispose()
    table(lines)


def measure(bench: Bench, options: argparse.Namespace) -> list[Line]:
    log = bench.github.requests
    first, _ = bench.calm(bench.accounts(1, "first"), 0)
    first_reads = bench.reads(0)
    newcomers = bench.accounts(options.calm, "new")
    since = len(log)
    calm, numbers = bench.calm(newcomers, options.pause)
    new_reads, live = bench.reads(since), bench.live(since)
    since = len(log)
    known, _ = bench.calm(newcomers[:10], options.pause / 2)
    known_reads = len(bench.reads(since))
    bench.sql("UPDATE permissions SET read_at = read_at - interval '6 minutes'")
    since = len(log)
    bench.calm(newcomers[:10], options.pause / 2)
    later_reads = len(bench.reads(since))
    author = bench.accounts(1, "flood")[0]
    since = len(log)
    burst, flood = bench.burst(author, options.burst)
    burst_reads = len(bench.reads(since))
    begun = time.monotonic()
    wait_for(lambda: _all_flagged(bench, flood), "the earliest of the burst are flagged as well")
    by_author = Counter(path for path in new_reads if "/collaborators/" in path)
    lonely = [n for n in numbers if live[n] != 1]
    return [
        Line("the very first, with the App's and repository's own reads", first[0], "s"),
        Line("calm, half decided within", percentile(calm + known, 0.5), "s"),
        Line("calm, 95 of 100 within", percentile(calm + known, 0.95), "s", BUDGET_SECONDS),
        Line(f"burst of {options.burst}, half decided within", percentile(burst, 0.5), "s"),
        Line(
            f"burst of {options.burst}, 95 of 100 within",
            percentile(burst, 0.95),
            "s",
            BUDGET_SECONDS,
        ),
        Line("… and the first of it flagged as well after", time.monotonic() - begun, "s more"),
        Line("reads for the very first decision", len(first_reads), "", 4),
        Line("reads for an author never seen (mean)", len(new_reads) / options.calm, "", 4),
        Line("… at most, of the author", max(by_author.values()), "", 4),
        Line("reads for a known author, minutes later", later_reads / 10, "", 2),
        Line("reads for a known author, at once", known_reads / 10, "", 2),
        Line(
            f"reads within a burst of {options.burst}, its author's first included", burst_reads, ""
        ),
        Line(
            "reads of the live state before the writes (mean)", live.total() / options.calm, "", 1
        ),
        Line("pull requests with more or fewer such reads than one", len(lonely), "", 0),
    ]


def _all_flagged(bench: Bench, numbers: list[int]) -> bool:
    found = bench.sql(
        "SELECT count(*) AS n FROM cases WHERE number = ANY(:n) AND state = 'flagged'", n=numbers
    )
    return bool(found[0].n == len(numbers))


if __name__ == "__main__":
    main()
