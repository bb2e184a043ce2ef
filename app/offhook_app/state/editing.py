"""One document being edited: what to tell the server, what ghost text to show. Not the widget, not the line.

    key ──▶ edited ──▶ didChange ──▶ (nothing alive here?) suggest ──▶ started, deltas, done ──▶ ghost
                                                                             │
         caret, selection, composition, focus, dismiss ──▶ ghost gone, request cancelled

Facts come in as method calls with `now` (loop seconds), frozen actions go out, `deadline` says when to call `tick`.
A suggestion is shown only where it agrees with the text as it is now; no call ever changes the text by itself: an
accept hands out an `Insert`, which comes back as an edit like any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from offhook_app.state.accepting import Amount, tab_accepts, taken
from offhook_app.state.asked import Asked
from offhook_app.state.deleted import Deleted
from offhook_app.state.document import Document
from offhook_app.state.line_state import LineState
from offhook_app.state.offers import Offer, Offers, Outcome, Tail
from offhook_app.state.status import Deep, Silence, Standing
from offhook_wire.messages import (
    Cancel,
    ClientEvent,
    Lane,
    ServerEvent,
    ServerStatus,
    Source,
    Suggest,
    SuggestionDone,
    SuggestionFeedback,
    SuggestionStarted,
    TextDelta,
)
from offhook_wire.text import Edit, Point

MOST_CHARACTERS = 1024 * 1024
SETTLE_S = 0.3  # the caret rested here
THINKING_S = 0.4  # a request older than this is no longer waiting for a pause
# a request older than this is said to be late; should it come after all, it is shown
PATIENCE_S: dict[Lane, float] = {"fast": 10.0, "deep": 60.0}

Origin = Literal["typed", "undo", "redo", "accept", "paste", "program"]


@dataclass(frozen=True, slots=True)
class Opened:
    """`prefix` makes this document's request ids its own."""

    uri: str
    name: str
    language: str
    text: str
    prefix: str = "r"
    never_sent: bool = False
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Send:
    message: ClientEvent


@dataclass(frozen=True, slots=True)
class ShowGhost:
    text: str
    at: Point
    tail: Tail
    request_id: str
    source: Source
    new: bool  # another suggestion than was there before


@dataclass(frozen=True, slots=True)
class ClearGhost:
    pass


@dataclass(frozen=True, slots=True)
class Insert:
    """Put this at the caret, as one undo step."""

    text: str


Action = Send | ShowGhost | ClearGhost | Insert


