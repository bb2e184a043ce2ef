"""Watches each key until it is known what came of it: a suggestion on the screen, or its own paint and a reason.

    key ──▶ handled ──▶ own paint ┬─ asked ──▶ shown ──▶ painted, done ──▶ a breakdown of the suggestion
                                  └─ silent ──▶ a breakdown of its own paint

Times are loop seconds. Nothing is drawn here, and nothing is kept but the last figures. A suggestion that no key asked
for (the caret rested) is no keystroke.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from offhook_app.state.breakdown import Breakdown, Key, Shown, of_own_paint, of_suggestion
from offhook_app.state.percentiles import Newest
from offhook_app.state.status import Standing
from offhook_wire.messages import Source, SuggestionDone, Timing

MOST_OPEN = 16


@dataclass(slots=True)
class Figures:
    """Of the last suggestions of one source, ms: key to ghost, and each part by itself."""

    totals: Newest = field(default_factory=Newest)
    parts: defaultdict[str, Newest] = field(default_factory=lambda: defaultdict(Newest))

    def add(self, breakdown: Breakdown) -> None:
        self.totals.add(breakdown.total_ms)
        for part in breakdown.parts:
            self.parts[part.name].add(part.ms)


@dataclass(slots=True)
class _Pressed:
    """The newest key. `paints` False: it changes nothing by itself."""

    key: Key
    paints: bool
    handled_at: float | None = None
    paint: tuple[float, float] | None = None
    silent: Standing | None = None
    settled: bool = False


@dataclass(slots=True)
class _Journey:
    key: Key | None
    asked_at: float
    sent_at: float
    source: Source | None = None
    arrived_at: float = 0.0
    laid_at: float = 0.0
    paint: tuple[float, float] | None = None
    timing: Timing | None = None
    server_ahead_ms: float | None = None


class Keystrokes:
    """`latest` is of the newest key that came to something, `suggested` of the newest that got a suggestion."""

    def __init__(self) -> None:
        self.latest: Breakdown | None = None
        self.suggested: Breakdown | None = None
        self.own_paint = Newest()
        self._figures: dict[Source, Figures] = {"copy": Figures(), "small": Figures(), "deep": Figures()}
        self._pressed: _Pressed | None = None
        self._journeys: dict[str, _Journey] = {}

    @property
    def figures(self) -> Mapping[Source, Figures]:
        return self._figures

    def key(self, key: Key, *, paints: bool = True) -> None:
        self._pressed = _Pressed(key, paints)

    def handled(self, at: float) -> None:
        if self._pressed and self._pressed.handled_at is None:
            self._pressed.handled_at = at

    def key_painted(self, began: float, ended: float) -> None:
        """The first frame after the newest key."""
        if (pressed := self._pressed) and pressed.paint is None:
            pressed.paint = began, ended
            self.own_paint.add((ended - pressed.key.at) * 1000)
            self._settle(pressed)

    def silent(self, standing: Standing) -> None:
        """There is no suggestion, for a reason."""
        if self._pressed:
            self._pressed.silent = standing
            self._settle(self._pressed)

    def asked(self, request_id: str, asked_at: float, sent_at: float, *, by_key: bool) -> None:
        key = self._pressed.key if self._pressed and by_key else None
        self._journeys[request_id] = _Journey(key, asked_at, sent_at)
        while len(self._journeys) > MOST_OPEN:
            del self._journeys[next(iter(self._journeys))]

    def shown(self, request_id: str, source: Source, arrived_at: float, laid_at: float) -> None:
        """The first ghost text of a request was laid out; `arrived_at` is when the event that brought it came in."""
        journey = self._journeys.get(request_id)
        if journey and journey.source is None:
            journey.source, journey.arrived_at, journey.laid_at = source, arrived_at, laid_at

    def painted(self, request_id: str, began: float, ended: float) -> None:
        journey = self._journeys.get(request_id)
        if journey is None or journey.source is None or journey.paint is not None:
            return
        journey.paint = began, ended
        if self._pressed and self._pressed.key is journey.key:
            self._pressed.settled = True
        self._finish(request_id, journey)

    def done(self, event: SuggestionDone, server_ahead_ms: float | None) -> None:
        journey = self._journeys.get(event.request_id)
        if journey and journey.source == event.source:
            journey.timing, journey.server_ahead_ms = event.timing, server_ahead_ms
            self._finish(event.request_id, journey)

    def _settle(self, pressed: _Pressed) -> None:
        if pressed.settled or pressed.silent is None:
            return
        if not pressed.paints:
            self.latest = Breakdown(pressed.key, 0.0, (), silent=pressed.silent)
        elif pressed.paint and pressed.handled_at is not None:
            self.latest = of_own_paint(pressed.key, pressed.handled_at, *pressed.paint, pressed.silent)
        else:
            return
        pressed.settled = True

    def _finish(self, request_id: str, journey: _Journey) -> None:
        if journey.paint is None or journey.timing is None or journey.source is None:
            return
        del self._journeys[request_id]
        if journey.key is None:
            return
        shown = Shown(
            journey.asked_at,
            journey.sent_at,
            journey.arrived_at,
            journey.laid_at,
            *journey.paint,
            journey.source,
            journey.timing,
            journey.server_ahead_ms,
        )
        breakdown = self.suggested = of_suggestion(journey.key, shown)
        self._figures[journey.source].add(breakdown)
        if self.latest is None or self.latest.key.at <= journey.key.at:
            self.latest = breakdown
