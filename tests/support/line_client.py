"""One real line of the app for a test: its driver, what it delivered, and what it looks like now."""

import asyncio
from collections.abc import Callable
from typing import Literal

from offhook_app.state.line_state import LineState
from offhook_app.transport.line_driver import LineDriver, Server
from offhook_wire.messages import (
    Change,
    DocumentDidChange,
    DocumentDidOpen,
    Lane,
    Position,
    Range,
    ServerEvent,
    Suggest,
    SuggestionDone,
    TextDelta,
)
from offhook_wire.text import Text

LIMIT_S = 20.0


class LineClient:
    """`async with` it. One document, `uri`, edited at its end."""

    uri = "file:///folder/a.py"

    def __init__(self, server: Server) -> None:
        self.events: list[ServerEvent] = []
        self.states: list[LineState] = []
        self.text = Text()
        self.version = 1
        self._changed = asyncio.Event()
        self.driver = LineDriver(server, self._deliver, self._state)

    async def __aenter__(self) -> "LineClient":
        await self.driver.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.driver.stop()

    def _deliver(self, event: ServerEvent) -> None:
        self.events.append(event)
        self._changed.set()

    def _state(self, state: LineState) -> None:
        self.states.append(state)
        self._changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def until_kind(self, kind: str) -> None:
        await self.until(lambda: bool(self.states) and self.states[-1].kind == kind)

    def open(self, text: str) -> None:
        self.text = Text(text)
        self.driver.send(DocumentDidOpen(self.uri, "python", self.version, text, self.text.hash))

    def type(self, text: str, *, wrong_hash: bool = False) -> None:
        end = self.text.end
        at = Position(end.line, self.text.units(end, "utf-16"))
        self.text.replace(end, end, text)
        base, self.version = self.version, self.version + 1
        hash_ = "b2:00" if wrong_hash else self.text.hash
        self.driver.send(DocumentDidChange(self.uri, base, self.version, [Change(Range(at, at), text)], hash_))

    def ask(self, request_id: str, *, invoked: bool = True, lane: Lane = "fast") -> None:
        end = self.text.end
        position = Position(end.line, self.text.units(end, "utf-16"))
        trigger: Literal["invoked", "automatic"] = "invoked" if invoked else "automatic"
        self.driver.send(Suggest(request_id, self.uri, self.version, position, trigger, lane=lane))

    def done(self, request_id: str) -> SuggestionDone | None:
        """The small or the deep model's last word."""
        for event in self.events:
            if isinstance(event, SuggestionDone) and event.request_id == request_id and event.source != "copy":
                return event
        return None

    async def until_done(self, request_id: str) -> SuggestionDone:
        await self.until(lambda: self.done(request_id) is not None)
        done = self.done(request_id)
        assert done is not None
        return done

    @property
    def ghost(self) -> str:
        """All text delivered, in order; a frame delivered twice would show."""
        return "".join(e.delta for e in self.events if isinstance(e, TextDelta))