class Editing:
    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._document = Document(opened.uri, opened.language, opened.text)
        self._caret = Point(0, 0)
        self._selection = self._composing = False
        self._focus = True
        self._line_up = False
        self._typed_unasked = False  # the newest wish for a suggestion met no line
        self._asked = Asked(opened.prefix)
        self._offers = Offers()
        self._deleted = Deleted()
        self._on_screen: ShowGhost | None = None
        self._silence: Silence | None = None
        self._settles_at: float | None = None

    # -- facts ----------------------------------------------------------------------------------------------------

    def start(self) -> list[Action]:
        return [Send(self._document.whole())] if self._shared else []

    def close(self) -> list[Action]:
        actions = self._drop("ignored")
        return [*actions, Send(self._document.close())] if self._shared else actions

    def edited(self, edits: Sequence[Edit], origin: Origin, caret: Point, now: float) -> list[Action]:
        """The text changed by `edits`, in order; the caret is now at `caret`."""
        change = self._document.apply(edits)
        actions: list[Action] = [Send(change)] if self._shared else []
        for edit in edits:
            self._deleted.note(edit, now)
        self._caret, self._selection, self._settles_at = caret, False, None
        self._silence = _quiet_after(origin, edits)
        if self._silence or origin == "program":
            return [*actions, *self._drop("ignored")]
        for edit in edits:
            self._asked.through(edit)
            self._offers.through(edit)
        self._asked.keep_at(caret)
        self._offers.keep_at(caret)
        return [*actions, *self._refresh(now), *self._ask_if_bare(now)]

    def caret(self, point: Point, has_selection: bool, now: float) -> list[Action]:
        moved = point != self._caret
        selected = has_selection and not self._selection
        self._caret, self._selection = point, has_selection
        if not moved and not selected:
            return []
        self._silence = None
        self._settles_at = None if has_selection else now + SETTLE_S
        return self._drop("ignored")

    def composing(self, active: bool) -> list[Action]:
        self._composing = active
        return self._drop("ignored") if active else []

    def focus(self, focused: bool) -> list[Action]:
        self._focus, self._settles_at = focused, None
        return [] if focused else self._drop("ignored")

    def line(self, state: LineState) -> list[Action]:
        came_up = state.up and not self._line_up
        self._line_up = state.up
        if came_up and self._typed_unasked:
            self._settles_at = 0.0  # at once
        if state.up:
            return []
        self._asked.forget()
        self._offers.cut()
        return self._show()

    def accept(self, amount: Amount, now: float) -> list[Action]:
        """Nothing comes back where the key means something else now."""
        offer = self._offers.shown
        if offer is None:
            return []
        if amount == "all":
            line, column = self._document.text.lines[self._caret.line], self._caret.column
            seen_s = None if offer.painted_at is None else now - offer.painted_at
            if not tab_accepts(line[:column], line[column:], seen_s):
                return []
        text = taken(offer.anchored.ghost, amount)
        offer.accepted_length += len(text)
        return [Insert(text)]

    def dismiss(self) -> list[Action]:
        if self._offers.shown is None:
            return []
        self._silence, self._settles_at = Silence.DISMISSED, None
        return self._drop("rejected")

    def invoke(self, now: float) -> list[Action]:
        """The person asks: also where a suggestion would not come by itself."""
        if self._offers.shown is not None:
            return []
        self._silence = None
        return self._drop("ignored") + self._ask(now, invoked=True)

    def more(self, now: float) -> list[Action]:
        """The person asks the deep model: what is shown stays, its answer is one more to choose from."""
        return [] if self._asked.newest("deep") else self._ask(now, invoked=True, lane="deep")

    def turn(self, step: int, now: float) -> list[Action]:
        """The next (1) or the previous (-1) suggestion; where there is only one, the next is the deep model's."""
        if self._offers.turn(step):
            return self._show()
        return self.more(now) if step > 0 and self._offers.shown else []

    def painted(self, now: float) -> None:
        """The ghost text last handed out is on the screen."""
        if (offer := self._offers.shown) and offer.painted_at is None:
            offer.painted_at = now

    def received(self, event: ServerEvent, now: float) -> list[Action]:
        match event:
            case SuggestionStarted():
                return self._started(event)
            case TextDelta():
                return self._delta(event, now)
            case SuggestionDone():
                return self._done(event, now)
            case ServerStatus(model="ready") if self._silence is Silence.NO_MODEL:
                self._silence = None
                return self._ask_if_bare(now)
            case _:
                return []

    @property
    def deadline(self) -> float | None:
        return self._settles_at

    def tick(self, now: float) -> list[Action]:
        if self._settles_at is None or now < self._settles_at:
            return []
        self._settles_at = None
        return self._ask_if_bare(now)

    # -- what one can see -------------------------------------------------------------------------------------------

    def standing(self, now: float) -> Standing:
        name, line = self._opened.name, self._caret.line + 1
        if shown := self._offers.shown:
            choices = self._offers.choices
            number, deep = choices.index(shown) + 1, self._deep(shown, choices)
            return replace(_standing_of(shown, line, name), number=number, choices=len(choices), deep=deep)
        if silence := self._obstacle or self._silence:
            return Standing("silent", silence=silence, line=line, name=name)
        if newest := self._asked.newest("deep") or self._asked.newest("fast"):
            if now - newest.at > PATIENCE_S[newest.lane]:
                return Standing("silent", silence=Silence.TOO_SLOW, line=line, name=name)
            stage: Literal["thinking", "waiting"] = "thinking" if now - newest.at > THINKING_S else "waiting"
            return Standing(stage, line=line, name=name)
        return Standing("idle", line=line, name=name)

    def _deep(self, shown: Offer, choices: list[Offer]) -> Deep:
        if shown.source == "deep":
            return "shown"
        if any(offer.source == "deep" for offer in choices):
            return "waiting"
        return "asked" if self._asked.newest("deep") else "idle"

    @property
    def ghost(self) -> str:
        return self._on_screen.text if self._on_screen else ""

    # -- asking ---------------------------------------------------------------------------------------------------

    @property
    def _shared(self) -> bool:
        """Whether the server may have this document at all."""
        return not self._opened.never_sent and len(self._opened.text) <= MOST_CHARACTERS

    @property
    def _obstacle(self) -> Silence | None:
        obstacles = (
            (self._opened.never_sent, Silence.NEVER_SENT),
            (not self._shared, Silence.TOO_LARGE),
            (self._opened.read_only, Silence.READ_ONLY),
            (not self._line_up, Silence.OFF_THE_LINE),
            (self._composing, Silence.COMPOSING),
            (self._selection, Silence.SELECTION),
            (not self._focus, Silence.NO_FOCUS),
        )
        return next((silence for there, silence in obstacles if there), None)

    def _ask_if_bare(self, now: float) -> list[Action]:
        """Asks unless something alive is here already: what is shown, or what is still arriving."""
        alive = any(offer.showable or offer.tail == "arriving" for offer in self._offers if not offer.withheld)
        return [] if alive else self._ask(now, invoked=False)

    def _ask(self, now: float, *, invoked: bool, lane: Lane = "fast") -> list[Action]:
        obstacle = self._obstacle
        self._typed_unasked = obstacle is Silence.OFF_THE_LINE
        if obstacle:
            return []
        self._silence, self._settles_at = None, None
        request, superseded = self._asked.new(self._caret, now, invoked=invoked, lane=lane)
        position = self._document.position(self._caret)
        trigger: Literal["automatic", "invoked"] = "invoked" if invoked else "automatic"
        message = Suggest(
            request.id, self._opened.uri, self._document.version, position, trigger, supersedes=superseded, lane=lane
        )
        return [Send(message)]

    # -- answers --------------------------------------------------------------------------------------------------

    def _started(self, event: SuggestionStarted) -> list[Action]:
        if request := self._asked.of(event.request_id):
            anchored = request.anchored.behind(event.consumed)
            self._offers.add(
                Offer(
                    request.id, event.suggestion_id, event.item_id, event.source, anchored, request.at, request.invoked
                )
            )
        return []

    def _delta(self, event: TextDelta, now: float) -> list[Action]:
        offer = self._offers.of(event.item_id)
        if offer is None:
            return []
        offer.tail = "arriving"
        if not offer.anchored.receive(event.delta):
            return self._refresh(now)
        self._offers.end(offer, "ignored")
        newest = self._asked.newest("fast")
        actions = [*self._refresh(now), Send(Cancel(offer.request_id)), *self._told()]
        return [*actions, *self._ask_if_bare(now)] if newest and newest.id == offer.request_id else actions

    def _done(self, event: SuggestionDone, now: float) -> list[Action]:
        finished = [o for o in self._offers if o.suggestion_id == event.suggestion_id]
        for offer in finished:
            offer.tail = "complete"
            self._offers.settle(offer)
        last = self._asked.done(event)
        actions = self._refresh(now)
        if last and last.lane == "fast" and event.outcome == "stale":
            return [*actions, *self._ask_if_bare(now)]  # it was asked before what has been typed since
        if last and self._offers.shown is None:
            held = any(offer.withheld for offer in self._offers)
            self._silence = Silence.REVERSAL if held else _SILENT_OUTCOMES.get(last.outcome, Silence.NOTHING_LIKELY)
        return actions

    # -- the screen -----------------------------------------------------------------------------------------------

    def _refresh(self, now: float) -> list[Action]:
        """Chooses again what is shown, and tells the server what ended."""
        self._offers.choose(lambda offer: self._deleted.would_return(offer.anchored.text, now))
        return [*self._show(), *self._told()]

    def _show(self) -> list[Action]:
        offer, before = self._offers.shown, self._on_screen
        if offer is None or not offer.anchored.ghost:
            self._on_screen = None
            return [ClearGhost()] if before else []
        new = before is None or (before.request_id, before.source) != (offer.request_id, offer.source)
        ghost = ShowGhost(offer.anchored.ghost, offer.anchored.caret, offer.tail, offer.request_id, offer.source, new)
        self._on_screen = ghost
        same = before is not None and (before.text, before.at, before.tail) == (ghost.text, ghost.at, ghost.tail)
        return [] if same else [ghost]

    def _drop(self, outcome: Outcome) -> list[Action]:
        """Everything here ends: what is shown, what is arriving, what was asked for."""
        running = {offer.request_id for offer in self._offers if offer.tail == "arriving"}
        running.update(request.id for request in self._asked.forget())
        self._offers.end_all(outcome)
        cancels = [Send(Cancel(request_id)) for request_id in sorted(running)]
        return [*self._show(), *cancels, *self._told()]

    def _told(self) -> list[Action]:
        items = self._offers.pending_feedback()
        return [Send(SuggestionFeedback(items))] if items else []


_SILENT_OUTCOMES = {
    "no_model": Silence.NO_MODEL,
    "out_of_step": Silence.OUT_OF_STEP,
    "failed": Silence.FAILED,
    "deadline": Silence.TOO_SLOW,
}


def _quiet_after(origin: Origin, edits: Sequence[Edit]) -> Silence | None:
    if origin in ("undo", "redo"):
        return Silence.AFTER_UNDO
    if origin == "paste" and any("\n" in edit.text for edit in edits):
        return Silence.AFTER_PASTE
    return None


def _standing_of(offer: Offer, line: int, name: str) -> Standing:
    ghost = offer.anchored.ghost
    lines = ghost.strip("\n").count("\n") + 1
    if offer.tail == "cut":
        return Standing("cut", lines=lines, line=line, name=name)
    if offer.tail == "arriving":
        return Standing("arriving", lines=lines, line=line, name=name)
    if not ghost.strip():
        return Standing("white", spaces=len(ghost), line=line, name=name)
    if offer.anchored.typed or offer.accepted_length:
        return Standing("typed_into", lines=lines, line=line, name=name)
    return Standing("shown", lines=lines, line=line, name=name)
