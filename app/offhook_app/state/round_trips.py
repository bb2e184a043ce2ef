"""The line's round trips of the last two minutes. Not the pings."""

from collections import deque

from offhook_app.state.percentiles import percentile

KEPT_S = 120.0


class RoundTrips:
    def __init__(self) -> None:
        self._trips: deque[tuple[float, float]] = deque()

    def add(self, ms: float, now: float) -> None:
        self._trips.append((now, ms))
        while now - self._trips[0][0] > KEPT_S:
            self._trips.popleft()

    @property
    def points(self) -> list[tuple[float, float]]:
        """When (loop seconds) and how long (ms), oldest first."""
        return list(self._trips)

    def at(self, share: float) -> float | None:
        """The percentile, ms."""
        return percentile([ms for _, ms in self._trips], share)
