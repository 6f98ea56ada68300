"""`python -m tests.fakes.github`: the stand-in as a process of its own, until it is ended."""

import argparse
import signal
import threading

from tests.fakes.github import GitHub


def main() -> None:
    """Print the address, then serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--prefix", default="", help="/api/v3 for an Enterprise Server")
    parser.add_argument("--webhook-url", default=None, help="where the App wants its webhooks")
    options = parser.parse_args()
    ended = threading.Event()
    for which in (signal.SIGTERM, signal.SIGINT):
        signal.signal(which, lambda *_: ended.set())
    with GitHub(port=options.port, prefix=options.prefix) as github:
        github.world.app.webhook_url = options.webhook_url
        print(github.api_url, flush=True)
        ended.wait()


main()
