"""The process in which hostile sources are parsed: jobs on stdin, facts on stdout.

A job is a line of JSON (reader, size, digests, seconds) and so many bytes; the answer is one line: the
packed facts, or null where parsing took too long. The grammars are C code that a strange enough
file may crash or make slow; this process may die of it, and its parent goes on.
"""

import json
import resource
import sys
import time

from app.kernels.affected.facts import UNREAD, pack
from app.kernels.affected.parsing import parse

MEMORY = 3 << 30  # bytes


def main() -> None:
    """Answer jobs until stdin ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    while line := given.readline():
        job = json.loads(line)
        source = given.read(job["size"])
        end = time.monotonic() + job["seconds"]
        try:
            facts = parse(
                job["reader"],
                source,
                lambda end=end: time.monotonic() > end,  # type: ignore[misc]
                digests=job["digests"],
            )
        except (MemoryError, RecursionError):
            facts = UNREAD
        packed = None if facts is UNREAD else pack(facts)
        answers.write(json.dumps(packed, separators=(",", ":")).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
