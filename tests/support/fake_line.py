"""A line that goes nowhere: it keeps what is sent and lets a test speak for the server."""

from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from offhook_app.state.line_meter import LineFigures
from offhook_app.state.line_state import LineState
from offhook_wire.messages import (
    ClientEvent,
    Outcome,
    Position,
    ServerEvent,
    Source,
    Suggest,
    SuggestionDone,
    SuggestionStarted,
    TextDelta,
    Timing,
)

M = TypeVar("M")


class FakeLine(QObject):
    received = Signal(object)
    state = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[ClientEvent] = []
        self.figures = LineFigures()

    def send(self, message: ClientEvent) -> None:
        self.sent.append(message)

    def all(self, kind: type[M]) -> list[M]:
        return [message for message in self.sent if isinstance(message, kind)]

    def up(self) -> None:
        self.state.emit(LineState("open", 0.8))

    def says(self, event: ServerEvent) -> None:
        self.received.emit(event)

    def newest_suggest(self) -> Suggest:
        return self.all(Suggest)[-1]

    def answers(self, text: str, *, source: Source = "copy", done: bool = True) -> str:
        """A suggestion for the newest request; hands back its item id."""
        asked = self.newest_suggest()
        item_id = f"item-{asked.request_id}-{source}"
        self.says(started(asked, source))
        self.says(TextDelta(item_id, text, 1))
        if done:
            self.finishes(source=source)
        return item_id

    def finishes(self, *, source: Source = "copy", outcome: Outcome = "finished", timing: Timing | None = None) -> None:
        asked = self.newest_suggest()
        suggestion_id = f"s-{asked.request_id}-{source}" if outcome == "finished" else None
        self.says(SuggestionDone(asked.request_id, source, outcome, suggestion_id, timing or Timing()))


def started(asked: Suggest, source: Source = "copy") -> SuggestionStarted:
    return SuggestionStarted(
        request_id=asked.request_id,
        suggestion_id=f"s-{asked.request_id}-{source}",
        response_id=f"resp-{asked.request_id}",
        item_id=f"item-{asked.request_id}-{source}",
        source=source,
        uri=asked.uri,
        version=asked.version,
        position=Position(asked.position.line, asked.position.character),
    )
