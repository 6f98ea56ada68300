"""Live permission of an author, asked for once however many workers need it."""

import threading
from typing import Any


def test_the_workers_of_a_burst_ask_once_together(gate: Any) -> None:
    gate.world.open_pull(by="mark")
    gate.settle()
    gate.github.fault("delay", method="GET", path="/collaborators/", seconds=0.5, times=None)
    for n in range(4):
        gate.world.open_pull(by="stranger", title=f"Change {n}")
    gate.deliver()
    gate.github.requests.clear()
    rung = [id_ for task, id_ in gate.bell.rings if task == "triage"]
    workers = [threading.Thread(target=gate.triage.run, args=(id_,)) for id_ in rung]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    asked = [r for r in gate.github.requests if "/collaborators/" in r.path]
    assert len(asked) == 1
    assert {r["outcome"] for r in gate.sql("SELECT outcome FROM inbox")} == {
        "decided: clear",
        "decided: exempt",
    }
