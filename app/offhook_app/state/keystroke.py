"""Where the time between a key and its ghost text went, as parts that add up. Plain values for the overlay.

    key ─ handled ─ sent ─ line out and back ─┬─ mapped ─ waited for frame ─ painted
                              server: mirrored, waited, queued, read, first words

Times come in as loop seconds of this process; the server's own parts come with `offhook:suggestion.done`, in ms.
Nothing is drawn here, and nothing is kept but the last figures.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from offhook_wire.messages import Timing

Family = Literal["app", "line", "server", "screen", "waiting"]

KEPT_TOTALS = 200
KEPT_TRIPS_S = 120.0
MOST_OPEN = 16


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    family: Family
    ms: float


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One key's way to its ghost text. `parts` add up to `total_ms` exactly."""

    total_ms: float
    parts: tuple[Part, ...]
    source: str


@dataclass(slots=True)
class _Journey:
    """Loop seconds; `key_at` is None where the person pressed no key for it."""

    key_at: float | None
    asked_at: float
    sent_at: float
    source: str = ""
    arrived_at: float | None = None
    shown_at: float | None = None
    paint_from: float = 0.0
    paint_to: float | None = None
    timing: Timing | None = None


class Keystrokes:
    def __init__(self) -> None:
        self.latest: Breakdown | None = None
        self._totals_ms: deque[float] = deque(maxlen=KEPT_TOTALS)
        self._trips: deque[tuple[float, float]] = deque()
        self._open: dict[str, _Journey] = {}

    def asked(self, request_id: str, key_at: float | None, asked_at: float, sent_at: float) -> None:
        self._open[request_id] = _Journey(key_at, asked_at, sent_at)
        while len(self._open) > MOST_OPEN:
            del self._open[next(iter(self._open))]

    def shown(self, request_id: str, source: str, arrived_at: float, shown_at: float) -> None:
        """The first ghost text of a request was laid out; `arrived_at` is when the event that brought it came in."""
        journey = self._open.get(request_id)
        if journey and journey.shown_at is None:
            journey.source, journey.arrived_at, journey.shown_at = source, arrived_at, shown_at

    def painted(self, request_id: str, started_at: float, ended_at: float) -> None:
        journey = self._open.get(request_id)
        if journey and journey.shown_at is not None and journey.paint_to is None:
            journey.paint_from, journey.paint_to = started_at, ended_at
            self._finish(request_id, journey)

    def done(self, request_id: str, source: str, timing: Timing) -> None:
        journey = self._open.get(request_id)
        if journey and journey.source == source:
            journey.timing = timing
            self._finish(request_id, journey)

    def round_trip(self, ms: float, now: float) -> None:
        self._trips.append((now, ms))
        while now - self._trips[0][0] > KEPT_TRIPS_S:
            self._trips.popleft()

    @property
    def totals_ms(self) -> Sequence[float]:
        return self._totals_ms

    @property
    def trips_ms(self) -> list[float]:
        return [ms for _, ms in self._trips]

    def _finish(self, request_id: str, journey: _Journey) -> None:
        if journey.paint_to is None or journey.timing is None:
            return
        del self._open[request_id]
        if journey.key_at is not None:
            self.latest = _breakdown(journey, journey.key_at, journey.paint_to, journey.timing)
            self._totals_ms.append(self.latest.total_ms)


def _breakdown(journey: _Journey, key_at: float, paint_to: float, timing: Timing) -> Breakdown:
    arrived_at, shown_at = journey.arrived_at or 0.0, journey.shown_at or 0.0
    away_ms = (arrived_at - journey.sent_at) * 1000
    server_ms = min(timing.ttft_ms, away_ms)
    inside, rest_ms = _within(
        server_ms,
        Part("Mirrored", "server", timing.mirrored_ms),
        Part("Waited for a pause", "waiting", timing.waited_ms),
        Part("Queued", "waiting", timing.queue_ms),
        Part("Prompt read", "server", timing.prefill_ms),
    )
    parts = [
        Part("Key handled", "app", (journey.asked_at - key_at) * 1000),
        Part("Sent", "app", (journey.sent_at - journey.asked_at) * 1000),
        Part("Line out and back", "line", away_ms - server_ms),
        *inside,
        Part("Suggested", "server", rest_ms),
        Part("Mapped", "app", (shown_at - arrived_at) * 1000),
        Part("Waited for frame", "waiting", (journey.paint_from - shown_at) * 1000),
        Part("Painted", "screen", (paint_to - journey.paint_from) * 1000),
    ]
    total_ms = (paint_to - key_at) * 1000
    other = Part("Other", "waiting", total_ms - sum(part.ms for part in parts))
    return Breakdown(total_ms, tuple(part for part in (*parts, other) if part.ms > 1e-6), journey.source)


def _within(limit_ms: float, *parts: Part) -> tuple[list[Part], float]:
    """The server's parts, cut where its own clock claims more than was spent away; and what they leave over."""
    cut: list[Part] = []
    for part in parts:
        cut.append(replace(part, ms=min(part.ms, limit_ms)))
        limit_ms -= cut[-1].ms
    return cut, limit_ms


def percentile(values: Sequence[float], share: float) -> float | None:
    """Nearest rank; None where nothing was measured."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def printed(breakdown: Breakdown) -> tuple[float, list[tuple[Part, float]]]:
    """The total and the parts as they are printed, in tenths of a ms, adding up; parts of nothing are left out.

    Tenths lost in rounding go to the parts that lost the most.
    """
    total = round(breakdown.total_ms * 10)
    tenths = [int(part.ms * 10 // 1) for part in breakdown.parts]
    losers = sorted(range(len(tenths)), key=lambda i: tenths[i] - breakdown.parts[i].ms * 10)
    for i in losers[: max(0, total - sum(tenths))]:
        tenths[i] += 1
    shown = [(part, t / 10) for part, t in zip(breakdown.parts, tenths, strict=True) if t]
    return total / 10, shown
