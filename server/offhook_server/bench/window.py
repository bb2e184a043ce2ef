"""How fast a TCP sender may go on a link that loses nothing: its congestion window. Not a socket; time comes in.

start     10 segments of 1,460 bytes may fly unacknowledged                        RFC 6928
growth    each acknowledged byte opens one more: doubling per round trip           RFC 5681 3.1
          but only while the window is really used (Linux: less than twice
          what was in flight)                                                      RFC 7661
idle      halved for each RTO since the last byte, down to the start               RFC 2861, RFC 5681 4.1
RTO       round trip + 200 ms, Linux's least                                       RFC 6298
"""

from collections import deque

INITIAL_BYTES = 14_600
LEAST_RTO_S = 0.2


class Window:
    """One direction of one connection. An acknowledgement comes one round trip after the byte was sent."""

    def __init__(self, rtt_s: float) -> None:
        self.size_bytes = INITIAL_BYTES
        self._rtt_s = rtt_s
        self._flying: deque[tuple[float, int]] = deque()  # (acknowledged at, bytes)
        self._flying_bytes = 0
        self._peak_bytes = 0  # most in flight since the line was last silent
        self._last_sent_s: float | None = None

    @property
    def deadline(self) -> float:
        """When the next acknowledgement comes. Only while something is in flight."""
        return self._flying[0][0]

    def room(self, now: float) -> int:
        """Bytes that may be sent at `now`."""
        self._acknowledge(now)
        self._decay(now)
        return max(0, self.size_bytes - self._flying_bytes)

    def send(self, size: int, now: float) -> None:
        self._flying.append((now + self._rtt_s, size))
        self._flying_bytes += size
        self._peak_bytes = max(self._peak_bytes, self._flying_bytes)
        self._last_sent_s = now

    def _acknowledge(self, now: float) -> None:
        while self._flying and self._flying[0][0] <= now:
            _, size = self._flying.popleft()
            self._flying_bytes -= size
            if self.size_bytes < 2 * self._peak_bytes:
                self.size_bytes += size
        if not self._flying:
            self._peak_bytes = 0

    def _decay(self, now: float) -> None:
        if self._last_sent_s is None or self._flying:
            return
        rto_s = self._rtt_s + LEAST_RTO_S
        halvings = int((now - self._last_sent_s) / rto_s)
        if halvings:
            self.size_bytes = max(INITIAL_BYTES, self.size_bytes >> halvings)
            self._last_sent_s = None
