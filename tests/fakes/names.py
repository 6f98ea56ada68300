"""A real DNS server on loopback that knows the records a test gives it."""

import socket
import threading
from typing import Self

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset


class Names:
    """`records` are TXT by name, `others` by name and kind; what is not there is NXDOMAIN.

    `silent` names get no answer, `failing` ones SERVFAIL.
    """

    def __init__(
        self,
        records: dict[str, str] | None = None,
        others: dict[tuple[str, str], list[str]] | None = None,
    ) -> None:
        self.records = records or {}
        self.others = others or {}
        self.silent: set[str] = set()
        self.failing: set[str] = set()
        self.asked: list[str] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        while True:
            try:
                data, peer = self._socket.recvfrom(4096)
            except OSError:
                return
            query = dns.message.from_wire(data)
            name = query.question[0].name.to_text(omit_final_dot=True).lower()
            self.asked.append(name)
            if name in self.silent:
                continue
            answer = dns.message.make_response(query)
            answer.flags |= dns.flags.RA
            asked = dns.rdatatype.to_text(query.question[0].rdtype)
            if name in self.failing:
                answer.set_rcode(dns.rcode.SERVFAIL)
            elif found := self._of(name, asked):
                answer.answer.append(
                    dns.rrset.from_text(query.question[0].name, 60, "IN", asked, *found)
                )
            elif name not in self.records and name not in {n for n, _ in self.others}:
                answer.set_rcode(dns.rcode.NXDOMAIN)
            self._socket.sendto(answer.to_wire(), peer)

    def _of(self, name: str, kind: str) -> list[str]:
        text = self.records.get(name) if kind == "TXT" else None
        if text is None:
            return self.others.get((name, kind), [])
        return [" ".join(f'"{text[i : i + 250]}"' for i in range(0, len(text), 250))]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
