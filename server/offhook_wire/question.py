"""One typed question that travels as an HTTP request: its answer, told as if it had come on its lane. Sends nothing.

    idle ──ask──▶ asked ── created, words ──▶ asked ── its end, or refused ──▶ idle
                    └── stopped: closing the request is the cancel, so the end is said here ──▶ idle

Over HTTP an event names no lane, and a refusal is a body with a status; a reader of the line need not know.
"""

from msgspec import structs

from offhook_wire import codec
from offhook_wire.messages import ErrorEvent, ServerEvent, TextDelta
from offhook_wire.responses import (
    ResponseCompleted,
    ResponseCreate,
    ResponseCreated,
    ResponseError,
    ResponseFailed,
    ResponseIncomplete,
    ResponseState,
)

BROKE_OFF = ResponseError("line_lost", "The line was lost. What had come is kept.")
_End = ResponseCompleted | ResponseIncomplete | ResponseFailed | ErrorEvent


class Question:
    def __init__(self) -> None:
        self._lane: str | None = None

    @property
    def asked(self) -> bool:
        return self._lane is not None

    def ask(self, create: ResponseCreate) -> None:
        self._lane = create.stream_id

    def forget(self) -> None:
        self._lane = None

    def hear(self, frame: bytes) -> ServerEvent | None:
        """One event of the answer; None for what says nothing. Raises codec.BadFrame."""
        event = codec.decode_server(frame)
        if self._lane is None or not isinstance(event, TextDelta | ResponseCreated | _End):
            return None
        lane = self._lane
        if isinstance(event, _End):
            self._lane = None
        return structs.replace(event, stream_id=lane)

    def refused(self, status: int, body: bytes) -> ServerEvent | None:
        """Raises codec.BadFrame."""
        return self.hear(codec.encode({**codec.decode_object(body), "type": "error", "status": status}))

    def stopped(self) -> ServerEvent:
        lane, self._lane = self._lane, None
        return ResponseIncomplete(ResponseState("", "cancelled"), stream_id=lane)

    def broke_off(self) -> ServerEvent:
        lane, self._lane = self._lane, None
        return ResponseFailed(ResponseState("", "failed", BROKE_OFF), stream_id=lane)
