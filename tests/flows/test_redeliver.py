"""Deliveries that GitHub could not deliver come back, however long that takes."""

from datetime import timedelta
from typing import Any


def test_an_outage_of_days_loses_no_delivery(gate: Any) -> None:
    number = gate.world.open_pull(by="stranger").number
    gate.world.clock = gate.clock
    tries = 1

    def lose() -> None:
        for delivery in gate.world.hooks.deliveries:
            if delivery.status_code is None:
                delivery.status, delivery.status_code = "failed to connect to host", 0

    gate.taken = 1
    while gate.clock.ahead < timedelta(hours=60):
        lose()
        tries += gate.redeliver.run()
        gate.clock.pass_(minutes=5 if gate.clock.ahead < timedelta(hours=4) else 60)
    gate.taken = len(gate.world.hooks.deliveries)
    lose()
    gate.clock.pass_(hours=1)
    assert gate.redeliver.run() == 1
    gate.settle()
    assert gate.state(number) == "clear"
    assert tries < 100
