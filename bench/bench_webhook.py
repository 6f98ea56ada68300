"""How fast a webhook is answered: a real web process, 32 connections, signed payloads of 21 kB.

Budget: 99 of 100 answered within 250 ms under load. Every delivery must be answered with 202 and be
a row of the inbox afterwards.
"""

import argparse
import asyncio
import hashlib
import hmac
import sys
import time
from urllib.parse import urlsplit

from lab import SECRET, Flood, Line, begin, cpu_seconds, percentile, servers, service, table
from sqlalchemy import create_engine, text

from tests.fakes.github import GitHub

BUDGET_MS = 250


def requests(count: int) -> list[bytes]:
    """Whole HTTP requests, made beforehand so that the client costs little while it measures."""
    with GitHub(judge=False) as github:
        flood = Flood(github)
        accounts = flood.accounts(max(1, count // 10))
        return [request(flood.opened(accounts[n % len(accounts)])) for n in range(count)]


def request(delivery) -> bytes:
    signature = hmac.new(SECRET.encode(), delivery.body, hashlib.sha256).hexdigest()
    headers = {
        "Host": "127.0.0.1",
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/bench",
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Hook-Installation-Target-ID": str(delivery.app.id),
        "X-Hub-Signature-256": f"sha256={signature}",
        "Content-Length": str(len(delivery.body)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /webhooks/github HTTP/1.1\r\n{lines}\r\n".encode() + delivery.body


async def send(address: str, waiting: list[bytes], connections: int) -> list[tuple[int, float]]:
    """Send all over so many connections, each as fast as it is answered: status and seconds."""
    answers: list[tuple[int, float]] = []
    where = urlsplit(address)

    async def one() -> None:
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        while waiting:
            raw = waiting.pop()
            begun = time.perf_counter()
            writer.write(raw)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in head.lower().splitlines()
                if line.startswith(b"content-length")
            )
            await reader.readexactly(length)
            answers.append((int(head.split(b" ", 2)[1]), time.perf_counter() - begun))
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(one() for _ in range(connections)))
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000, help="deliveries")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument(
        "--workers", action="store_true", help="run the workers beside it, as `pulsegate up` does"
    )
    options = parser.parse_args()
    made = requests(options.count)
    size = sum(map(len, made)) / len(made) / 1000
    begin(
        f"webhook: {options.count:,} deliveries of {size:.0f} kB, {options.connections} connections"
        + (", workers beside" if options.workers else "")
    )
    names = ["web", "beat", "triage", "perform"] if options.workers else ["web"]
    with servers() as running:
        engine = create_engine(running.database_url)
        with service(running, names) as address:
            asyncio.run(send(address, made[:50], 8))  # a first connection to each of the servers
            warm = 50
            begun, computed = time.perf_counter(), cpu_seconds("web")
            answers = asyncio.run(send(address, made[:], options.connections))
            seconds, computed = time.perf_counter() - begun, cpu_seconds("web") - computed
            with engine.connect() as tx:
                rows = tx.execute(text("SELECT count(*) FROM inbox")).scalar_one()
        engine.dispose()
    times = [taken * 1000 for _, taken in answers]
    refused = sum(status != 202 for status, _ in answers)
    lost = options.count - rows
    table(
        [
            Line("rate", len(answers) / seconds, "a second"),
            Line("answered, half within", percentile(times, 0.5), "ms"),
            Line("answered, 95 of 100 within", percentile(times, 0.95), "ms"),
            Line("answered, 99 of 100 within", percentile(times, 0.99), "ms", BUDGET_MS),
            Line("computed by web for each", computed / len(answers) * 1000, "ms of CPU"),
            Line("slowest", max(times), "ms"),
            Line("not answered with 202", refused, "", 0),
            Line(f"not in the inbox (and {warm} sent twice, kept once)", lost, "", 0),
        ]
    )
    if refused or lost:
        sys.exit("deliveries were refused or lost")


if __name__ == "__main__":
    main()
