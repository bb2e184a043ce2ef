"""The requests for suggestions that may still be answered, each kept at its place through edits. Not the answers."""

from collections.abc import Callable
from dataclasses import dataclass, field

from offhook_wire.anchor import Anchored
from offhook_wire.messages import SuggestionDone
from offhook_wire.text import Edit, Point

MOST_WAITING = 8
_TELLING = ("no_model", "out_of_step", "failed", "deadline")  # a reason the person can do something about


@dataclass(slots=True)
class Request:
    """`at` is when it was sent, loop seconds. `open` holds the sources that have not said their last word."""

    id: str
    anchored: Anchored
    at: float
    invoked: bool
    open: set[str] = field(default_factory=lambda: {"copy", "small"})
    outcome: str = ""  # the most telling so far


class Asked:
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0
        self._last: str | None = None
        self._waiting: dict[str, Request] = {}

    @property
    def newest(self) -> Request | None:
        return self._waiting.get(self._last) if self._last else None

    def of(self, request_id: str) -> Request | None:
        return self._waiting.get(request_id)

    def new(self, caret: Point, now: float, *, invoked: bool) -> tuple[Request, str | None]:
        """A request at `caret`, and the id of the one it supersedes.

        Older ones are kept: their answer may be on the way, and counts if it still agrees with the text.
        """
        superseded = self._last if self.newest else None
        self._count += 1
        request = Request(f"{self._prefix}-{self._count}", Anchored(caret), now, invoked)
        self._last = request.id
        self._waiting[request.id] = request
        while len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        return request, superseded

    def through(self, edit: Edit) -> None:
        self._keep(lambda request: request.anchored.through(edit) is None)

    def keep_at(self, caret: Point) -> None:
        self._keep(lambda request: request.anchored.caret == caret)

    def forget(self) -> list[Request]:
        """Gives up all; hands back those that are still being worked on."""
        given_up, self._waiting = list(self._waiting.values()), {}
        return given_up

    def done(self, event: SuggestionDone) -> Request | None:
        """The request, once its last source is done and it is the newest."""
        request = self._waiting.get(event.request_id)
        if request is None:
            return None
        request.open.discard(event.source)
        if event.outcome in _TELLING or not request.outcome:
            request.outcome = event.outcome
        if request.open:
            return None
        was_newest = request is self.newest
        del self._waiting[request.id]
        return request if was_newest else None

    def _keep(self, still: Callable[[Request], bool]) -> None:
        self._waiting = {key: request for key, request in self._waiting.items() if still(request)}
