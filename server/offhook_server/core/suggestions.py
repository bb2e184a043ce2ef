"""Which suggestion requests of a session live, and what each waits for. Not their text's making, not the sockets.

                         ┌─ copy: asked at once ──▶ answered (sure: the request is served, the small model rests)
    suggest ──▶ live ────┤                             │ not sure, or nothing
                         └─ small: pausing ────────────┴─deadline──▶ running ──▶ finished
    a newer suggest of the document, a cancel, a close, an edit that does not fit: every open part ends with a reason

At most one request of a document lives, so at most one automatic decode does. What is typed at the anchor while a part
runs must be the beginning of its text (`rebased`); else the part is stale and the engine is stopped.
"""

from dataclasses import dataclass, field

from offhook_server.core.pacing import Pacing
from offhook_wire.anchor import Anchored
from offhook_wire.messages import Outcome, Source
from offhook_wire.text import Edit, Point


@dataclass(frozen=True, slots=True)
class AskCopy:
    request_id: str
    at: Point


@dataclass(frozen=True, slots=True)
class StartSmall:
    """Ask the small model about `uri` at `at`, as the text is now."""

    request_id: str
    uri: str
    at: Point


@dataclass(frozen=True, slots=True)
class StopSmall:
    request_id: str


@dataclass(frozen=True, slots=True)
class Started:
    """`consumed`: characters typed at the place of the request before this began at `at`."""

    request_id: str
    source: Source
    at: Point
    consumed: int = 0


@dataclass(frozen=True, slots=True)
class Said:
    request_id: str
    source: Source
    text: str


@dataclass(frozen=True, slots=True)
class Rebased:
    request_id: str
    source: Source
    consumed: int


@dataclass(frozen=True, slots=True)
class Done:
    request_id: str
    source: Source
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Ask:
    """A request as it came. `wait` False: the person asked for it, no pause. No first token in `deadline_s`: given up.

    `model_ready` False leaves the copy model alone to answer. `cold_tokens`: about as many of the prompt are new to the
    engine.
    """

    request_id: str
    uri: str
    at: Point
    wait: bool = True
    model_ready: bool = True
    deadline_s: float | None = None
    cold_tokens: int = 0


Action = AskCopy | StartSmall | StopSmall | Started | Said | Rebased | Done


@dataclass(slots=True)
class Request:
    request_id: str
    uri: str
    place: Anchored  # where the caret is now, for what has not started
    due: float | None  # when the small model is to be asked; None: asked already, or not at all
    limit: float | None  # no first token by then: given up
    wants_small: bool
    cold_tokens: int
    copying: bool = True
    small: Anchored | None = None  # what the small model has said, once it runs; never before the copy is answered


@dataclass(slots=True)
class Suggestions:
    """All requests of one session."""

    pacing: Pacing = field(default_factory=Pacing)
    _live: dict[str, Request] = field(default_factory=dict)  # by document

    @property
    def deadline(self) -> float | None:
        times = [t for r in self._live.values() for t in (r.due if not r.copying else None, r.limit) if t is not None]
        return min(times, default=None)

    def suggest(self, ask: Ask, now: float) -> list[Action]:
        """A new request; it supersedes the document's last one."""
        actions = self._end(ask.uri, "superseded")
        due = (now + self.pacing.pause_s(ask.cold_tokens) if ask.wait else now) if ask.model_ready else None
        limit = None if ask.deadline_s is None else now + ask.deadline_s
        place = Anchored(ask.at)
        self._live[ask.uri] = Request(ask.request_id, ask.uri, place, due, limit, ask.model_ready, ask.cold_tokens)
        actions.append(AskCopy(ask.request_id, ask.at))
        if not ask.model_ready:
            actions.append(Done(ask.request_id, "small", "no_model"))
        return actions

    def tick(self, now: float) -> list[Action]:
        actions: list[Action] = []
        for request in list(self._live.values()):
            if request.limit is not None and now >= request.limit:
                actions += self._end(request.uri, "deadline")
            elif request.due is not None and now >= request.due and not request.copying:
                request.due = None
                at = request.place.caret
                request.small = Anchored(at)
                started = Started(request.request_id, "small", at, len(request.place.typed))
                actions += [started, StartSmall(request.request_id, request.uri, at)]
        return actions

    def edited(self, uri: str, edits: list[Edit], now: float) -> list[Action]:
        """The person (or an accept) changed the document."""
        self.pacing.key(now)
        request = self._live.get(uri)
        if request is None:
            return []
        consumed = len(request.small.typed) if request.small else 0
        for edit in edits:
            gone = request.place.through(edit)
            if request.small:
                gone = request.small.through(edit) or gone
            if gone:
                return self._end(uri, "stale")
        if request.due is not None:
            request.due = max(request.due, now + self.pacing.pause_s(request.cold_tokens))
        if request.small and len(request.small.typed) != consumed:
            return [Rebased(request.request_id, "small", len(request.small.typed))]
        return []

    def copied(self, request_id: str, text: str | None, *, sure: bool) -> list[Action]:
        """The copy model's answer. When it is sure, the small model is not troubled."""
        request = self._find(request_id)
        if request is None or not request.copying:
            return []
        request.copying = False
        answer = Anchored(request.place.at, request.place.typed)
        if not text:
            actions: list[Action] = [Done(request_id, "copy", "empty")]
        elif not sure:
            actions = [Done(request_id, "copy", "unsure")]
        elif answer.receive(text) or not answer.ghost:
            actions = [Done(request_id, "copy", "stale")]
        else:
            actions = [
                Started(request_id, "copy", request.place.caret, len(request.place.typed)),
                Said(request_id, "copy", answer.ghost),
                Done(request_id, "copy", "finished"),
            ]
            if request.wants_small:
                request.wants_small = False
                actions.append(Done(request_id, "small", "unneeded"))
        if not request.wants_small:
            del self._live[request.uri]
        return actions

    def said(self, request_id: str, text: str) -> list[Action]:
        """More of the small model's text, fit to be shown."""
        request = self._find(request_id)
        if request is None or request.small is None:
            return []
        request.limit = None
        if request.small.receive(text):
            return self._end(request.uri, "stale")
        return [Said(request_id, "small", text)]

    def small_done(self, request_id: str, outcome: Outcome) -> list[Action]:
        """The small model ended by itself, or failed."""
        request = self._find(request_id)
        if request is None or request.small is None:
            return []
        del self._live[request.uri]
        if outcome == "finished" and not request.small.text:
            outcome = "empty"
        return [Done(request_id, "small", outcome)]

    def cancel(self, request_id: str) -> list[Action]:
        request = self._find(request_id)
        return self._end(request.uri, "cancelled") if request else []

    def closed(self, uri: str) -> list[Action]:
        """The document was closed or lost step."""
        return self._end(uri, "stale")

    def close(self) -> list[Action]:
        """The session is over."""
        return [action for uri in list(self._live) for action in self._end(uri, "cancelled")]

    def is_live(self, request_id: str) -> bool:
        return self._find(request_id) is not None

    def _find(self, request_id: str) -> Request | None:
        return next((r for r in self._live.values() if r.request_id == request_id), None)

    def _end(self, uri: str, outcome: Outcome) -> list[Action]:
        request = self._live.pop(uri, None)
        if request is None:
            return []
        actions: list[Action] = []
        if request.small:
            actions.append(StopSmall(request.request_id))
        if request.copying:
            actions.append(Done(request.request_id, "copy", outcome))
        if request.wants_small:
            actions.append(Done(request.request_id, "small", outcome))
        return actions
