"""Everything one window measures, in one place: what the driver notes and the overlay shows. Only hands it on."""

from collections.abc import Iterable

from offhook_app.state.breakdown import Key
from offhook_app.state.keystroke import Keystrokes
from offhook_app.state.per_key import PerKey
from offhook_app.state.round_trips import RoundTrips
from offhook_app.state.usage import Decodes, Requests
from offhook_wire.messages import FeedbackItem, Suggest, SuggestionDone


class Measured:
    def __init__(self) -> None:
        self.keys = 0
        self.keystrokes = Keystrokes()
        self.requests = Requests()
        self.decodes = Decodes()
        self.trips = RoundTrips()
        self.per_key = PerKey()

    def key(self, key: Key, *, paints: bool = True) -> None:
        self.keys += 1
        self.keystrokes.key(key, paints=paints)

    def asked(self, request: Suggest, asked_at: float, sent_at: float, *, by_key: bool) -> None:
        self.requests.ask(request.request_id, request.lane)
        self.keystrokes.asked(request.request_id, asked_at, sent_at, by_key=by_key)

    def painted(self, request_id: str, began: float, ended: float) -> None:
        self.requests.show(request_id)
        self.keystrokes.painted(request_id, began, ended)

    def done(self, event: SuggestionDone, server_ahead_ms: float | None) -> None:
        self.requests.done(event)
        self.keystrokes.done(event, server_ahead_ms)
        if event.source == "small":
            self.decodes.done(event.timing)

    def feedback(self, items: Iterable[FeedbackItem]) -> None:
        self.requests.feedback(items)
