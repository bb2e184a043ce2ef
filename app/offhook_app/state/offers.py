"""Every suggestion still alive for one document, and which of them is on the screen. Not when to ask for one.

    started ──text──▶ shown ──accepted to the end──▶ gone: accepted
       │                ├──another that goes further─▶ gone: replaced
       │                ├──dismissed────────────────▶ gone: rejected
       └──edit, caret, focus, selection─────────────▶ gone: ignored (or partial)

The one on the screen stays while it agrees with the text. Another takes its place only by saying the same and more, and
the deep model's never by itself: it is a second opinion, one turns to it by a key.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from offhook_wire.anchor import Anchored
from offhook_wire.messages import FeedbackItem, Source
from offhook_wire.text import Edit, Point

Tail = Literal["arriving", "cut", "complete"]
Outcome = Literal["accepted", "partial", "rejected", "ignored", "replaced"]


@dataclass(slots=True, eq=False)
class Offer:
    """`painted_at` is when the screen first showed it, `asked_at` when the server was asked; loop seconds."""

    request_id: str
    suggestion_id: str
    item_id: str
    source: Source
    anchored: Anchored
    asked_at: float
    invoked: bool = False
    tail: Tail = "arriving"
    painted_at: float | None = None
    accepted_length: int = 0
    withheld: bool = False

    @property
    def used_up(self) -> bool:
        return self.tail != "arriving" and not self.anchored.ghost

    @property
    def showable(self) -> bool:
        return bool(self.anchored.ghost) and not self.withheld

    def feedback(self, outcome: Outcome) -> FeedbackItem:
        if outcome != "accepted" and self.accepted_length:
            outcome = "partial"
        latency_ms = None if self.painted_at is None else (self.painted_at - self.asked_at) * 1000
        return FeedbackItem(self.suggestion_id, outcome, self.accepted_length, self.painted_at is not None, latency_ms)


class Offers:
    def __init__(self) -> None:
        self._alive: dict[str, Offer] = {}  # by item id
        self.shown: Offer | None = None
        self._feedback: list[FeedbackItem] = []

    def __iter__(self) -> Iterator[Offer]:
        return iter(list(self._alive.values()))

    def of(self, item_id: str) -> Offer | None:
        return self._alive.get(item_id)

    def add(self, offer: Offer) -> None:
        """One that is alive already stays as it is, whatever a server says twice."""
        self._alive.setdefault(offer.item_id, offer)

    def end(self, offer: Offer, outcome: Outcome) -> None:
        del self._alive[offer.item_id]
        self._feedback.append(offer.feedback(outcome))
        if self.shown is offer:
            self.shown = None

    def end_all(self, outcome: Outcome) -> None:
        for offer in self:
            self.end(offer, outcome if offer is self.shown else "ignored")

    def through(self, edit: Edit) -> None:
        """Carries every offer through one edit; those it contradicts end."""
        for offer in self:
            if offer.anchored.through(edit):
                self.end(offer, "ignored")
            else:
                self.settle(offer)

    def keep_at(self, caret: Point) -> None:
        """Ends what belongs to another place than the caret's."""
        for offer in self:
            if offer.anchored.caret != caret:
                self.end(offer, "ignored")

    def settle(self, offer: Offer) -> None:
        """Ends an offer of which nothing is left to show or to come."""
        if offer.used_up:
            self.end(offer, "accepted" if offer.accepted_length else "ignored")

    def cut(self) -> None:
        """The line is gone: what has come stays, what was to come does not."""
        for offer in self:
            if offer.tail == "arriving":
                offer.tail = "cut"
                self.settle(offer)

    def choose(self, withhold: Callable[[Offer], bool]) -> Offer | None:
        """Decides what the screen shows. `withhold` is asked of an offer before it is first shown."""
        for offer in self:
            if offer is not self.shown and not offer.invoked:
                offer.withheld = bool(offer.anchored.ghost) and withhold(offer)
        if self.shown is None:
            # of equals the newest; copies come first because they are there first and cost nothing
            ready = [offer for offer in self if offer.showable]
            self.shown = max(ready, key=lambda o: (o.source == "copy", o.asked_at), default=None)
        elif further := self._further(self.shown):
            self.end(self.shown, "replaced")
            self.shown = further
        return self.shown

    @property
    def choices(self) -> list[Offer]:
        """What the person may turn to, oldest first: the one shown, and those that say something else."""
        choices = [self.shown] if self.shown else []
        for offer in sorted(self, key=lambda o: -len(o.anchored.ghost)):
            told = any(other.anchored.ghost.startswith(offer.anchored.ghost) for other in choices)
            if offer.showable and not told:
                choices.append(offer)
        return [offer for offer in self if offer in choices]

    def turn(self, step: int) -> bool:
        """Shows the next (1) or the previous (-1) of the choices; False where there is none."""
        choices = self.choices
        if self.shown is None or len(choices) < 2:
            return False
        self.shown = choices[(choices.index(self.shown) + step) % len(choices)]
        return True

    def _further(self, shown: Offer) -> Offer | None:
        if shown.source == "deep":
            return None
        ghost = shown.anchored.ghost
        rivals = [o for o in self if o.showable and o.source != "deep" and len(o.anchored.ghost) > len(ghost)]
        fits = [o for o in rivals if o.anchored.ghost.startswith(ghost)]
        return fits[0] if shown.tail != "arriving" and fits else None

    def pending_feedback(self) -> list[FeedbackItem]:
        """What ended since the last call."""
        items, self._feedback = self._feedback, []
        return items
