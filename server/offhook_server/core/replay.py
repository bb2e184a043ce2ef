"""What a session has sent lately, so that a client that was cut off gets exactly what it missed. Not a queue.

`offhook:` events are known by the session's sequence number, text deltas by (item, sequence number of the item). Frames
arrive in the order they were sent, only that deltas may overtake events by merging (core.outbox): who has seen an event
has seen all that was sent before it. Kept: 60 s and 4 MiB at most, oldest out first. A client that missed something no
longer kept gets nothing replayed.
"""

from collections import deque
from dataclasses import dataclass

KEEP_S = 60.0
KEEP_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sent:
    at: float
    number: int
    item: str | None  # None: an event of the session's own
    frame: bytes


class Replay:
    def __init__(self) -> None:
        self._sent: deque[Sent] = deque()
        self._bytes = 0
        self._gone_event = -1  # the newest event let go
        self._gone_deltas: dict[str, int] = {}  # the newest delta of each item let go since

    def add(self, sent: Sent) -> None:
        self._sent.append(sent)
        self._bytes += len(sent.frame)
        while self._sent and (self._bytes > KEEP_BYTES or sent.at - self._sent[0].at > KEEP_S):
            self._let_go(self._sent.popleft())

    def _let_go(self, gone: Sent) -> None:
        self._bytes -= len(gone.frame)
        if gone.item is None:
            self._gone_event = gone.number
            self._gone_deltas.clear()
        else:
            self._gone_deltas[gone.item] = gone.number

    def since(self, last_seq: int, items: dict[str, int]) -> list[bytes] | None:
        """Frames a client with these newest numbers lacks, in the order they were sent; None if some are gone."""
        missed: list[bytes] = []
        for sent in reversed(self._sent):
            if sent.item is None and sent.number <= last_seq:
                return missed[::-1]
            if sent.item is None or sent.number > items.get(sent.item, -1):
                missed.append(sent.frame)
        if self._gone_event > last_seq or any(n > items.get(item, -1) for item, n in self._gone_deltas.items()):
            return None
        return missed[::-1]
