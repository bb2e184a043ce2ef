"""Sees from outside what comes of each key: when it was received, when its paint and its first ghost glyph were done.

    key event ──▶ own paint
        └─ suggest ──▶ started, first delta (who says it) ──▶ first paint with a ghost in it

Times are milliseconds from the key event to the end of the paint. What the screen shows anew of an older suggestion,
because the key was the next of its letters, is no answer to a request and does not count.
"""

import time
from collections import defaultdict
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent

from offhook_app.editor.view import CodeView
from offhook_app.transport.line import Line
from offhook_wire.messages import (
    ClientEvent,
    ServerEvent,
    Source,
    Suggest,
    SuggestionDone,
    SuggestionStarted,
    TextDelta,
)


@dataclass(slots=True)
class Request:
    key_at: float | None
    source: Source | None = None
    sources_left: set[str] = field(default_factory=lambda: {"copy", "small"})
    painted: bool = False


@dataclass(slots=True)
class Seen:
    """Of one part of a run."""

    ghost_ms: defaultdict[Source, list[float]] = field(default_factory=lambda: defaultdict(list))
    paint_ms: list[float] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)  # see Person
    requests: list[Request] = field(default_factory=list)
    keys: int = 0

    @property
    def ended(self) -> list[Request]:
        return [request for request in self.requests if request.painted or not request.sources_left]

    @property
    def wasted(self) -> int:
        return sum(not request.painted for request in self.ended)


class WatchedLine(Line):
    """The app's own line, and who looks on."""

    watch: "Watch | None" = None

    def send(self, message: ClientEvent) -> None:
        if self.watch and isinstance(message, Suggest):
            self.watch.asked(message.request_id)
        super().send(message)


class Watch(QObject):
    """Of one view. `seen` may be changed for another at any time."""

    def __init__(self, view: CodeView, line: WatchedLine) -> None:
        super().__init__(view)
        self.view = view
        self.seen = Seen()
        self._key_at: float | None = None
        self._unpainted = False
        self._requests: dict[str, Request] = {}
        self._items: dict[str, tuple[Request, Source]] = {}
        self._newest: Request | None = None
        view.installEventFilter(self)
        view.key_painted.connect(self._key_painted)
        view.ghost_painted.connect(self._ghost_painted)
        line.received.connect(self._received)
        line.watch = self

    @property
    def answered(self) -> bool:
        """Whether the newest request has come to something: a glyph on the screen, or its last word."""
        newest = self._newest
        return newest is None or newest.painted or not newest.sources_left

    def asked(self, request_id: str) -> None:
        by_key = self.view.key_at is not None  # else the caret rested here
        request = self._requests[request_id] = self._newest = Request(self._key_at if by_key else None)
        self.seen.requests.append(request)

    def _received(self, event: ServerEvent) -> None:
        match event:
            case SuggestionStarted(request_id=request_id, item_id=item_id, source=source):
                if request := self._requests.get(request_id):
                    self._items[item_id] = request, source
            case TextDelta(item_id=item_id) if item_id in self._items:
                request, source = self._items[item_id]
                request.source = request.source or source
            case SuggestionDone(request_id=request_id, source=source):
                if request := self._requests.get(request_id):
                    request.sources_left.discard(source)
            case _:
                pass

    def _key_painted(self, _began: float, ended: float) -> None:
        if self._key_at is not None and self._unpainted:
            self._unpainted = False
            self.seen.paint_ms.append((ended - self._key_at) * 1e3)

    def _ghost_painted(self, _began: float, ended: float) -> None:
        request = self._newest
        if request is None or request.painted or request.source is None:
            return
        request.painted = True
        if request.key_at is not None:
            self.seen.ghost_ms[request.source].append((ended - request.key_at) * 1e3)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress and event.text():
            self._key_at = time.monotonic()
            self._unpainted = True
            self.seen.keys += 1
        return False
