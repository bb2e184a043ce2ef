"""The requests for suggestions that may still be answered, each kept at its place through edits. Not the answers."""

from collections.abc import Callable
from dataclasses import dataclass, field

from offhook_wire.anchor import Anchored
from offhook_wire.messages import Lane, Source, SuggestionDone
from offhook_wire.text import Edit, Point

MOST_WAITING = 8
_TELLING = ("no_model", "out_of_step", "failed", "deadline")  # a reason the person can do something about
_SOURCES: dict[Lane, tuple[Source, ...]] = {"fast": ("copy", "small"), "deep": ("deep",)}


@dataclass(slots=True)
class Request:
    """`at` is when it was sent, loop seconds. `open` holds the sources that have not said their last word."""

    id: str
    anchored: Anchored
    at: float
    invoked: bool
    lane: Lane = "fast"
    open: set[Source] = field(init=False)
    outcome: str = ""  # the most telling so far

    def __post_init__(self) -> None:
        self.open = set(_SOURCES[self.lane])


class Asked:
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0
        self._last: dict[Lane, str] = {}
        self._waiting: dict[str, Request] = {}

    def newest(self, lane: Lane) -> Request | None:
        return self._waiting.get(self._last.get(lane, ""))

    def of(self, request_id: str) -> Request | None:
        return self._waiting.get(request_id)

    def new(self, caret: Point, now: float, *, invoked: bool, lane: Lane = "fast") -> tuple[Request, str | None]:
        """A request at `caret`, and the id of the one it supersedes on its lane.

        Older ones are kept: their answer may be on the way, and counts if it still agrees with the text.
        """
        before = self.newest(lane)
        self._count += 1
        request = Request(f"{self._prefix}-{self._count}", Anchored(caret), now, invoked, lane)
        self._last[lane] = request.id
        self._waiting[request.id] = request
        while len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        return request, before.id if before else None

    def through(self, edit: Edit) -> None:
        self._keep(lambda request: request.anchored.through(edit) is None)

    def keep_at(self, caret: Point) -> None:
        self._keep(lambda request: request.anchored.caret == caret)

    def forget(self) -> list[Request]:
        """Gives up all; hands back those that are still being worked on."""
        given_up, self._waiting = list(self._waiting.values()), {}
        return given_up

    def done(self, event: SuggestionDone) -> Request | None:
        """The request, once its last source is done and it is the newest of its lane."""
        request = self._waiting.get(event.request_id)
        if request is None:
            return None
        request.open.discard(event.source)
        if event.outcome in _TELLING or not request.outcome:
            request.outcome = event.outcome
        if request.open:
            return None
        was_newest = request is self.newest(request.lane)
        del self._waiting[request.id]
        return request if was_newest else None

    def _keep(self, still: Callable[[Request], bool]) -> None:
        self._waiting = {key: request for key, request in self._waiting.items() if still(request)}
