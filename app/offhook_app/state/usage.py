"""What became of the keys and requests, and what the model's decodes were like, counted. Not their timing.

A request is wasted when its last word came and the screen never showed anything of it; cancelled when a newer one, or
the person, ended it before its first words.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from offhook_app.state.keystroke import MOST_OPEN
from offhook_app.state.percentiles import Newest
from offhook_wire.messages import FeedbackItem, Lane, Source, SuggestionDone, Timing

_ENDED_FROM_OUTSIDE = ("superseded", "cancelled")
_SOURCES: dict[Lane, tuple[Source, ...]] = {"fast": ("copy", "small"), "deep": ("deep",)}
_TAKEN = ("accepted", "partial")


@dataclass(slots=True)
class _Request:
    """`sources` are those that have not said their last word."""

    sources: set[Source]
    shown: bool = False
    ended_from_outside: bool = False

    @property
    def open(self) -> bool:
        return bool(self.sources) and not self.shown

    @property
    def was_cancelled(self) -> bool:
        return self.ended_from_outside and not self.shown


class Requests:
    """`asked` are those shown, those wasted, and those still open."""

    def __init__(self) -> None:
        self.asked = self.shown = self.accepted = 0
        self._cancelled_before = 0
        self._newest: dict[str, _Request] = {}  # the screen may show one after its last word came

    def ask(self, request_id: str, lane: Lane) -> None:
        self.asked += 1
        self._newest[request_id] = _Request(set(_SOURCES[lane]))
        if len(self._newest) > MOST_OPEN:
            oldest = self._newest.pop(next(iter(self._newest)))
            self._cancelled_before += oldest.was_cancelled

    def show(self, request_id: str) -> None:
        """Its first words are on the screen."""
        request = self._newest.get(request_id)
        if request and not request.shown:
            request.shown = True
            self.shown += 1

    def done(self, event: SuggestionDone) -> None:
        if request := self._newest.get(event.request_id):
            request.ended_from_outside = request.ended_from_outside or event.outcome in _ENDED_FROM_OUTSIDE
            request.sources.discard(event.source)

    def feedback(self, items: Iterable[FeedbackItem]) -> None:
        self.accepted += sum(item.outcome in _TAKEN for item in items)

    @property
    def wasted(self) -> int:
        return self.asked - self.shown - sum(request.open for request in self._newest.values())

    @property
    def cancelled(self) -> int:
        return self._cancelled_before + sum(request.was_cancelled for request in self._newest.values())


class Decodes:
    """Of the last answers of the small model. Shares are 0 to 1, None where nothing was measured."""

    def __init__(self) -> None:
        self.tokens_per_s = Newest()
        self._prompt_tokens, self._cached_tokens = Newest(), Newest()

    def done(self, timing: Timing) -> None:
        if timing.prompt_tokens:
            self._prompt_tokens.add(timing.prompt_tokens)
            self._cached_tokens.add(timing.cached_tokens)
        if timing.output_tokens > 1 and timing.decode_ms > 0:
            self.tokens_per_s.add((timing.output_tokens - 1) / timing.decode_ms * 1000)

    @property
    def cached_share_by_token(self) -> float | None:
        """Every prompt token counts the same."""
        tokens = sum(self._prompt_tokens)
        return sum(self._cached_tokens) / tokens if tokens else None

    @property
    def cached_share_by_request(self) -> float | None:
        """Every request counts the same."""
        shares = [c / p for p, c in zip(self._prompt_tokens, self._cached_tokens, strict=True)]
        return sum(shares) / len(shares) if shares else None
